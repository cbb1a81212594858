"""Count mean sketch: the bit of a value's bucket under a random one of many hash functions, every bit flipped alike.

Reference: Apple Differential Privacy Team 2017, "Learning with privacy at scale" (CMS).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable.mechanisms.flipped_filters import FlippedFilters
from deniable.mechanisms.sketches import Sketch


@dataclass(frozen=True)
class CountMeanSketch(FlippedFilters, Sketch):
    """Count mean sketch, "cms": `cohorts` hash functions (k' in the paper) of `buckets` (m) each.

    Guarantee: largest ratio ((M - t)/t)^2 <= e^epsilon, with M = 2^32 and t the threshold of a flip.
    Cost: 1 + 32 ceil(buckets/64) random words and log2(cohorts) + buckets bits a report.

    >>> from deniable import Domain
    >>> CountMeanSketch(Domain.open(), epsilon=4.0, cohorts=2**16, buckets=1024, candidates=10_000).report_bits
    1040
    """

    name: ClassVar[str] = "cms"
