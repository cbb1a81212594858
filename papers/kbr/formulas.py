"""The expected losses of Propositions 3 and 4, as printed, and the function of Proposition 5's proof."""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats
from papers.kbr.sources import K_RR


def squared_loss(name: str, p: Floats, epsilon: float, n: int) -> float:
    """E l2^2 of the empirical estimator of k-RR (Proposition 3) or k-RAPPOR (Proposition 4)."""
    return float((1 - (p**2).sum()) / n + extra(name, len(p), epsilon) / n)


def extra(name: str, k: int, epsilon: float) -> float:
    """n times the part of E l2^2 due to privacy, for any distribution."""
    if name == K_RR:
        gain = math.expm1(epsilon)
        return (k - 1) * (k + 2 * gain) / gain**2
    gain = math.expm1(epsilon / 2)
    return k * (1 + gain) / gain**2


def absolute_loss(name: str, p: Floats, epsilon: float, n: int) -> float:
    """E l1 of the empirical estimator for many users."""
    gain, others = (math.expm1(epsilon), len(p) - 1) if name == K_RR else (math.expm1(epsilon / 2), 1)
    products = (gain * p + 1) * (gain * (1 - p) + others)
    return float(np.sqrt(2 * products / (math.pi * n * gain**2)).sum())


def advantage(epsilon: float, k: int) -> float:
    """f(epsilon, k) of section D: the cost of privacy for k-RAPPOR over that for k-RR."""
    # k/(k-1) ((e - 1)/(sqrt e - 1))^2 sqrt e/(2e + k - 2)
    root = math.exp(epsilon / 2)
    return k / (k - 1) * (root + 1) ** 2 * root / (2 * root**2 + k - 2)
