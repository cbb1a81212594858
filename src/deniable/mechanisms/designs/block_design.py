"""Block designs: any list of sets of values that holds all values, and all pairs of values, equally often.

A report names a block, that is a set of values. With probability T/M the block is uniform among the r blocks that
hold the sender's value, else among the b - r others. Randomised response (blocks of one value), subset selection
(all blocks of w values) and projective geometries are designs; here the user brings the blocks.

Reference: Park, Nam, Lee 2023 (block-design schemes); Ye and Barg 2018 (subset selection); Fisher 1940.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from deniable.core.arrays import Counts, Indices, Mask, Payloads, Symbols, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.estimation.channel import PureChannel, TwoLevel, choice_threshold
from deniable.estimation.operators.two_level import Listed, TwoLevelOperator, two_level_operator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

MAX_CELLS = 2**22  # values times blocks: the entries of the table kept; also bounds the pairs of values checked

Blocks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class BlockDesign(Mechanism):
    """A design that the user chooses, "design".

    `blocks` lists sets of values, each value by its index 0..k-1 in the domain; blocks may differ in size and
    repeat. Every value must lie in the same number r of blocks and every pair in the same number lambda < r.
    The error is least where blocks hold about k/(e^epsilon + 1) values.
    Guarantee: largest ratio T (b - r) / ((M - T) r) <= e^epsilon, with M = 2^64 and T the truth threshold.
    Cost: three random words and ceil(log2 b) bits per report, one count per block; r k additions per estimate.

    >>> fano = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]
    >>> m = BlockDesign(7, epsilon=0.5, blocks=fano)
    >>> m.symbols, m.supporting, m.block_size, m.overlap
    (7, 3, Fraction(3, 1), 1)
    """

    name: ClassVar[str] = "design"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    blocks: Blocks = CHOSEN  # any lists of whole numbers, which must be given; kept sorted

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        given = parameters.get("blocks")
        listed = given if isinstance(given, list | tuple) else ()
        entries = sum(len(block) for block in listed if isinstance(block, list | tuple))
        table = domain.k * max(domain.k, len(listed))  # blocks of values, and pairs of values
        work = domain.k * domain.k * len(listed)
        return Cost(
            cells=len(listed),
            tables=table,
            blocks=len(listed),
            building=24 * table + 200 * entries,
            report=8 * table,
            nanoseconds=work // 8 + 20 * table + 5000 * entries + 35_000 * len(listed),
        )

    def _settled(self) -> Mapping[str, Any]:
        return {"blocks": checked_blocks(self.blocks, self.k)}

    def _parameters(self) -> dict[str, Any]:
        return {"blocks": [list(block) for block in self.blocks]}

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        inside, outside = self._bounds
        truth = choice_threshold(bound, modulus, inside, self.symbols)
        self.require_coin(truth * self.symbols > modulus * inside)
        return {
            "truth": truth,
            "rejection_inside": rejection_bound(inside, modulus),
            "rejection_outside": rejection_bound(outside, modulus),
        }

    @property
    def symbols(self) -> int:
        """b: the number of blocks, which are the reports."""
        return len(self.blocks)

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.symbols)

    @cached_property
    def supporting(self) -> int:
        """r: the number of blocks that hold a value."""
        return sum(0 in block for block in self.blocks)  # as for any other value

    @cached_property
    def overlap(self) -> int:
        """lambda: the number of blocks that hold two given values."""
        return sum({0, 1} <= set(block) for block in self.blocks)  # as for any other pair

    @cached_property
    def two_level(self) -> TwoLevel:
        return TwoLevel.by_choice(self.thresholds["truth"], *self._bounds)

    def supports(self, payload: Payload, index: int) -> bool:
        assert isinstance(payload, int | np.integer)
        return index in self.blocks[int(payload)]

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        holds = np.zeros((self.symbols, len(indices)), np.bool_)
        for column, index in enumerate(indices.tolist()):
            holds[self._supports[index], column] = True
        return np.asarray(holds[data])

    @cached_property
    def channel(self) -> PureChannel:
        return self.two_level.pure(self.supporting, self.overlap)

    @property
    def block_size(self) -> Fraction:
        """s = r k / b: the number of values per block, on average if blocks differ."""
        return Fraction(self.supporting * self.k, self.symbols)

    @property
    def _bounds(self) -> tuple[int, int]:
        return self.supporting, self.symbols - self.supporting

    @cached_property
    def places(self) -> Symbols:
        """All blocks for each value: first, in order, the r that hold it, then the b - r others."""
        table = np.empty((self.k, self.symbols), np.uint32)
        inside, outside = np.zeros(self.k, np.int64), np.full(self.k, self.supporting)
        for place, block in enumerate(self.blocks):
            holds = np.zeros(self.k, np.bool_)
            holds[list(block)] = True
            table[np.arange(self.k), np.where(holds, inside, outside)] = place
            inside += holds
            outside += ~holds
        return table

    @property
    def stride(self) -> int:
        return 3  # the coin, a place among the blocks with the value, and one among those without

    def randomize_one(self, index: int, choices: Choices) -> int:
        inside, outside = self._bounds
        truthful = choices.coin(self.thresholds["truth"])
        with_value = choices.below(inside, self.thresholds["rejection_inside"])
        without = inside + choices.below(outside, self.thresholds["rejection_outside"])
        return int(self.places[index, (without, with_value)[truthful]])

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.designs import choose_block

        t = self.thresholds
        rejections = np.array([t["rejection_inside"], t["rejection_outside"]], np.uint64)
        bounds = np.array(self._bounds, np.uint64)
        return randomized(choose_block, indices, words, np.uint64(t["truth"]), bounds, rejections, self.places, out=out)

    def reconstruction_rate(self) -> Fraction:
        return self.two_level.best_guesses(self.symbols) / self.k  # every block holds some value

    @property
    def _supports(self) -> Symbols:
        return self.places[:, : self.supporting]

    def support_counts(self, summary: Summary) -> Counts:
        counts: Counts = summary.counts[self._supports].sum(axis=1)
        return counts

    def operator(self) -> TwoLevelOperator:
        return two_level_operator(Listed(self._supports, self.symbols), self.two_level.high, self.two_level.low)

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        from deniable.randomness.simulated import scatter

        inside, outside = self._bounds
        truthful = generator.binomial(true_counts, float(Fraction(self.thresholds["truth"], MODULUS)))
        counts = np.zeros(self.symbols, np.int64)
        for value in np.flatnonzero(true_counts).tolist():
            counts[self.places[value, :inside]] += scatter(int(truthful[value]), inside, generator)
            counts[self.places[value, inside:]] += scatter(int((true_counts - truthful)[value]), outside, generator)
        return counts


def checked_blocks(blocks: object, k: int) -> Blocks:
    """Return the blocks, each sorted, in their order, or raise InvalidArgument naming the first violation."""
    if isinstance(blocks, (str, bytes)) or not isinstance(blocks, Iterable):
        hint = "design has no default: give its blocks, such as [[0, 1], [0, 2], [1, 2]]." if blocks is None else ""
        raise InvalidArgument("blocks", "be a list of lists of values, each by its index", blocks, hint)
    found = tuple(_checked_block(place, block, k) for place, block in enumerate(blocks))
    if k * max(k, len(found)) > MAX_CELLS:
        rule = f"be at most {MAX_CELLS} values times blocks for design"
        raise InvalidArgument("blocks", rule, f"{k} times {max(k, len(found))}", "csr has no such limit.")
    incidence = np.zeros((k, len(found)), np.float32)  # whole numbers this small are exact
    for place, block in enumerate(found):
        incidence[list(block), place] = 1
    _check_balance(incidence, k)
    return found


def _checked_block(place: int, block: object, k: int) -> tuple[int, ...]:
    if isinstance(block, (str, bytes)) or not isinstance(block, Iterable):
        raise InvalidArgument("blocks", "be lists of values", block, f"Block {place} is not.")
    values = sorted(whole(0, k - 1, **{f"a value of block {place}": value}) for value in block)
    if not values:
        raise InvalidArgument("blocks", "hold at least one value each", values, f"Block {place} has none.")
    for value, following in pairwise(values):
        if value == following:
            raise InvalidArgument("blocks", "hold a value once each", values, f"Block {place} holds {value} twice.")
    return tuple(values)


def _check_balance(incidence: npt.NDArray[np.float32], k: int) -> None:
    """Refuse blocks unless each value lies in r < b of them and each pair in lambda; no block is empty: lambda < r."""
    blocks = incidence.shape[1]
    pairs = incidence @ incidence.T  # the number of blocks that hold both values; r on the diagonal
    each = pairs.diagonal()
    if (each != each[0]).any():
        value = int(np.flatnonzero(each != each[0])[0])
        hint = f"Value 0 lies in {each[0]:.0f} of them, value {value} in {each[value]:.0f}."
        raise InvalidArgument("blocks", "hold every value equally often", f"{blocks} blocks", hint)
    if each[0] in (0, blocks):
        raise InvalidArgument("blocks", "hold every value, but none in all blocks", f"{blocks} blocks")
    others = (pairs != pairs[0, 1]) & ~np.eye(k, dtype=np.bool_)
    if others.any():
        one, other = divmod(int(np.flatnonzero(others)[0]), k)
        hint = f"Values 0 and 1 share {pairs[0, 1]:.0f} of them, {one} and {other} share {pairs[one, other]:.0f}."
        raise InvalidArgument("blocks", "hold every pair of values equally often", f"{blocks} blocks", hint)
