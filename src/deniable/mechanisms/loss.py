"""Errors of designs relative to the optimum; `bound` is e^epsilon."""

from __future__ import annotations


def optimum(bound: float) -> float:
    """n Var that no mechanism beats for many values: 4E/(E - 1)^2."""
    return 4 * bound / (bound - 1) ** 2


def balanced_channel(bound: float, set_size: int, modulus: int) -> tuple[float, float]:
    """p and q of a balanced design: sets of `set_size` of `modulus` elements."""
    total = set_size * bound + modulus - set_size
    overlap = set_size * (set_size - 1) / (modulus - 1)
    return set_size * bound / total, (overlap * bound + set_size - overlap) / total


def balanced_loss(bound: float, set_size: int, modulus: int) -> float:
    """Variance at f = 0, over the optimum, of a balanced design."""
    p, q = balanced_channel(bound, set_size, modulus)
    return q * (1 - q) / (p - q) ** 2 / optimum(bound)


def least_loss(bound: float, k: int) -> float:
    """The loss of the best set size on exactly k values, which no design beats."""
    around = max(1, min(k - 1, int(k / (bound + 1))))
    return min(balanced_loss(bound, w, k) for w in (around, min(around + 1, k - 1)))


def least_variance(bound: float, k: int) -> float:
    """n Var of the best design on exactly k values."""
    return least_loss(bound, k) * optimum(bound)
