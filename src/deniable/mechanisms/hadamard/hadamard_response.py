"""Hadamard Response: one symbol that has an even parity with the value's number, decoded by fast Hadamard transforms.

The values are dealt in turn to B blocks of b reports: x has the number c = x div B + 1 in block x mod B. A report
(B', u), sent as the number B' b + u, supports x if B' is its block and u & c has an even number of ones: b/2 reports.
No value has number 0, with which all parities are even. Two values of a block share b/4 reports, others none.

Blocks of consecutive values, as in published code, would put the first values, often the most frequent, in one block.

Reference: Acharya, Sun, Zhang 2019, "Hadamard Response: estimating distributions privately, efficiently, and with
little communication", its scheme for high privacy (one block) and the general one (blocks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.estimation.channel import TwoLevel, choice_threshold
from deniable.estimation.operators.hadamard import HadamardBlocks, Parities
from deniable.estimation.operators.two_level import TwoLevelOperator, two_level_operator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.hadamard.blocks import Agreement, HadamardMechanism, least_variance
from deniable.mechanisms.hashing.primes import division
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.randomness.bounds import exponential_below, rejection_bound
from deniable.randomness.choices import Choices


@dataclass(frozen=True)
class HadamardResponse(HadamardMechanism):
    """Hadamard Response, "hr".

    B is a power of two, by default the one with the least error; b is the smallest power of two above ceil(k/B), and at
    least 4. A report is a block and a number u from 1 to b - 1: u = 0 would support every value of its block.
    Guarantee: largest ratio T (N - r)/((M - T) r) <= e^epsilon, with M = 2^64, T the truth threshold, N = B (b - 1)
    reports and r = b/2 - 1 of them that support a value.
    Cost: three random words and log2(B b) bits per report; N counts; B transforms of b numbers per estimate.

    >>> m = HadamardResponse(22_000, epsilon=2.0)
    >>> m.blocks, m.block_size, m.report_bits
    (4, 8192, 15)
    """

    name: ClassVar[str] = "hr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "gls"

    blocks: int = CHOSEN

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        blocks = max(1, size(parameters, "blocks"))
        return Cost(cells=blocks * (block_size(domain.k, blocks) - 1))

    def _settled(self) -> Mapping[str, Any]:
        bound, blocks = exponential_below(self.epsilon), self.blocks
        if blocks is None:
            blocks = 1 if bound == 1 else best_blocks(self.k, bound)
        if whole(1, _most_blocks(self.k), blocks=blocks).bit_count() != 1:
            raise InvalidArgument("blocks", "be a power of two", blocks)
        return {"blocks": blocks}

    def _parameters(self) -> dict[str, Any]:
        return {"blocks": self.blocks}

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        self.check_size(self.symbols)
        truth = choice_threshold(bound, modulus, self.set_size, self.symbols)
        self.require_coin(truth * self.symbols > modulus * self.set_size)
        rejections = (rejection_bound(number, modulus) for number in (self.set_size, self._outside))
        return {"truth": truth} | dict(zip(("rejection_inside", "rejection_outside"), rejections, strict=True))

    @cached_property
    def agreement(self) -> Agreement:
        return _agreement(self._truth, self.blocks, self.block_size)

    @property
    def block_size(self) -> int:
        """b: the length of a block's matrix, more than the values in a block, which are numbered from 1."""
        return block_size(self.k, self.blocks)

    @property
    def set_size(self) -> int:
        """r: the number of reports that support a value."""
        return self.block_size // 2 - 1

    @property
    def _outside(self) -> int:
        return self.symbols - self.set_size

    @property
    def stride(self) -> int:
        return 3  # the coin, a place among the reports that support the value and one among the others

    @property
    def symbols(self) -> int:
        """Number of different reports."""
        return self.blocks * (self.block_size - 1)

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.symbols)

    def report_at(self, index: Any, place: Any) -> Any:
        """The report at a place in this value's order: reports that support it, the rest of its block, other blocks.

        Formula: place p = d (b - 1) + t - 1, with t from 1 to b - 1, names block (x mod B) xor d. The bits of t, except
        the highest, go in order to the bits of u other than the lowest one of the value's number c; that bit is set so
        that the parity of u & c is the highest bit of t.
        """
        # shifts and products take the same time for all numbers, divisions need not
        multiplier, shift = self._division
        moved = place * multiplier >> shift
        place = place - moved * (self.block_size - 1) + 1
        number, block = (index >> self.blocks.bit_length() - 1) + 1, index & self.blocks - 1
        lowest = number ^ number & number - 1
        half = self.block_size // 2
        odd, rest = place >> half.bit_length() - 1 & 1, place & half - 1
        below = rest & lowest - 1
        u = below + 2 * (rest - below)
        u += lowest * ((u & number).bit_count() & 1 ^ odd)
        return (block ^ moved) * (self.block_size - 1) + u - 1

    @property
    def _division(self) -> tuple[int, int]:
        """How to divide a place by b - 1: multiply, then shift."""
        return division(self.block_size - 1)

    def randomize_one(self, index: int, choices: Choices) -> int:
        truthful = choices.coin(self.thresholds["truth"])
        inside = choices.below(self.set_size, self.thresholds["rejection_inside"])
        outside = self.set_size + choices.below(self._outside, self.thresholds["rejection_outside"])
        # integers of 64 bits from here on: the time of Python's would tell zeros and places beyond 256 from others
        return int(self.report_at(np.uint64(index), np.uint64((outside, inside)[truthful])))

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.hadamard import choose_parity

        t = self.thresholds
        bits = np.uint64(self.blocks.bit_length() - 1), np.uint64(self.block_size.bit_length() - 1)
        rejections, division = (
            np.array(pair, np.uint64) for pair in ((t["rejection_inside"], t["rejection_outside"]), self._division)
        )
        return randomized(choose_parity, indices, words, np.uint64(t["truth"]), *bits, rejections, division, out=out)

    @cached_property
    def two_level(self) -> TwoLevel:
        return TwoLevel.by_choice(self.thresholds["truth"], self.set_size, self._outside)

    def supports(self, payload: Payload, index: int) -> bool:
        assert isinstance(payload, int | np.integer)
        block, u = divmod(int(payload), self.block_size - 1)
        number, own = divmod(index, self.blocks)
        return block == own and (u + 1 & number + 1).bit_count() % 2 == 0

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over reports of the largest Pr[report | x]. Each report of a block supports one of the numbers 1, 2
        # and 3, whose parities add up to an even number; without 3 a quarter support none, without 2 and 3 half.
        fewest, longer = divmod(self.k, self.blocks)
        bare = sum(
            blocks * ((self.block_size >> values if values < 3 else 0) - (values == 0))
            for blocks, values in ((longer, fewest + 1), (self.blocks - longer, fewest))
        )
        return self.two_level.best_guesses(self.symbols, bare) / self.k

    @property
    def matrices(self) -> HadamardBlocks:
        """The blocks, for the server's transforms."""
        return HadamardBlocks(self.blocks, self.block_size, self.k, first=1)

    def signed_counts(self, summary: Summary) -> Counts:
        return self.matrices.signed(self.matrices.padded(summary.counts))

    def block_counts(self, summary: Summary) -> Counts:
        return self.matrices.of_block(summary.counts.reshape(self.blocks, -1).sum(axis=1))

    def _of_cells(self, blocks: Floats) -> Floats:
        return np.repeat(blocks, self.block_size - 1)

    def operator(self) -> TwoLevelOperator:
        return two_level_operator(Parities(self.matrices), self.two_level.high, self.two_level.low)


def block_size(k: int, blocks: int) -> int:
    """The smallest power of two above ceil(k/B), and at least 4."""
    return max(4, 1 << (-(-k // blocks)).bit_length())


def best_blocks(k: int, bound: Fraction | float) -> int:
    """The number of blocks with the least error of a rare value."""
    return least_variance(lambda blocks: ideal_agreement(bound, k, blocks), _most_blocks(k), k)


def _most_blocks(k: int) -> int:
    return 1 << (k - 1).bit_length()


def ideal_agreement(bound: Fraction | float, k: int, blocks: int) -> Agreement:
    """The probabilities of agreement for a ratio of exactly `bound`: the coin is r e/(r e + N - r)."""
    size = block_size(k, blocks)
    inside, reports = size // 2 - 1, blocks * (size - 1)
    return _agreement(inside * bound / (inside * bound + reports - inside), blocks, size)


def _agreement(truth: Any, blocks: int, size: int) -> Agreement:
    # per report that supports the user's value, and per other one
    half, quarter = size // 2, size // 4
    high = truth / (half - 1)
    low = (1 - truth) / (blocks * (size - 1) - half + 1)
    # of the user's b/2 - 1 reports b/4 - 1 support another value of the block, of the block's b/2 others b/4
    near = (quarter - 1) * high + quarter * low, quarter * (high + low)
    return Agreement((truth, half * low), near, ((half - 1) * low, half * low), blocks)
