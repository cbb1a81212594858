"""The mechanisms in this paper's pictures, made as published, with ours beside them, and their data."""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1

import numpy as np

from deniable.core.arrays import Counts
from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
from deniable.randomness.simulated import generator
from papers.mss.published_moduli import FLOOR, drawn_moduli, subset_size

THEIRS = ("grr", "oue", "ss", "pgr", "mss")  # as published; pgr is decoded by our transform
OURS = ("pgr weighed", "csr", "clh", "mss searched")
LABELS = {
    "pgr": "pgr, published geometry",
    "pgr weighed": "pgr, our geometry",
    "mss": "mss, moduli as published",
    "mss searched": "mss, our moduli",
}


@lru_cache(maxsize=32)
def made(name: str, k: int, epsilon: float, seed: int = 0, rounding: str = FLOOR) -> Mechanism | None:
    """Make a mechanism of the pictures; None if it refuses these parameters. The seed draws the moduli of "mss"."""
    if name == "mss":
        return drawn_modular(k, epsilon, seed, rounding)
    if name == "ss":
        return mechanism("ss", k=k, epsilon=epsilon, w=subset_size(k, epsilon, rounding))
    if name == "pgr":
        return mechanism("pgr", k=k, epsilon=epsilon, rule="published")
    try:
        return mechanism(name.split()[0], k=k, epsilon=epsilon)
    except InvalidArgument:
        return None


def drawn_modular(k: int, epsilon: float, seed: int, rounding: str = FLOOR) -> ModularSubsetSelection:
    """Modular Subset Selection with moduli drawn, and subsets sized, as published."""
    moduli = drawn_moduli(k, epsilon, seed, rounding)
    sizes = tuple(subset_size(m, epsilon, rounding) for m in moduli)
    return ModularSubsetSelection(k, epsilon, moduli=moduli, sizes=sizes)  # type: ignore[arg-type]


def optimum(epsilon: float, n: int = 1) -> float:
    """4e/(n (e - 1)^2), the error that all mechanisms but randomised response are said to reach."""
    return 4 * exp(epsilon) / (n * expm1(epsilon) ** 2)


def data(name: str, k: int, n: int, seed: int) -> Counts:
    """True counts of n users: "zipf" draws values with probability as 1/rank^3, "spike" gives all users value 0."""
    if name == "spike":
        counts = np.zeros(k, np.int64)
        counts[0] = n
        return counts
    chances = 1 / np.arange(1.0, k + 1) ** 3
    return generator(seed).multinomial(n, chances / chances.sum()).astype(np.int64)
