"""Which small settings of each mechanism the contract is checked on, and how its words are enumerated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import deniable as dn
from deniable.mechanisms.base import Mechanism

_USUAL = [{"k": k, "epsilon": epsilon} for k in (2, 3, 5) for epsilon in (0.5, 1.0, 3.0)]

# Settings small enough to enumerate every report and every word; the usual ones unless named here.
SMALL: dict[str, list[dict[str, Any]]] = {}

# All words of one report, where the plain grid of every_word is not it: (mechanism, bits) -> rows of words.
WORDS: dict[str, Callable[[Mechanism, int], np.ndarray]] = {}


def small_settings() -> list[tuple[str, dict[str, Any]]]:
    """Every mechanism with each of its small settings."""
    return [(name, setting) for name in dn.mechanisms() for setting in SMALL.get(name, _USUAL)]


def one_of(name: str) -> Mechanism:
    """A small mechanism of this name, for checks that need just one."""
    return dn.mechanism(name, **SMALL.get(name, _USUAL)[-2])


def enumerable_bits(m: Mechanism, limit: int = 22) -> int:
    """The most bits a word may have when all words of a report are tried."""
    return min(11, limit // m.stride)


def coarse_bits(m: Mechanism) -> int:
    """Few bits, but enough for every coin to differ from a fair one."""
    return max(5, min(8, 22 // m.stride))
