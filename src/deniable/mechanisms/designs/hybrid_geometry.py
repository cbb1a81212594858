"""Hybrid Projective Geometry Response: many small geometries side by side, so that the server's transforms are short.

The values are dealt in turn to h blocks: x is number v = x div h of block B = x mod h. Each block is numbered by the
b points of one small geometry over q elements (singer.py). A report (B', y), sent as the number B' b + y, supports x
if B' = B and y lies on the hyperplane of v. The error is about q/(q - 1) times that of one geometry with h q elements.

Blocks of consecutive values, as in the authors' code, would leave some empty where b h is far above k, and put the
first values, often the most frequent, in one block; both increase the error.

Reference: Feldman, Nelson, Nguyen, Talwar 2022, "Private frequency estimation via projective geometry".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Floats, Indices, Payloads, Symbols, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.core.summary import Summary
from deniable.estimation.channel import Noise, TwoLevel, choice_threshold, for_target
from deniable.estimation.evidence import Evidence
from deniable.estimation.operators.block_noise import BlockNoise
from deniable.estimation.operators.blocks import ShiftBlocks
from deniable.estimation.operators.two_level import TwoLevelOperator, two_level_operator
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import CHOSEN, float_bound
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.designs import singer
from deniable.mechanisms.designs.block_channel import BlockChannel
from deniable.mechanisms.designs.geometries import hybrid
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.mechanisms.loss import least_variance
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices

MAX_COST = 1.0  # excess error beyond which the constructor refuses: over twice the error of the best design
_WEAK = 1.001  # ratios below are always refused: floats are too coarse to compute the cost


@dataclass(frozen=True)
class HybridProjectiveGeometryResponse(Mechanism):
    """Hybrid Projective Geometry Response, "hpgr".

    h blocks of b = (q^t - 1)/(q - 1) numbers. By default q = 5; h = ceil((e + 1)/q), no more than blocks of q + 1
    numbers need but at least 2; t is the smallest with b h >= k. The spec also names the polynomial (see singer.py).
    Guarantee: largest ratio T (b h - w) / ((M - T) w) <= e^epsilon, w = (q^(t-1) - 1)/(q - 1), for any q and h.

    >>> m = HybridProjectiveGeometryResponse(8192, epsilon=4.0)
    >>> m.q, m.t, m.h, m.report_bits
    (5, 5, 12, 14)
    """

    name: ClassVar[str] = "hpgr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "gls"

    q: int = CHOSEN
    t: int = CHOSEN
    h: int = CHOSEN
    polynomial: Sequence[int] = CHOSEN

    def __post_init__(self) -> None:
        asked = any(given is not None for given in (self.q, self.t, self.h))
        super().__post_init__()
        if not asked:  # by the integers that run: words are too coarse for the largest epsilons
            refuse_costly(self.k, self.epsilon, float(self.ratio()), self.variance(0.0))

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del domain
        return singer.cost(parameters, size(parameters, "h"))

    def _settled(self) -> Mapping[str, Any]:
        q, t, h = hybrid(self.q, self.t, self.h, self.k, float_bound(self.epsilon))
        return {"q": q, "t": t, "h": h, "polynomial": singer.checked_polynomial(q, t, self.polynomial)}

    def _parameters(self) -> dict[str, Any]:
        return {"q": self.q, "t": self.t, "h": self.h, "polynomial": list(self.polynomial)}

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        inside, outside = self._bounds
        truth = choice_threshold(bound, modulus, inside, self.symbols)
        self.require_coin(truth * self.symbols > modulus * inside)
        rejections = (rejection_bound(b, modulus) for b in (inside, outside))
        return dict(zip(("truth", "rejection_inside", "rejection_outside"), (truth, *rejections), strict=True))

    @cached_property
    def two_level(self) -> TwoLevel:
        return TwoLevel.by_choice(self.thresholds["truth"], *self._bounds)

    @property
    def block_size(self) -> int:
        """b: the numbers per block."""
        return singer.points(self.q, self.t)

    @property
    def set_size(self) -> int:
        """w: the number of reports that support a value, all in its own block."""
        return singer.points(self.q, self.t - 1)

    @property
    def overlap(self) -> int:
        """The number of reports that support two given values of one block."""
        return singer.points(self.q, self.t - 2)

    @property
    def _bounds(self) -> tuple[int, int]:
        return self.set_size, self.symbols - self.set_size

    @property
    def stride(self) -> int:
        return 3  # the coin, a place inside and a place outside the set

    @property
    def symbols(self) -> int:
        """Number of different reports."""
        return self.block_size * self.h

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.symbols)

    @cached_property
    def elements(self) -> Symbols:
        """The numbers of a block, the difference set first."""
        return singer.elements(self.q, self.t)

    def randomize_one(self, index: int, choices: Choices) -> int:
        t, (inside, outside) = self.thresholds, self._bounds
        truthful = choices.coin(t["truth"])
        place_inside = choices.below(inside, t["rejection_inside"])
        place_outside = inside + choices.below(outside, t["rejection_outside"])
        # place p moves the block by p div b and the number by element p mod b, so that each report has one place
        # in integers of 64 bits: the time of Python's depends on how large they are
        size, h = np.uint64(self.block_size), np.uint64(self.h)
        blocks_on, place = np.divmod(np.uint64((place_outside, place_inside)[truthful]), size)
        number, block = np.divmod(np.uint64(index), h)
        moved = (number + np.uint64(self.elements[place])) % size
        return int((block + blocks_on) % h * size + moved)

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.designs import shift_in_blocks

        t = self.thresholds
        bounds = np.array(self._bounds, np.uint64)
        rejections = np.array([t["rejection_inside"], t["rejection_outside"]], np.uint64)
        numbers = np.uint64(t["truth"]), np.uint64(self.h), bounds, rejections, self.elements
        return randomized(shift_in_blocks, indices, words, *numbers, out=out)

    def supports(self, payload: Payload, index: int) -> bool:
        assert isinstance(payload, int | np.integer)
        return bool(self.shifts.supported(np.array([index]), np.array([int(payload)]))[0, 0])

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over reports of the largest Pr[report | x]; in a block with v values, a gap of the set that is
        # longer than v leaves reports that support none. The first k mod h blocks have one value more than the others.
        places = np.sort(self.elements[: self.set_size].astype(np.int64))
        gaps = np.diff(places, append=places[0] + self.block_size)
        fewest, longer = divmod(self.k, self.h)
        bare = sum(
            blocks * int(np.maximum(gaps - values, 0).sum())
            for blocks, values in ((longer, fewest + 1), (self.h - longer, fewest))
        )
        return self.two_level.best_guesses(self.symbols, bare) / self.k

    @cached_property
    def block_channel(self) -> BlockChannel:
        """What a report adds to an estimate, and how much that varies."""
        levels = self.two_level
        return BlockChannel(self.set_size, self.overlap, self.block_size, levels.high, levels.low)

    @property
    def _weights(self) -> tuple[Fraction, Fraction, Fraction]:
        return self.block_channel.weights

    @property
    def user_variances(self) -> tuple[Fraction, Fraction, Fraction]:
        """Variance that a user adds to the estimates of their own value, of others in its block, and of all others."""
        return self.block_channel.variances

    @cached_property
    def shifts(self) -> ShiftBlocks:
        """The blocks, for the server's transforms."""
        return ShiftBlocks(self.block_size, self.elements[: self.set_size].astype(np.int64), self.h, self.k)

    def unbiased(self, summary: Summary) -> Floats:
        alpha, beta, gamma = map(float, self._weights)
        near = beta * self.shifts.neighbours(summary.counts)
        return np.asarray((alpha * self.shifts.support(summary.counts) + near) / summary.n + gamma)

    def scores(self, weights: Floats) -> Floats:
        alpha, beta, gamma = map(float, self._weights)
        near = np.repeat(np.bincount(np.arange(self.k) % self.h, weights, self.h), self.block_size)
        return np.asarray(alpha * self.shifts.scatter(weights).reshape(-1) + beta * near + gamma * weights.sum())

    def noise(self, target: str) -> tuple[float, float, float]:
        return for_target(*self._noise, target)

    def noise_of(self, evidence: Evidence, target: str) -> Noise:
        """Coefficients by the estimated share of users in a value's block, who add more variance than others do."""
        # a report lies in its sender's block more often than in another by w (high - low)
        far, more = (
            float(self.block_size * self.two_level.low),
            float(self.set_size * (self.two_level.high - self.two_level.low)),
        )
        shares = (self.shifts.neighbours(evidence.counts) / evidence.n - far) / more
        return self._block_noise.given(shares, target)

    @property
    def influence(self) -> tuple[float, float]:
        return min(self._block_noise.adds), max(self._block_noise.adds)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        del evidence
        return self._block_noise.steps(target)

    @cached_property
    def _block_noise(self) -> BlockNoise:
        own, near, far = map(float, self.user_variances)
        alpha, beta, gamma = map(float, self._weights)
        return BlockNoise((own, near, far), (alpha + beta + gamma, beta + gamma, gamma))

    @cached_property
    def _noise(self) -> tuple[float, float]:
        """Variance that a user adds to estimates of other values, on average, and the extra for their own value."""
        own, others = self.block_channel.average(self.k, self.h)
        return others, own - others

    def operator(self) -> TwoLevelOperator:
        return two_level_operator(self.shifts, self.two_level.high, self.two_level.low)


def refuse_costly(k: int, epsilon: float, ratio: float, variance: float) -> None:
    """Raise InvalidArgument if n Var of a rare value is far above the best design's."""
    if ratio < _WEAK or variance > (1 + MAX_COST) * least_variance(ratio, k):
        rule = f"suit hpgr, whose error at epsilon={epsilon:g} is over {MAX_COST:.0%} above the best design's"
        raise InvalidArgument("k", rule, k, "Use csr, pgr or grr, or give q, t and h.")
