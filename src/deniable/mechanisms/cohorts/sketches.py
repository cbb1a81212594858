"""Sketches as published by Apple: cohorts of plain hash functions, and an estimate for each value by itself.

Reference: Apple Differential Privacy Team 2017, "Learning with privacy at scale" (CMS).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from deniable.core.summary import Summary
from deniable.mechanisms.base.definition import Answer
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters


@dataclass(frozen=True)
class Sketch(CohortMechanism):
    """Values are hashed in closed domains, too: as many as there may be, all functions alike.

    "unbiased" is least squares, which is. "sketch" is the published estimate: unbiased over the choice of the hash
    functions only, so that for those that were chosen a value is confused with those that share its buckets.
    """

    permutes: ClassVar[bool] = False

    def _methods(self) -> Mapping[str, Callable[[Summary], Answer]]:
        return {"sketch": self._sketch}

    def _sketch(self, summary: Summary) -> Answer:
        # (m/(m - 1)) (sum over cohorts of the share in the value's bucket - 1/m)
        shares, _ = self.shares(summary)
        own = replace(self.whole_design, centre=0.0).gather(shares)
        return Answer((own - 1 / self.buckets) * (self.buckets / (self.buckets - 1)))


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
