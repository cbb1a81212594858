"""Recursive Hadamard Response: a block and one sign of a public row of a Hadamard matrix, in a few bits.

The values are dealt in turn to C = 2^(bits - 1) blocks: x has the number j = x div C in block x mod C. The row r is
public, uniform from 1 to L - 1, where L >= 2 is the least power of two that numbers a block. The device sends
its block and the sign of row r at j, + if r & j has an even number of ones, through randomised response over the
N = 2^bits classes 2 block + sign. Row 0, whose signs are all +, would show only the block; leaving it out
lowers the error for few values.

Reference: Chen, Kairouz, Ozgur 2020, "Breaking the communication-privacy-accuracy trilemma", its scheme for
frequencies.
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
from deniable.core.limits import Cost, size
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.estimation.operators.hadamard import HadamardBlocks, Signs, block_totals, by_row
from deniable.estimation.operators.two_level import TwoLevelOperator, two_level_operator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.hadamard.blocks import Agreement, HadamardMechanism, least_variance
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.randomness.bounds import exponential_below


@dataclass(frozen=True)
class RecursiveHadamardResponse(PublicCoin, HadamardMechanism):
    """Recursive Hadamard Response, "rhr".

    A payload is (r - 1) N + 2 block + sign. On the wire r follows from the report's id, and only the `bits` of the
    class are sent: see public_coins.py, which also states the guarantee. The default `bits` give the
    least error.

    >>> RecursiveHadamardResponse(22_000, epsilon=1.0).report_bits
    1
    """

    name: ClassVar[str] = "rhr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "gls"

    bits: int = CHOSEN

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        bits = min(max(1, size(parameters, "bits")), 64)
        return Cost(cells=(block_length(domain.k, 1 << (bits - 1)) - 1) << bits)

    def _settled(self) -> Mapping[str, Any]:
        bound, bits = exponential_below(self.epsilon), self.bits
        if bits is None:
            bits = 1 if bound == 1 else best_blocks(self.k, bound).bit_length()
        return {**super()._settled(), "bits": whole(1, (self.k - 1).bit_length(), bits=bits)}

    def _parameters(self) -> dict[str, Any]:
        return {"bits": self.bits, "salt": self.salt}

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        self.check_size(self.symbols)
        return super()._thresholds(bound, modulus)

    @cached_property
    def agreement(self) -> Agreement:
        return _agreement(self._truth, self.blocks, self.length)

    @property
    def blocks(self) -> int:
        """C: the number of blocks."""
        return 1 << (self.bits - 1)

    @property
    def length(self) -> int:
        """L: the numbers in a block, and the rows of its matrix."""
        return block_length(self.k, self.blocks)

    @property
    def classes(self) -> int:
        return 1 << self.bits

    @property
    def publics(self) -> int:
        return self.length - 1

    def _class_under(self, index: int, public: int) -> int:
        # in integers of 64 bits; 2^32 blocks more, which no bit of a public number meets, so that none is 0
        number, block = np.divmod(np.uint64(index + (self.blocks << 32)), np.uint64(self.blocks))
        return int(2 * block + (np.bitwise_count(number & np.uint64(public + 1)) & np.uint8(1)))

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.hadamard import send_sign

        truth, rejection = np.uint64(self.thresholds["truth"]), np.uint64(self.thresholds["rejection_public"])
        sizes = np.uint64(self.bits - 1), np.uint64(self.publics)
        return randomized(send_sign, indices, words, truth, *sizes, rejection, out=out)

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over (r, class) of the largest probability. Number 0 has the sign + in every row. All v numbers of
        # a block have it in the rows that are multiples of the least power of two >= v: there no value has the sign -.
        fewest, longer = divmod(self.k, self.blocks)
        bare = sum(
            blocks * ((self.length >> (values - 1).bit_length()) - 1 if values else 2 * self.publics)
            for blocks, values in ((longer, fewest + 1), (self.blocks - longer, fewest))
        )
        return self.two_level.best_guesses(self.symbols, bare) / self.k

    @property
    def matrices(self) -> HadamardBlocks:
        """The blocks, for the server's transforms."""
        return HadamardBlocks(self.blocks, self.length, self.k, first=0)

    def signed_counts(self, summary: Summary) -> Counts:
        cells = by_row(summary.counts, self.matrices)
        rows = np.zeros((self.blocks, self.length), np.int64)
        rows[:, 1:] = (cells[:, :, 0] - cells[:, :, 1]).T
        return self.matrices.signed(rows)

    def block_counts(self, summary: Summary) -> Counts:
        return self.matrices.of_block(block_totals(summary.counts, self.matrices))

    def _of_cells(self, blocks: Floats) -> Floats:
        return np.tile(np.repeat(blocks, 2), self.length - 1)

    def operator(self) -> TwoLevelOperator:
        return two_level_operator(Signs(self.matrices), self.two_level.high, self.two_level.low)


def block_length(k: int, blocks: int) -> int:
    """L: the smallest power of two that holds ceil(k/C) numbers, and at least 2."""
    return 1 << max(1, (-(-k // blocks) - 1).bit_length())


def best_blocks(k: int, bound: Fraction | float) -> int:
    """The number of blocks with the least error of a rare value."""
    most = 1 << ((k - 1).bit_length() - 1)
    return least_variance(lambda blocks: ideal_agreement(bound, k, blocks), most, k)


def ideal_agreement(bound: Fraction | float, k: int, blocks: int) -> Agreement:
    """The probabilities of agreement for a ratio of exactly `bound`."""
    return _agreement((bound - 1) / (bound - 1 + 2 * blocks), blocks, block_length(k, blocks))


def _agreement(truth: Any, blocks: int, length: int) -> Agreement:
    other = (1 - truth) / (2 * blocks)
    # of the L - 1 rows, two values of a block have the same sign in L/2 - 1
    same = Fraction(length // 2 - 1, length - 1)
    near = truth * same + other, truth * (1 - same) + other
    return Agreement((truth + other, other), near, (other, other), blocks)
