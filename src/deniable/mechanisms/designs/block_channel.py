"""The error of a design repeated in blocks: what a report adds to an estimate, and how much that varies.

All numbers may be fractions, for the integers that run, or floats, to compare designs before one is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.core.caches import FieldsOnly
from deniable.estimation.operators.block_noise import same_block_share


@dataclass(frozen=True)
class BlockChannel(FieldsOnly):
    """Blocks of `block_size` reports; `set_size` of a value's block support it, `overlap` of them another as well.

    A report has the probability `high` under a value that it supports, and `low` under any other.
    """

    set_size: int
    overlap: int
    block_size: int
    high: Any
    low: Any

    @cached_property
    def weights(self) -> tuple[Any, Any, Any]:
        """What a report adds to the estimate of x: alpha if it supports x, beta if it lies in x's block, gamma always.

        The expected sum is 1 from a user who has x, and 0 from users of other values in its block or elsewhere.
        """
        w, l, high, low = self.set_size, self.overlap, self.high, self.low  # noqa: E741
        alpha = 1 / ((w - l) * (high - low))
        beta = -alpha * l / w
        return alpha, beta, -(alpha * w + beta * self.block_size) * low

    @cached_property
    def variances(self) -> tuple[Any, Any, Any]:
        """Variance that a user adds to the estimates of their own value, of others in its block, and of all others."""
        w, b, high, low = self.set_size, self.block_size, self.high, self.low
        both = self.overlap * high + (w - self.overlap) * low
        block = w * high + (b - w) * low
        own = self._second_moment(w * high, block) - 1
        return own, self._second_moment(both, block), self._second_moment(w * low, b * low)

    def average(self, values: int, blocks: int) -> tuple[float, float]:
        """Variance that a user adds for their own value, and for another one on average over all pairs of values."""
        own, near, far = self.variances
        share = same_block_share(values, blocks)
        return float(own), float(share * near + (1 - share) * far)

    def _second_moment(self, supports: Any, block: Any) -> Any:
        """Second moment of what a report adds, by the chances that it supports the value and lies in its block."""
        alpha, beta, gamma = self.weights
        within = (block - supports) * (beta + gamma) ** 2
        return supports * (alpha + beta + gamma) ** 2 + within + (1 - block) * gamma**2
