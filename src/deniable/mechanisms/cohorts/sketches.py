"""Count mean sketch: Bloom filters of one bit in cohorts of plain hash functions, as published by Apple.

Reference: Apple Differential Privacy Team 2017, "Learning with privacy at scale" (CMS).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters


@dataclass(frozen=True)
class CountMeanSketch(FlippedFilters):
    """Count mean sketch, "cms": `cohorts` hash functions (k' in the paper) to `buckets` buckets (m) each.

    Values are hashed in closed domains too. "unbiased" is least squares; "sketch" is the published estimate.
    Guarantee: largest ratio ((M - t)/t)^2 <= e^epsilon, with M = 2^32 and t the threshold of a flip.
    Cost: 1 + 32 ceil(buckets/64) random words and log2(cohorts) + buckets bits per report.

    >>> from deniable import Domain
    >>> CountMeanSketch(Domain.open(), epsilon=4.0, cohorts=2**16, buckets=1024, candidates=10_000).report_bits
    1040
    """

    name: ClassVar[str] = "cms"
    permutes: ClassVar[bool] = False
