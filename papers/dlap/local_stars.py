"""LocalLapKStars: k-star counts from noisy star counts of the nodes, the alternative to debiased degrees.

Reference: Imola, Murakami, Chaudhuri 2021, "Locally differentially private analysis of graph statistics", Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.core.validate import positive, whole
from deniable.counts.answer import Answer
from deniable.counts.whole import whole_counts
from deniable.randomness.simulated import generator


@dataclass(frozen=True)
class LocalLapKStars:
    """Every node truncates its degree to `max_degree`, counts its k-stars, and adds Laplace noise of scale D/epsilon.

    One edge changes a node's count by at most D = C(max_degree, k - 1). For comparison in simulations only: its noise
    uses floats and protects nobody.
    """

    epsilon: float
    k: int
    max_degree: int

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        whole(1, k=self.k)
        whole(self.k, max_degree=self.max_degree)

    @property
    def sensitivity(self) -> int:
        """D = C(max_degree, k - 1)."""
        return math.comb(self.max_degree, self.k - 1)

    def estimate(self, degrees: Any, *, seed: int) -> Answer:
        """Estimate the number of k-stars, with its standard error; biased if a degree was truncated."""
        true = whole_counts(degrees, "degrees").reshape(-1)
        if true.size == 0 or int(true.min()) < 0:
            raise InvalidArgument("degrees", "be one or more whole numbers, at least 0", degrees)
        kept = np.minimum(true, self.max_degree)
        stars = math.fsum(math.comb(int(degree), self.k) for degree in kept)
        scale = self.sensitivity / self.epsilon
        value = stars + float(generator(seed).laplace(0.0, scale, true.size).sum())
        cut = int((true > self.max_degree).sum())
        return Answer(
            question=f"{self.k}-stars",
            value=value,
            std_error=math.sqrt(2 * true.size) * scale,
            naive=value,
            method="LocalLapKStars",
            unbiased=cut == 0,
            n=true.size,
            simulated=True,
            notes=(f"{cut:,} degrees were cut: their stars are missing",) if cut else (),
        )
