"""Which small settings of each mechanism the contract is checked on, and how its words are enumerated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism
from tests.mechanisms.designs.examples import FANO, UNEVEN, complete_design, projective_plane

_USUAL = [{"k": k, "epsilon": epsilon} for k in (2, 3, 5) for epsilon in (0.5, 1.0, 3.0)]

# Two of the three cohorts modulo 7: a family that is not balanced.
_PART_OF_A_FAMILY = {"modulus": 7, "classes": 3, "chosen": [0], "zero": False, "cohorts": [0, 1], "root": 3}

# Settings small enough to enumerate every report and every word; the usual ones unless named here.
SMALL: dict[str, list[dict[str, Any]]] = {
    "oue": [{"k": k, "epsilon": epsilon} for k, epsilon in ((2, 0.5), (2, 1.0), (3, 1.0), (3, 3.0), (4, 3.0))],
    "sue": [{"k": k, "epsilon": epsilon} for k, epsilon in ((2, 1.0), (2, 3.0), (3, 2.0), (3, 3.0), (4, 3.0))],
    "the": [{"k": k, "epsilon": epsilon} for k, epsilon in ((2, 1.0), (2, 3.0), (3, 2.0), (3, 3.0), (4, 3.0))],
    "she": [
        {"k": 2, "epsilon": 0.5, "reach": 1},
        {"k": 2, "epsilon": 1.0, "reach": 2},
        {"k": 2, "epsilon": 3.0, "reach": 1},
        {"k": 3, "epsilon": 1.0, "reach": 0},
        {"k": 4, "epsilon": 3.0, "reach": 0},
    ],
    "design": [
        {"k": 3, "epsilon": 1.0, "blocks": [[0], [1], [2]]},
        {"k": 4, "epsilon": 0.5, "blocks": complete_design(4, 2)},
        {"k": 3, "epsilon": 3.0, "blocks": UNEVEN},
        {"k": 7, "epsilon": 1.0, "blocks": FANO},
        {"k": 13, "epsilon": 1.0, "blocks": projective_plane(3)},
    ],
    "clh": [
        {"k": 7, "epsilon": 0.5},
        {"k": 5, "epsilon": 1.0},
        {"k": 6, "epsilon": 2.0, "modulus": 7, "classes": 2},
        {"k": 7, "epsilon": 1.0},
        {"k": 11, "epsilon": 1.0},
    ],
    "olh": [
        {"k": 5, "epsilon": 0.5},
        {"k": 2, "epsilon": 1.0, "g": 2},
        {"k": 4, "epsilon": 3.0, "g": 5},
        {"k": 8, "epsilon": 2.0, "g": 3},
        {"k": 7, "epsilon": 1.0, "g": 3},
        {"k": 9, "epsilon": 1.0, "g": 3},
    ],
    "blh": [
        {"k": k, "epsilon": epsilon} for k, epsilon in ((2, 1.0), (3, 3.0), (4, 0.5), (8, 2.0), (5, 1.0), (9, 0.5))
    ],
    "flh": [
        {"k": 5, "epsilon": 3.0},
        {"k": 7, "epsilon": 0.5, "g": 2},
        {"k": 6, "epsilon": 2.0, "g": 5},
        {"k": 11, "epsilon": 1.0, "g": 3},
        {"k": 9, "epsilon": 1.0, "g": 3},
        {"k": 2, "epsilon": 1.0},
    ],
    "csr": [
        {"k": 7, "epsilon": 0.5},
        {"k": 6, "epsilon": 1.0},
        {"k": 6, "epsilon": 2.0},
        {"k": 7, "epsilon": 1.0, "sets": _PART_OF_A_FAMILY},
        {"k": 8, "epsilon": 1.0, "padding": False},
        {"k": 7, "epsilon": 1.0},
        {"k": 11, "epsilon": 0.5},
    ],
    "pgr": [
        {"k": 7, "epsilon": 0.5},
        {"k": 6, "epsilon": 1.0, "q": 2, "t": 3},
        {"k": 5, "epsilon": 2.0, "q": 2, "t": 3},
        {"k": 5, "epsilon": 3.0},
        {"k": 6, "epsilon": 0.5},
        {"k": 7, "epsilon": 1.0, "q": 2, "t": 3},
    ],
    "hpgr": [
        {"k": 5, "epsilon": 0.5, "q": 2, "t": 2, "h": 2},
        {"k": 4, "epsilon": 3.0, "q": 2, "t": 2, "h": 3},
        {"k": 6, "epsilon": 2.0, "q": 2, "t": 3, "h": 2},
        {"k": 9, "epsilon": 1.0, "q": 2, "t": 3, "h": 2},
        {"k": 6, "epsilon": 1.0, "q": 2, "t": 2, "h": 2},
    ],
    "hr": [
        {"k": 2, "epsilon": 0.5},
        {"k": 3, "epsilon": 3.0, "blocks": 4},
        {"k": 5, "epsilon": 2.0, "blocks": 2},
        {"k": 7, "epsilon": 3.0},
        {"k": 6, "epsilon": 1.0, "blocks": 2},
        {"k": 7, "epsilon": 1.0},
    ],
    "mss": [
        {"k": 3, "epsilon": 1.0},
        {"k": 5, "epsilon": 1.0, "moduli": [3, 4]},
        {"k": 7, "epsilon": 2.0, "moduli": [4, 5], "sizes": [2, 1]},
        {"k": 5, "epsilon": 1.0, "moduli": [3, 4], "sizes": [1, 2]},
        {"k": 6, "epsilon": 1.0, "moduli": [2, 3, 5]},
    ],
    "rhr": [
        {"k": 2, "epsilon": 0.5},
        {"k": 3, "epsilon": 1.0},
        {"k": 5, "epsilon": 2.0, "bits": 3},
        {"k": 7, "epsilon": 3.0},
        {"k": 6, "epsilon": 1.0, "bits": 2},
        {"k": 8, "epsilon": 1.0},
    ],
    "orappor": [
        {"k": 3, "epsilon": 3.0},
        {"k": 5, "epsilon": 3.0, "cohorts": 3, "buckets": 3, "hashes": 2},
        {"k": 4, "epsilon": 5.0, "cohorts": 2, "buckets": 4, "hashes": 2},
        {"k": 5, "epsilon": 2.0, "cohorts": 4, "buckets": 3},
        {"k": 2, "epsilon": 1.0, "cohorts": 3, "buckets": 2},
    ],
    "cms": [
        {"k": 3, "epsilon": 1.0, "cohorts": 5, "buckets": 2},
        {"k": 2, "epsilon": 3.0, "cohorts": 3, "buckets": 3},
        {"k": 5, "epsilon": 2.0, "cohorts": 4, "buckets": 3},
        {"k": 4, "epsilon": 3.0, "cohorts": 2, "buckets": 4, "seed": 1},
    ],
    "hcms": [
        {"k": 3, "epsilon": 0.5, "cohorts": 5, "buckets": 2},
        {"k": 2, "epsilon": 3.0, "cohorts": 1, "buckets": 4, "seed": 1},
        {"k": 4, "epsilon": 2.0, "cohorts": 2, "buckets": 8},
        {"k": 5, "epsilon": 1.0, "cohorts": 3, "buckets": 4},
        {"k": 7, "epsilon": 1.0, "cohorts": 5, "buckets": 4},
    ],
    "orr": [
        {"k": 3, "epsilon": 0.5, "cohorts": 1, "buckets": 3},
        {"k": 2, "epsilon": 3.0, "cohorts": 3, "buckets": 2},
        {"k": 6, "epsilon": 2.0, "cohorts": 7, "buckets": 2, "seed": 2},
        {"k": 5, "epsilon": 1.0, "cohorts": 4, "buckets": 3},
        {"k": 7, "epsilon": 1.0, "cohorts": 8, "buckets": 3},
    ],
    "ss": [
        {"k": 2, "epsilon": 0.5},
        {"k": 3, "epsilon": 1.0},
        {"k": 3, "epsilon": 1.0, "w": 2},
        {"k": 5, "epsilon": 3.0},
        {"k": 5, "epsilon": 1.0, "w": 3},
        {"k": 6, "epsilon": 1.0},
        {"k": 5, "epsilon": 0.5},
        {"k": 4, "epsilon": 1.0, "w": 3},
    ],
}

# A domain of some hundred values, where that of 500 does not suit.
LARGE: dict[str, Callable[[], dict[str, Any]]] = {
    "she": lambda: {"k": 60, "epsilon": 3.0},
    "design": lambda: {"k": 381, "epsilon": 3.0, "blocks": projective_plane(19)},
}

EPSILONS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 50.0)
_FEW_VALUES, _MANY_VALUES = (2, 3, 5, 8, 12), (1000, 22_000, 2**24)
_BELOW_ALL_USE = (1e-9, 1e-12, 1e-15, 3e-16)

# What else a mechanism for k values is made with where every report is tried, so that there are few.
GRID: dict[str, Callable[[int], dict[str, Any]]] = {
    "cms": lambda _: {"cohorts": 4, "buckets": 4},
    "design": lambda k: {"blocks": complete_design(k, -(-k // 3))},
    "hcms": lambda _: {"cohorts": 4, "buckets": 8},
    "orappor": lambda _: {"cohorts": 3},
    "orr": lambda _: {"cohorts": 16},
    "she": lambda _: {"reach": 1},
}

# What a mechanism for k values cannot be made without; a domain too large for a design is refused whatever its blocks.
NEEDED: dict[str, Callable[[int], dict[str, Any]]] = {
    "design": lambda k: {"blocks": complete_design(k, 1) if k <= _MANY_VALUES[0] else [[0]]},
}


class Refused(NamedTuple):
    """How many settings a mechanism refuses, with the reason: of `enumerable`, and of `plain`."""

    enumerable: int = 0
    plain: int = 0


# Mechanisms that are not here serve all settings.
REFUSED = {
    "clh": Refused(41, 54),  # few moduli suit it
    "cms": Refused(11, 15),  # hashes that collide; 2^24 values; coins of 32 bits
    "csr": Refused(8, 12),
    "design": Refused(0, 22),  # over 2^22 values times blocks
    "flh": Refused(0, 3),
    "hcms": Refused(11, 14),
    "hpgr": Refused(25, 41),  # geometries of weak privacy cost too much
    "mss": Refused(0, 11),  # 2^24 values
    "olh": Refused(39, 55),  # prime powers that suit it
    "orappor": Refused(0, 4),
    "orr": Refused(0, 3),
    "oue": Refused(0, 3),
    "pgr": Refused(5, 8),
    "she": Refused(0, 11),
    "ss": Refused(0, 11),
    "sue": Refused(0, 4),
    "the": Refused(0, 4),
}

# Mechanisms whose summaries keep less than the reports, so that they do not carry the likelihood.
KEEP_LESS = ("cms", "mss", "orappor", "oue", "she", "ss", "sue", "the")

# Bits of a payload that are public, so that they are known from elsewhere and `report_bits` does not count them.
PUBLIC_BITS: dict[str, Callable[[Any], int]] = {
    **dict.fromkeys(("blh", "clh", "flh", "olh", "rhr"), lambda m: (m.publics - 1).bit_length()),
}

# The largest domain of which every report is tried, where there are more of them than values.
LARGEST = {"cms": 8, "orappor": 8, "oue": 8, "she": 5, "sue": 8, "the": 8}


def _sliced_words(m: Mechanism, bits: int) -> np.ndarray:
    """Words of unary encoding: the last `bits` of 32 hold a bit of every coin, then comes the coin of the value."""
    every = np.arange(2 ** ((m.k + 1) * bits), dtype=np.uint64)
    words = np.zeros((len(every), m.stride), np.uint64)
    for place in range(bits):
        words[:, m.stride - 1 - bits + place] = every >> np.uint64(place * m.k) & np.uint64(2**m.k - 1)
    words[:, -1] = every >> np.uint64(bits * m.k) << np.uint64(64 - bits)
    return words


def _filter_words(m: Mechanism, bits: int) -> np.ndarray:
    """Words of Bloom filters: the cohort, then `bits` of 32 words that hold a bit of every coin."""
    every = np.arange(2 ** ((m.buckets + 1) * bits), dtype=np.uint64)
    words = np.zeros((len(every), m.stride), np.uint64)
    words[:, 0] = every >> np.uint64(bits * m.buckets) << np.uint64(64 - bits)
    for place in range(bits):
        words[:, m.stride - bits + place] = every >> np.uint64(place * m.buckets) & np.uint64(2**m.buckets - 1)
    return words


# All words of one report, where the plain grid of every_word is not it: (mechanism, bits) -> rows of words.
WORDS: dict[str, Callable[[Mechanism, int], np.ndarray]] = {
    **dict.fromkeys(("oue", "sue", "the"), _sliced_words),
    **dict.fromkeys(("cms", "orappor"), _filter_words),
}

# Reports of different kinds, where a draw is rejected more often in one kind than in another: payload -> kind.
KINDS: dict[str, Callable[[Any], object]] = {"mss": lambda payload: payload[0]}

# How many independent draws a report makes, where that is not one a word; at most so many bits are tried in all.
DRAWS: dict[str, Callable[[Mechanism], int]] = {
    **{name: lambda m: m.k + 1 for name in ("oue", "sue", "the")},
    **{name: lambda m: m.buckets + 1 for name in ("cms", "orappor")},
    "she": lambda m: m.k,
}
_MOST_BITS = 17


def refused(name: str) -> Refused:
    """How many settings of these grids the mechanism refuses."""
    return REFUSED.get(name, Refused())


def enumerable(name: str) -> list[dict[str, Any]]:
    """Settings of a few values, at any epsilon, of which every report is tried."""
    more, sizes = GRID.get(name, lambda _: {}), [k for k in _FEW_VALUES if k <= LARGEST.get(name, k)]
    return [{"k": k, "epsilon": epsilon, **more(k)} for k in sizes for epsilon in EPSILONS]


def plain(name: str) -> list[dict[str, Any]]:
    """Settings of few and of many values at any epsilon, made with nothing else unless it is needed."""
    needed = NEEDED.get(name, lambda _: {})
    pairs = [(k, epsilon) for k in (*_FEW_VALUES, *_MANY_VALUES) for epsilon in EPSILONS]
    pairs += [(1000, epsilon) for epsilon in _BELOW_ALL_USE]
    return [{"k": k, "epsilon": epsilon, **needed(k)} for k, epsilon in pairs]


def small_settings() -> list[tuple[str, dict[str, Any]]]:
    """Every mechanism with each of its small settings."""
    return [(name, setting) for name in dn.list_mechanisms() for setting in SMALL.get(name, _USUAL)]


def one_of(name: str, **changes: Any) -> Mechanism:
    """A small mechanism of this name, for checks that need just one."""
    return dn.mechanism(name, **{**one_setting(name), **changes})


def last_of(name: str) -> Mechanism:
    """The last of its small mechanisms, in which faults of its answers are planted."""
    return dn.mechanism(name, **SMALL.get(name, _USUAL)[-1])


def one_setting(name: str) -> dict[str, Any]:
    """What `one_of` is made with."""
    return SMALL.get(name, _USUAL)[-2]


def sized(name: str, k: int, epsilon: float) -> Mechanism:
    """A mechanism of this name for k values; a design is the projective plane of that many points."""
    order = {q * q + q + 1: q for q in (2, 3, 5, 7)}
    extra = {"blocks": projective_plane(order[k])} if name == "design" else {}
    return dn.mechanism(name, k=k, epsilon=epsilon, **extra)


def large_one(name: str) -> Mechanism:
    """A mechanism of this name for some hundred values."""
    return dn.mechanism(name, **LARGE.get(name, lambda: {"k": 500, "epsilon": 3.0})())


def enumerable_bits(m: Mechanism, limit: int = 22) -> int:
    """The most bits a word may have when all words of a report are tried."""
    if m.name in DRAWS:
        return min(limit, _MOST_BITS) // DRAWS[m.name](m)
    return min(11, limit // m.stride)


def coarse_bits(m: Mechanism) -> int:
    """Few bits, but enough for every coin to differ from a fair one."""
    return max(5, min(8, 22 // m.stride))
