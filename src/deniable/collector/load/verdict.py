"""The verdict on a run: sent, acknowledged, counted, refused; and whether the collector's own counters agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.collector.load.tally import Difference, Tally

STORED, REQUESTS, ACCEPTED = "deniable_reports_stored_total", "deniable_requests_total", "ok"
Metrics = Mapping[tuple[str, str], float]  # by name, and by labels as they are written


@dataclass(frozen=True)
class Verdict:
    """What a run has shown. It is good if every acknowledged report was counted once, and nothing else was."""

    tally: Tally
    counted: int  # reports, by the collection's status
    waiting: int  # stored and not counted yet
    difference: Difference
    complaints: tuple[str, ...]  # counters of the collector that say something else

    @property
    def good(self) -> bool:
        """Whether nothing was lost, counted twice, taken or refused wrongly, or reported otherwise."""
        found = self.difference
        return not (found.lost or found.twice or found.cells or self.tally.surprises or self.complaints)

    @property
    def sentences(self) -> list[str]:
        """What is to be said, one line each."""
        found, tally = self.difference, self.tally
        lines = [f"{found.lost:,} acknowledged reports lost, {found.twice:,} reports counted twice"]
        if found.cells:
            lines.append(f"{found.cells:,} counts differ from those of the reports that were acknowledged")
        if tally.unknown:
            lines.append(f"{tally.unknown:,} reports were never answered: they may be counted or not")
        lines += [f"{count:,} wrong answers: {what}" for what, count in sorted(tally.surprises.items())]
        return [*lines, *self.complaints]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        found = self.difference
        return {
            "good": self.good,
            **self.tally.to_dict(),
            "counted": self.counted,
            "waiting": self.waiting,
            "lost": found.lost,
            "counted_twice": found.twice,
            "counts_that_differ": found.cells,
            "complaints": list(self.complaints),
        }


def complaints(tally: Tally, status: dict[str, Any], before: Metrics, after: Metrics) -> list[str]:
    """What the collector says of the run that is not so, by the collection's status and by its counters.

    A collector counts other people's requests, too, so only too few are a fault. Where connections were lost, answers
    were too, and a collector that was started again counts from zero: then only the status is compared.
    """
    found = []
    low, high = tally.acknowledged, tally.sent
    if not low <= status["counted"] <= high:
        expected = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        found.append(f"the collection says {status['counted']:,} reports are counted, expected {expected}")
    if status["waiting"]:
        found.append(f"{status['waiting']:,} reports still wait to be counted")
    if tally.unanswered:
        return found
    grown = {key: value - before.get(key, 0.0) for key, value in after.items()}
    stored = sum(value for (name, _), value in grown.items() if name == STORED)
    if stored < low:
        found.append(f"{STORED} grew by {stored:,.0f}, expected {low:,}")
    wanted = Counter({ACCEPTED: tally.acknowledged_requests}) + tally.refusals + tally.waits
    for outcome, number in sorted(wanted.items()):
        said = sum(value for (name, labels), value in grown.items() if name == REQUESTS and _outcome(labels) == outcome)
        if said < number:
            found.append(f"{REQUESTS} of outcome {outcome} grew by {said:,.0f}, expected {number:,}")
    return found


def _outcome(labels: str) -> str:
    return labels.rpartition('outcome="')[2].rstrip('"')
