"""Reports of five mechanisms and of heavy hitters, with a day for each, as the tests of all engines count them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import deniable as dn
from deniable.engines import arrow

MECHANISMS = ["grr", "oue", "csr", "clh", "orr"]
NAMES = [*MECHANISMS, "heavy hitters"]
ROWS, DAYS = 6_000, 3


@dataclass(frozen=True)
class Sample:
    """Reports beside their days, as an Arrow table, and what counting them must give."""

    counted: Any
    reports: Any
    table: Any

    @property
    def total(self) -> bytes:
        """The bytes that the plain API gives."""
        return bytes(self.counted.summarize(self.reports).to_bytes())

    @property
    def days(self) -> dn.SummaryTable:
        """One summary for each day, by the plain API."""
        days = np.asarray(self.table["day"])
        parts = {(day,): self.counted.summarize(self._of(days == day)) for day in range(DAYS)}
        return dn.SummaryTable(("day",), parts, self.counted.fingerprint)

    def _of(self, chosen: Any) -> Any:
        if isinstance(self.reports, dn.Reports):
            return dn.Reports(self.reports.data[chosen], self.reports.fingerprint, self.reports.simulated)
        inner = self.reports.reports
        part = dn.Reports(inner.data[chosen], inner.fingerprint, inner.simulated)
        return dn.HitterReports(self.reports.levels[chosen], part)


def counted_of(name: str) -> Any:
    if name == "heavy hitters":
        return dn.HeavyHitters.new(epsilon=4.0, max_bytes=4, alphabet="abcdefgh")
    return dn.mechanism(name, k=70, epsilon=1.5)


@cache
def sample(name: str) -> Sample:
    counted = counted_of(name)
    values = np.random.default_rng(5).integers(0, 70, ROWS)
    texts = ["".join("abcdefgh"[digit] for digit in divmod(int(value) % 64, 8)) for value in values]
    reports = counted.privatize(texts if name == "heavy hitters" else values, seed=5)
    table = arrow.keyed(reports, {"day": np.arange(ROWS) % 7 % DAYS})
    return Sample(counted, reports, table)
