"""Hashed RAPPOR, O-RAPPOR: a value's Bloom filter in a random cohort, with every bit flipped alike.

Reference: Erlingsson, Pihur, Korolova 2014 (one-time RAPPOR); Kairouz, Bonawitz, Ramage 2016, sections 5.2 and 5.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable.core.validate import whole
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters

MAX_HASHES = 32


@dataclass(frozen=True)
class BloomResponse(FlippedFilters):
    """Hashed RAPPOR, "orappor".

    Guarantee: largest ratio ((M - t)/t)^D <= e^epsilon, with M = 2^32, t the threshold of a flip, and D the most
    bits in which two filters differ, at most twice the `hashes` per cohort.
    Cost: 1 + 32 ceil(buckets/64) random words and log2(cohorts) + buckets bits per report.

    >>> from deniable import Domain
    >>> m = BloomResponse(Domain.open(), epsilon=2.0, cohorts=64, buckets=128, hashes=2)
    >>> m.report_bits
    134
    """

    name: ClassVar[str] = "orappor"

    hashes: int = 1

    def _settled(self) -> Mapping[str, Any]:
        hashes = whole(1, MAX_HASHES, hashes=self.hashes)
        return {**super()._settled(), "hashes": hashes}

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "hashes": self.hashes}
