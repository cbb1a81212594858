"""What a run knows of its own requests, as they are answered."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.collector.load.traffic import Place, Unit
from deniable.core.arrays import Counts
from deniable.core.summary import Summary
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.wire.frames import ID_BYTES
from deniable.wire.payloads import Payloads


@dataclass
class Tally:
    """Counters of requests and reports. A request may be sent several times: replayed, or again after no answer."""

    requests: int = 0  # answered
    acknowledged_requests: int = 0
    unanswered: int = 0  # sent, but the connection broke
    sent: int = 0  # reports, each once however often it was sent
    acknowledged: int = 0  # reports
    again: int = 0  # requests that were acknowledged once more
    waits: Counter[str] = field(default_factory=Counter)  # refusals after which the same bytes were sent again
    refusals: Counter[str] = field(default_factory=Counter)  # requests refused for good, by reason
    surprises: Counter[str] = field(default_factory=Counter)  # answers that were not the right one
    latencies: array[float] = field(default_factory=lambda: array("d"))
    seconds: float = 0.0

    @property
    def unknown(self) -> int:
        """Reports that were sent and never answered: they may be counted or not."""
        return self.sent - self.acknowledged

    def milliseconds(self, share: float) -> float:
        """This quantile of the time to an answer."""
        return 1e3 * float(np.quantile(self.latencies, share)) if self.latencies else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "seconds": round(self.seconds, 3),
            "requests": self.requests,
            "sent": self.sent,
            "acknowledged": self.acknowledged,
            "unknown": self.unknown,
            "acknowledged_again": self.again,
            "refused": dict(sorted(self.refusals.items())),
            "waited": dict(sorted(self.waits.items())),
            "connections_lost": self.unanswered,
            "wrong_answers": dict(sorted(self.surprises.items())),
            "median_ms": round(self.milliseconds(0.5), 3),
            "p99_ms": round(self.milliseconds(0.99), 3),
        }


@dataclass(eq=False)
class Expected:
    """What a collector must have counted: of each place the acknowledged reports, and those whose answer is unknown."""

    mechanism: Mechanism
    with_ids: bool
    sure: dict[Place, Summary] = field(default_factory=dict)
    maybe: dict[Place, Summary] = field(default_factory=dict)

    def add(self, units: list[Unit]) -> None:
        """Add the good units of a chunk, all of them settled."""
        for counted, wanted in ((self.sure, True), (self.maybe, False)):
            chosen: dict[Place, list[Unit]] = {}
            for unit in units:
                if unit.reason is None and unit.sent and not unit.refused and unit.acknowledged is wanted:
                    chosen.setdefault(unit.place, []).append(unit)
            for place, own in chosen.items():
                found = self._summary(own)
                counted[place] = counted[place] + found if place in counted else found

    def _summary(self, units: list[Unit]) -> Summary:
        ids = b"".join(unit.ids for unit in units)
        each = [ids[start : start + ID_BYTES] for start in range(0, len(ids), ID_BYTES)]
        reports = Payloads(self.mechanism, self.with_ids).read(b"".join(unit.payloads for unit in units), each)
        return self.mechanism.summarize(reports)


@dataclass(frozen=True)
class Difference:
    """How the counts of a collector differ from what they must be, in reports and in counts of single cells."""

    lost: int
    twice: int
    cells: int  # counts outside of what is possible

    @staticmethod
    def of(expected: Expected, found: dict[Place, Summary]) -> Difference:
        """Compare place by place and count by count: a loss here is not made up for by a second count there."""
        lost = twice = cells = 0
        for place in expected.sure.keys() | expected.maybe.keys() | found.keys():
            sure, low = _counts(expected.sure.get(place))
            maybe, more = _counts(expected.maybe.get(place))
            n, counts = _counts(found.get(place))
            lost += max(0, sure - n)
            twice += max(0, n - sure - maybe)
            cells += int(np.count_nonzero((counts < low) | (counts > low + more)))
        return Difference(lost, twice, cells)


def _counts(summary: Summary | None) -> tuple[int, Counts]:
    return (0, np.zeros(1, np.int64)) if summary is None else (summary.n, summary.counts)
