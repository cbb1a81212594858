"""Slow, obvious twins of discrete Laplace noise and of the debiasing operators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np


def draw_noise(words: Sequence[int], thresholds: Sequence[int]) -> tuple[list[int], list[bool]]:
    """The numbers, and which of them are undecided."""
    numbers, undecided = [], []
    stride = len(thresholds) // 2
    for start in range(0, len(words), stride):
        halves = [half for word in words[start : start + stride] for half in (int(word) % 2**32, int(word) >> 32)]
        *digits, negative, more = [half < threshold for half, threshold in zip(halves, thresholds, strict=True)]
        number = sum(2**place for place, digit in enumerate(digits) if digit)
        numbers.append(-1 - number if negative else number)
        undecided.append(more or any(half == threshold for half, threshold in zip(halves, thresholds, strict=True)))
    return numbers, undecided


def window(q: Fraction, tail: float = 2.0**-80) -> tuple[np.ndarray, np.ndarray]:
    """The noise and its probabilities, as far as they exceed a tail."""
    far = math.ceil(math.log(tail) / math.log(q)) + 1
    noise = np.arange(-far, far + 1)
    return noise, np.array([float((1 - q) / (1 + q)) * float(q) ** abs(int(z)) for z in noise])


def expectation(g: Callable[[int], float], x: int, q: Fraction) -> float:
    """E[g(x + Z)], summed without loss."""
    noise, chance = window(q)
    return math.fsum(float(p) * g(x + int(z)) for z, p in zip(noise, chance, strict=True))


def operate(f: Callable[[int], float], y: int, a: float) -> float:
    """Theorem 1, as it is written."""
    return f(y) - a * (f(y + 1) - 2 * f(y) + f(y - 1))


def operate_many(f: Callable[[tuple[int, ...]], float], y: Sequence[int], a: float) -> float:
    """Theorem 2, all 3^d terms."""
    weights = {-1: -a, 0: 1 + 2 * a, 1: -a}
    return math.fsum(
        math.prod(weights[s] for s in step) * f(tuple(y_i + s for y_i, s in zip(y, step, strict=True)))
        for step in itertools.product((-1, 0, 1), repeat=len(y))
    )
