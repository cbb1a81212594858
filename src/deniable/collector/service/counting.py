"""Counting waiting reports onto the summary of their cell, and deciding what of it is published."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from deniable.collector.service.questions import Asked
from deniable.collector.store.records import Cell, Counted, Waiting
from deniable.core.errors import FingerprintMismatch
from deniable.grouping.table import AnySummary, summary_of
from deniable.wire.frames import ID_BYTES


def counted(minimum: int, summary: bytes | None, published: bytes | None, more: AnySummary) -> Counted:
    """Add to a summary; publish the sum once it has at least `minimum` more reports than what is published."""
    whole: Any = more if summary is None else summary_of(summary) + more
    told = 0 if published is None else summary_of(published).n
    return Counted(whole.to_bytes(), whole.n, whole.n - told >= minimum)


class Counter:
    """How a store counts the reports of one spec: it is given to `Store.fold`."""

    def __init__(self, asked: Asked, minimum: int) -> None:
        self.asked, self.minimum = asked, minimum

    def __call__(
        self, cell: Cell, summary: bytes | None, published: bytes | None, waiting: Sequence[Waiting]
    ) -> Counted:
        if cell.fingerprint != self.asked.fingerprint:
            raise FingerprintMismatch("a cell", self.asked.fingerprint, cell.fingerprint)
        return counted(self.minimum, summary, published, self.summary(waiting))

    def summary(self, waiting: Sequence[Waiting]) -> AnySummary:
        """The summary of these reports, which were checked when they were taken, and are again."""
        question = self.asked.question
        counts: Any = question.accumulator()
        for has_ids, rows in groupby(waiting, lambda row: bool(row.ids)):
            chosen = list(rows)
            ids = [row.ids[at : at + ID_BYTES] for row in chosen for at in range(0, len(row.ids), ID_BYTES)]
            counts.add(self.asked.payloads(has_ids).read(b"".join([row.payloads for row in chosen]), ids))
        return counts.summary()  # type: ignore[no-any-return]


class Adder:
    """How a store adds summaries from elsewhere: it is given to `Store.add_summaries`."""

    def __init__(self, asked: Asked, minimum: int) -> None:
        self.asked, self.minimum = asked, minimum

    def __call__(self, _cell: Cell, summary: bytes | None, published: bytes | None, added: bytes) -> Counted:
        return counted(self.minimum, summary, published, checked_summary(self.asked, summary_of(added)))


def checked_summary(asked: Asked, summary: AnySummary) -> AnySummary:
    """A summary that reports of this spec can have, or refuse it."""
    counts: Any = asked.question.accumulator()
    counts.merge(summary)
    return summary
