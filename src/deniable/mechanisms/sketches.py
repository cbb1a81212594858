"""Sketches as published by Apple: cohorts of plain hash functions, and an estimate for each value by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from deniable.mechanisms.cohorts import CohortMechanism
from deniable.mechanisms.definition import Answer
from deniable.summary import Summary


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
