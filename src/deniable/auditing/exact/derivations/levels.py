"""The channel of she: a level for every value, the sender's mirrored."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import inf, prod

from deniable.auditing.exact.channel import UNCOUNTED, Channel, Enumerable, Level, Report, Witness, settled
from deniable.auditing.exact.document import WORDS, Document
from deniable.core.errors import SpecError


def she(document: Document) -> Channel:
    """Levels are independent; only those of two values matter when the two are compared."""
    k, count = document.listed, 2 * document.parameter("reach") + 2
    starts = [document.threshold(f"level_{level}") for level in range(1, count)]
    weights = [after - before for before, after in pairwise([0, *starts, WORDS])]
    if min(weights) < 0:
        raise SpecError("levels must begin in rising order")
    if min(weights) == 0:
        never = weights.index(0)
        row = tuple(count - 1 - never if value == 0 else weights.index(max(weights)) for value in range(k))
        value, other = (0, 1) if weights[count - 1 - never] else (1, 0)
        faults = (f"level {never} is never drawn, and its mirror image would give the sender's value away",)
        return Channel(k, (Level(None, Witness(value, other, row)),), None, faults=faults, describe=_described)
    odds = [Fraction(own, weight) for own, weight in zip(weights[::-1], weights, strict=True)]
    common = weights.index(max(weights))

    def level(ratio: Fraction) -> Level:
        # the sender's value has the level of these odds, the other one its mirror image
        own = odds.index(ratio)
        row = (own, count - 1 - own, *[common] * (k - 2))
        return Level(ratio * ratio, Witness(0, 1, row))

    levels = [level(ratio) for ratio in sorted(set(odds), reverse=True) if ratio >= 1] or [level(Fraction(1))]

    def probability(report: Report, index: int) -> Fraction:
        own = weights[count - 1 - report[index]]
        return Fraction(own * prod(weights[level] for value, level in enumerate(report) if value != index), WORDS**k)

    size = count**k if k * count <= 64 else UNCOUNTED
    enumerable = Enumerable(k, lambda: product(range(count), repeat=k), probability)
    ratio = levels[0].size
    assert ratio != inf
    return settled(enumerable, size, levels, Fraction(ratio) / (Fraction(ratio) + k - 1), _described)


def _described(report: Report) -> str:
    shown = ", ".join(f"value {value} at level {level}" for value, level in enumerate(report[:2]))
    return shown if len(report) == 2 else f"{shown}, the others at the commonest"
