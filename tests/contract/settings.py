"""Which small settings of each mechanism the contract is checked on, and how its words are enumerated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
        {"k": 2, "epsilon": 1.0, "cohorts": 3, "buckets": 2},
        {"k": 5, "epsilon": 3.0, "cohorts": 3, "buckets": 3, "hashes": 2},
        {"k": 5, "epsilon": 2.0, "cohorts": 4, "buckets": 3},
        {"k": 4, "epsilon": 5.0, "cohorts": 2, "buckets": 4, "hashes": 2},
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

# What else a mechanism is made with where every report of domains of a few values is tried, so that there are few.
GRID: dict[str, dict[str, Any]] = {
    "cms": {"cohorts": 4, "buckets": 4},
    "hcms": {"cohorts": 4, "buckets": 8},
    "orappor": {"cohorts": 4},
    "orr": {"cohorts": 16},
    "she": {"reach": 1},
}

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


# Mechanisms for any k and epsilon of the contract's grid; the others refuse some, with the reason.
SERVES_ALL = ("blh", "cms", "flh", "grr", "hcms", "hr", "mss", "orappor", "oue", "rhr", "she", "ss", "sue", "the")


def small_settings() -> list[tuple[str, dict[str, Any]]]:
    """Every mechanism with each of its small settings."""
    return [(name, setting) for name in dn.list_mechanisms() for setting in SMALL.get(name, _USUAL)]


def one_of(name: str, **changes: Any) -> Mechanism:
    """A small mechanism of this name, for checks that need just one."""
    return dn.mechanism(name, **{**SMALL.get(name, _USUAL)[-2], **changes})


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
