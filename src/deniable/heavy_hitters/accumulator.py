"""A running count of heavy-hitter reports: one accumulator per level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.core.errors import FingerprintMismatch, InvalidArgument, MalformedReport, MalformedSummary, kind_of
from deniable.heavy_hitters.collected import HitterReports, HitterSummary

if TYPE_CHECKING:
    from deniable.heavy_hitters.protocol import HeavyHitters


class HitterAccumulator:
    """Counts that grow in place: adding a batch costs no more than the batch, however many cells there are."""

    def __init__(self, protocol: HeavyHitters) -> None:
        self.protocol = protocol
        self._levels = [level.accumulator() for level in protocol.levels]

    def add(self, reports: HitterReports) -> None:
        """Add a batch of reports; nothing is added if one of them is refused."""
        if not isinstance(reports, HitterReports):
            raise MalformedReport(f"reports must be HitterReports, got {kind_of(reports)}")
        parts = list(self.protocol.by_level(reports))
        for level, part in zip(self.protocol.levels, parts, strict=True):
            level.checked(part)  # all levels, before any is counted
        for running, part in zip(self._levels, parts, strict=True):
            running.add(part)

    def merge(self, summary: HitterSummary) -> None:
        """Add a summary of the same spec; nothing is added if it is refused."""
        if not isinstance(summary, HitterSummary):
            raise InvalidArgument("summary", "be a HitterSummary", kind_of(summary))
        if summary.fingerprint != self.protocol.fingerprint:
            raise FingerprintMismatch("a summary", self.protocol.fingerprint, summary.fingerprint)
        if len(summary.levels) != len(self._levels):
            raise MalformedSummary(f"summary must have {len(self._levels)} levels, got {len(summary.levels)}")
        for level, part in zip(self.protocol.levels, summary.levels, strict=True):
            level.same_spec("a level of a summary", part.fingerprint)
            level.layout.check_counts(part)
        self.summary() + summary  # raises if a sum is too large, before anything is added
        for running, part in zip(self._levels, summary.levels, strict=True):
            running.merge(part)

    def summary(self) -> HitterSummary:
        """Return a frozen copy of the counts so far."""
        return HitterSummary(tuple(running.summary() for running in self._levels), self.protocol.fingerprint)
