"""Continuous noises to which discrete Laplace noise can be converted: Laplace and Staircase, with exact densities.

Each is the discrete noise Z plus an independent step W from (-1, 1), whose density w is given here. For r from 0 to 1
the density of Z + W at u = k + r is (1 - q)/(1 + q) q^k (w(r) + q w(1 - r)).

Reference: Lemma 9, Theorems 10 and 17 of Hillebrand et al. 2026; Geng and Viswanath 2014 for Staircase noise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.validate import strictly_between
from deniable.counts.noise import half_variance, rate_of


@dataclass(frozen=True)
class ContinuousNoise(ABC):
    """Noise whose density falls by the factor q from u to u + 1, for u >= 0."""

    q: Fraction

    @property
    def rate(self) -> float:
        """log(1/q)."""
        return rate_of(self.q)

    @abstractmethod
    def density(self, noise: Any) -> Any:
        """The density of the noise."""

    @abstractmethod
    def step_density(self, step: Any) -> Any:
        """The density w of the step that is added to discrete Laplace noise."""

    @abstractmethod
    def steps(self, source: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw independent steps."""

    @abstractmethod
    def step_moment(self, power: int) -> Fraction:
        """E[W^power], exact for the given parameters."""

    def moment(self, power: int) -> Fraction:
        """E[U^power] of the noise U = Z + W."""
        pairs = ((discrete_moment(self.q, i), self.step_moment(power - i)) for i in range(power + 1))
        return sum((math.comb(power, i) * z * w for i, (z, w) in enumerate(pairs)), Fraction(0))


def discrete_moment(q: Fraction, power: int) -> Fraction:
    """E[Z^power] of discrete Laplace noise, exactly.

    1/E[e^(tZ)] = 1 - a (e^t - 2 + e^-t), so M_k = 2a (C(k, 2) M_(k-2) + C(k, 4) M_(k-4) + ...).
    """
    moments = [Fraction(1)]
    a = half_variance(q)
    for k in range(1, power + 1):
        moments.append(2 * a * sum(math.comb(k, i) * moments[k - i] for i in range(2, k + 1, 2)))
    return moments[power] if power % 2 == 0 else Fraction(0)


def converted_density(noise: ContinuousNoise, point: Any) -> Any:
    """The density of Z + W by Lemma 9, which must equal `noise.density`."""
    size = np.abs(np.asarray(point, np.float64))
    whole = np.floor(size)
    rest, q = size - whole, float(noise.q)
    return (1 - q) / (1 + q) * q**whole * (noise.step_density(rest) + q * noise.step_density(1 - rest))


@dataclass(frozen=True)
class Laplace(ContinuousNoise):
    """Laplace noise of scale 1/rate: density (rate/2) e^(-rate |u|)."""

    @property
    def scale(self) -> float:
        """b = 1/rate = sensitivity/epsilon."""
        return 1 / self.rate

    def density(self, noise: Any) -> Any:
        return self.rate / 2 * np.exp(-self.rate * np.abs(noise))

    def step_density(self, step: Any) -> Any:
        # w(u) = rate (e^(-rate |u|) - q^2 e^(rate |u|)) / (2 (1 - q)^2)
        size, r = np.abs(np.asarray(step, np.float64)), self.rate
        inside = r * np.exp(-r) * np.sinh(r * (1 - size)) / float(1 - self.q) ** 2
        return np.where(size <= 1, inside, 0.0)

    def steps(self, source: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        # Pr[|W| <= v] = p solved for X = e^(-rate v):  X^2 - B X + q^2 = 0,  B = 2q + (1 - q)^2 (1 - p)
        q, gap, tail = float(self.q), float(1 - self.q), source.random(shape)  # tail is 1 - p
        part = gap * gap * tail
        grown = q + part / 2 + gap / 2 * np.sqrt(tail * (4 * q + part))
        sizes = np.minimum(-np.log(np.minimum(grown, 1.0)) / self.rate, 1.0)
        return np.asarray(np.where(source.random(shape) < 0.5, -sizes, sizes))

    def step_moment(self, power: int) -> Fraction:
        # E[e^(tW)] = E[e^(tU)]/E[e^(tZ)], with E[U^k] = k!/rate^k and 1/E[e^(tZ)] = 1 - a (e^t - 2 + e^-t)
        m, a = [_laplace_moment(self.rate, k) for k in range(power + 1)], half_variance(self.q)
        return m[power] - 2 * a * sum(math.comb(power, i) * m[power - i] for i in range(2, power + 1, 2))

    def moment(self, power: int) -> Fraction:
        return _laplace_moment(self.rate, power)


def _laplace_moment(rate: float, power: int) -> Fraction:
    return Fraction(0) if power % 2 else math.factorial(power) / Fraction(rate) ** power


@dataclass(frozen=True)
class Staircase(ContinuousNoise):
    """Staircase noise: density A up to `shape`, then A q up to 1, and q times that in every further unit.

    A = (1 - q)/(2 (shape + q (1 - shape))). With sensitivity D the discrete noise has q = e^(-epsilon/D) and stairs of
    length 1, not D; it is still epsilon-private at that sensitivity.
    """

    shape: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", strictly_between(0, 1, shape=self.shape))

    @property
    def height(self) -> Fraction:
        """A, the density at zero."""
        gamma = Fraction(self.shape)
        return (1 - self.q) / (2 * (gamma + self.q * (1 - gamma)))

    def density(self, noise: Any) -> Any:
        size = np.abs(np.asarray(noise, np.float64))
        whole = np.floor(size)
        return float(self.height) * float(self.q) ** (whole + (size - whole >= self.shape))

    def pieces(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Intervals of |step|, each with its density (s(u) - q s(1 - u))/(1 - q)^2: low end, high end, density."""
        gamma, q = Fraction(self.shape), self.q
        edges = [Fraction(0), min(gamma, 1 - gamma), max(gamma, 1 - gamma), Fraction(1)]
        found = []
        for low, high in pairwise(edges):
            middle = (low + high) / 2
            here, mirrored = (self.height * (1 if u < gamma else q) for u in (middle, 1 - middle))
            found.append((low, high, (here - q * mirrored) / (1 - q) ** 2))
        return found

    def step_density(self, step: Any) -> Any:
        size, out = np.abs(np.asarray(step, np.float64)), np.zeros(np.shape(step))
        for low, high, density in self.pieces():
            out = np.where((size >= float(low)) & (size < float(high)), float(density), out)
        return out

    def steps(self, source: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        pieces = self.pieces()
        chances = np.array([float(2 * (high - low) * density) for low, high, density in pieces])
        piece = source.choice(len(pieces), shape, p=chances / chances.sum())
        low, high = (np.array([float(part[end]) for part in pieces])[piece] for end in (0, 1))
        sizes = low + (high - low) * source.random(shape)
        return np.asarray(np.where(source.random(shape) < 0.5, -sizes, sizes))

    def step_moment(self, power: int) -> Fraction:
        if power % 2:
            return Fraction(0)
        degree = power + 1
        parts = (2 * density * (high**degree - low**degree) / degree for low, high, density in self.pieces())
        return sum(parts, Fraction(0))
