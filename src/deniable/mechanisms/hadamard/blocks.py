"""Parts shared by Hadamard mechanisms: values dealt to blocks, a sign in the block, an estimate and its exact error.

A report lies in one of B blocks and agrees or disagrees with each of the block's values, with probabilities that
depend only on whether the user has the value itself, another value of its block, or a value of another block.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.channel import Noise, PureChannel, for_target
from deniable.estimation.evidence import Evidence
from deniable.estimation.operators.block_noise import BlockNoise, same_block_share
from deniable.estimation.operators.two_level import TwoLevelOperator
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS
from deniable.randomness.keystream import MODULUS

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Agreement:
    """Probabilities that a report agrees and disagrees with a value, by its sender: a user who has the value, another
    value of its block, or a value of another block."""

    own: Pair
    near: Pair
    far: Pair
    blocks: int

    @property
    def weights(self) -> tuple[Fraction, Fraction, Fraction]:
        """What a report adds to the estimate: +-alpha if it agrees or not, beta if in the block, gamma always.

        The expected sum is 1, 0 and 0 for the three kinds of senders.
        """
        tilt, far_tilt = self.near[0] - self.near[1], self.far[0] - self.far[1]
        alpha = 1 / (self.own[0] - self.own[1] - tilt)
        if self.blocks == 1:
            return alpha, -alpha * tilt, Fraction(0)
        beta = -alpha * (tilt - far_tilt) / (sum(self.near) - sum(self.far))
        return alpha, beta, -alpha * far_tilt - beta * sum(self.far)

    @property
    def variances(self) -> tuple[Fraction, Fraction, Fraction]:
        """Variance that a user adds to the estimates of their own value, of others in its block, and of all others."""
        alpha, beta, gamma = self.weights
        levels = alpha + beta + gamma, beta + gamma - alpha

        def moment(pair: Pair) -> Fraction:
            within = sum(chance * level**2 for chance, level in zip(pair, levels, strict=True))
            return within + (1 - sum(pair)) * gamma**2

        return moment(self.own) - 1, moment(self.near), moment(self.far)

    def average(self, values: int) -> tuple[Fraction, Fraction]:
        """Variance that a user adds for their own value, and for another one on average over all pairs of values."""
        own, near, far = self.variances
        share = same_block_share(values, self.blocks)
        return own, share * near + (1 - share) * far


def least_variance(agreement: Callable[[int], Agreement], most: int, values: int) -> int:
    """The number of blocks, a power of two up to `most`, with the least error of a rare value; the fewest such."""
    candidates = [1 << bits for bits in range(most.bit_length())]
    return min(candidates, key=lambda blocks: agreement(blocks).average(values)[1])


@dataclass(frozen=True)
class HadamardMechanism(Mechanism):
    """Base of `hr` and `rhr`. With one block every pair of values is alike, and the channel is pure."""

    @property
    @abstractmethod
    def agreement(self) -> Agreement:
        """The probabilities of agreement, by the sender of a report."""

    @abstractmethod
    def signed_counts(self, summary: Summary) -> Counts:
        """For each value, the reports of its block that agree with it minus those that disagree."""

    @abstractmethod
    def block_counts(self, summary: Summary) -> Counts:
        """For each value, the number of reports in its block."""

    @abstractmethod
    def _of_cells(self, blocks: Floats) -> Floats:
        """For each cell of a summary, the number of its block."""

    @property
    def _truth(self) -> Fraction:
        """The probability that the coin is true."""
        return Fraction(self.thresholds["truth"], MODULUS)

    def check_size(self, symbols: int) -> None:
        """Refuse a domain with too many different reports."""
        if symbols > MAX_SYMBOLS:
            raise InvalidArgument("k", f"leave {self.name} at most {MAX_SYMBOLS} different reports", self.k)

    @cached_property
    def channel(self) -> PureChannel | None:
        agreement = self.agreement
        return PureChannel(agreement.own[0], agreement.near[0]) if agreement.blocks == 1 else None

    def support_counts(self, summary: Summary) -> Counts:
        """For each value, the number of reports that agree with it, where all reports lie in one block."""
        # (n + signed)/2 without adding up two large counts; both are even or both odd
        return (self.signed_counts(summary) >> 1) + ((summary.n + 1) >> 1)

    def unbiased(self, summary: Summary) -> Floats:
        if self.channel is not None:
            return super().unbiased(summary)
        alpha, beta, gamma = map(float, self.agreement.weights)
        sums = alpha * self.signed_counts(summary) + (beta * self.block_counts(summary) if beta else 0.0)
        return np.asarray(sums / summary.n + gamma)

    def scores(self, weights: Floats) -> Floats:
        if self.channel is not None or not isinstance(self._operator, TwoLevelOperator):
            return super().scores(weights)
        alpha, beta, gamma = map(float, self.agreement.weights)
        agree = self._operator.incidence.scatter(weights).reshape(-1)
        blocks = self.agreement.blocks
        near = self._of_cells(np.bincount(np.arange(self.k) % blocks, weights, blocks).astype(np.float64))
        return np.asarray(alpha * (2 * agree - near) + beta * near + gamma * weights.sum())

    @property
    def influence(self) -> tuple[float, float] | None:
        if self.channel is not None:
            return super().influence
        return min(self._block_noise.adds), max(self._block_noise.adds)

    def noise(self, target: str) -> tuple[float, float, float]:
        if self.channel is not None:
            return super().noise(target)
        own, others = self.agreement.average(self.k)
        return for_target(float(others), float(own - others), target)

    def noise_of(self, evidence: Evidence, target: str) -> Noise:
        """Coefficients by the estimated share of users in a value's block, who add more variance than others do."""
        if self.channel is not None:
            return super().noise_of(evidence, target)
        near, far = float(sum(self.agreement.near)), float(sum(self.agreement.far))
        shares = (self.block_counts(evidence.summary) / evidence.n - far) / (near - far)
        return self._block_noise.given(shares, target)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        del evidence
        return self._block_noise.steps(target)

    @cached_property
    def _block_noise(self) -> BlockNoise:
        own, near, far = map(float, self.agreement.variances)
        alpha, beta, gamma = map(float, self.agreement.weights)
        return BlockNoise((own, near, far), (alpha + beta + gamma, beta + gamma - alpha, gamma))
