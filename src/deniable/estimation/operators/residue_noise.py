"""The noise that subsets of residues leave in a histogram: exact for each value, averaged over all or a sample.

A report (j, Z) adds (l/n) (1[r in Z] - pi_j)/(p_j - q_j) to the residues r of modulus m_j, pi_j = w_j/m_j. For a sender
of residue t the second moments of 1[r in Z] - pi over residues r are, by symmetry and since they sum to zero,
    a (I - 1 1^T/m) + d u u^T,  u = e_t - 1/m,
and the estimate of value v weighs the residues by b = W A G^-1 e_v, one solution with the Gram matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.estimation.channel import Noise, for_target
from deniable.estimation.operators.residues import DENSE, ResidueSystem, evenly
from deniable.estimation.tails import Steps

EVERY = 640  # up to this many values, averages are over all of them
_SAMPLE = 32  # most evenly spaced values averaged over beyond that
_SAMPLED = 2**20  # entries in all their rows
_EXACTLY, _CLOSELY = 1e-13, 3e-4  # residuals; the second is far below the sampling error


@dataclass(frozen=True)
class SubsetChannel:
    """Subset selection on m residues: w of them are sent, the sender's residue with probability p, another with q."""

    m: int
    w: int
    p: float
    gain: float  # p - q
    q: float

    @property
    def weight(self) -> float:
        """(p - q)^2 / (pi (1 - pi)): one over the variance of a residue's estimate from one report."""
        pi = self.w / self.m
        return self.gain**2 / (pi * (1 - pi))

    def moments(self) -> tuple[float, float]:
        """a and d: from the two variances about pi, of the sender's residue and of another."""
        m, pi, q = self.m, self.w / self.m, self.q
        other = q * (1 - pi) ** 2 + (1 - q) * pi**2  # = a (1 - 1/m) + d/m^2
        # for the sender's residue, p (1 - pi)^2 + (1 - p) pi^2 = a (1 - 1/m) + d (1 - 1/m)^2
        d = self.gain * (1 - 2 * pi) / (1 - 2 / m) if m > 2 else 0.0
        return (other - d / m**2) / (1 - 1 / m), d


@dataclass(frozen=True, eq=False)
class Profile:
    """The centred weights of the residues of one modulus in an estimate: numbers, or one per value."""

    channel: SubsetChannel
    own: Any  # the weight of the value's residue
    squares: Any  # the sum of the squares of all weights
    beside: Any  # the mean of the squares of all others
    tables: Floats | None  # the squares of all, a row per value, if there are few values

    def moment(self, shares: Floats, residues: Indices) -> Floats:
        """The second moment of a report's contribution, for these shares of users, without its scale."""
        a, d = self.channel.moments()
        own = shares[residues]
        seen = self.own**2 * own + self.beside * (1 - own) if self.tables is None else self.tables @ shares
        return np.asarray(a * self.squares + d * seen)


@dataclass(frozen=True)
class ResidueNoise:
    """Variance that a report adds to an estimate, for senders of the estimated value and of any other."""

    system: ResidueSystem
    channels: tuple[SubsetChannel, ...]

    @cached_property
    def centre(self) -> Floats:
        """h: the estimate if all residues of a modulus were equally frequent."""
        even = np.concatenate([np.full(m, 1 / m) for m in self.system.moduli])
        return self.system.solve(self.system.tile(even), tolerance=self._tolerance)[0]

    @property
    def _tolerance(self) -> float:
        return _EXACTLY if self.system.k <= EVERY else _CLOSELY

    @cached_property
    def sample(self) -> Indices:
        """All values up to `EVERY`, else evenly spaced ones, the fewer the more work each is."""
        k = self.system.k
        # the Gram matrix is the same if the order of all values is reversed, so that one half stands for both
        return np.arange(k) if k <= EVERY else evenly(-(-k // 2), max(2, min(_SAMPLE, _SAMPLED // k)))

    @cached_property
    def _sample_weights(self) -> list[Floats]:
        return self._weights(self.sample)

    def of_weights(self, weights: Floats) -> Floats:
        """n Var of the weighted sum of the estimate, if all users had one value; one entry per value."""
        k = self.system.k
        found = np.zeros(k)
        for centred, channel in zip(self._on_residues(weights), self.channels, strict=True):
            a, d = channel.moments()
            added = a * (centred @ centred) + d * centred**2
            found += len(self.channels) / channel.gain**2 * added[np.arange(k) % channel.m]
        return np.maximum(found - (weights - weights @ self.centre) ** 2, 0.0)

    def additions(self, weights: Floats) -> tuple[float, float]:
        """The least and the most that a report adds to n times the weighted sum: by w residues of one modulus."""
        least, most = [], []
        for centred, channel in zip(self._on_residues(weights), self.channels, strict=True):
            order, scale = np.sort(centred), len(self.channels) / channel.gain
            least.append(scale * float(order[: channel.w].sum()))
            most.append(scale * float(order[-channel.w :].sum()))
        constant = float(weights @ self.centre)
        return min(least) + constant, max(most) + constant

    def _on_residues(self, weights: Floats) -> list[Floats]:
        """For each modulus, the weights of the residues in a weighted sum of the estimate, less their mean."""
        sums = self.system.blocks(self.system.fold(self.system.solve(weights)[0]))
        return [weight * (folded - folded.mean()) for weight, folded in zip(self.system.weights, sums, strict=True)]

    def _weights(self, values: Indices) -> list[Floats]:
        """For each modulus, b less its mean: the weights of the residues in the estimates of these values."""
        k = self.system.k
        if k <= DENSE:
            rows = np.linalg.inv(self.system.matrix())[values]
        else:
            rows = np.array([self.system.inverse_row(value, self._tolerance) for value in values.tolist()])
        found = []
        for weight, channel in zip(self.system.weights, self.channels, strict=True):
            padded = np.zeros((len(values), -(-k // channel.m) * channel.m))
            padded[:, :k] = rows
            b = weight * padded.reshape(len(values), -1, channel.m).sum(axis=1)
            found.append(b - b.mean(axis=1, keepdims=True))
        return found

    def of_values(self, values: Indices) -> tuple[Floats, Floats]:
        """For each value, the variance that its senders add to its estimate, and that others add on average."""
        k = self.system.k
        own, total = np.zeros(len(values)), np.zeros(len(values))
        weights = self._sample_weights if values is self.sample else self._weights(values)
        for centred, channel in zip(weights, self.channels, strict=True):
            m, (a, d), scale = channel.m, channel.moments(), self._scale(channel)
            common = a * (centred**2).sum(axis=1)
            carriers = np.bincount(np.arange(k) % m, minlength=m)  # the number of values with each residue
            own += scale * (common + d * centred[np.arange(len(values)), values % m] ** 2)
            total += scale * (k * common + d * (centred**2) @ carriers)
        # less the squares of the means, which are 1 - h for the value itself and -h for others
        h = self.centre[values]
        others = (total - own) / (k - 1) - h**2
        return own - (1 - h) ** 2, others

    def _scale(self, channel: SubsetChannel) -> float:
        return len(self.channels) / channel.gain**2

    @cached_property
    def _profiles(self) -> tuple[Profile, ...]:
        """The weights of a value's residues, by modulus: of each value up to `EVERY`, else averages over a sample."""
        values, every = self.sample, self.system.k <= EVERY
        found = []
        for centred, channel in zip(self._sample_weights, self.channels, strict=True):
            own = centred[np.arange(len(values)), values % channel.m]
            squares = (centred**2).sum(axis=1)
            beside = (squares - own**2) / (channel.m - 1)
            tables = centred**2 if every else None
            parts = [part if every else part.mean() for part in (own, squares, beside)]
            found.append(Profile(channel, parts[0], parts[1], parts[2], tables))
        return tuple(found)

    def given(self, residues: Floats, target: str) -> Noise:
        """Coefficients of n Var per value (channel.py), for these frequencies of the residues."""
        k, moment = self.system.k, np.zeros(self.system.k)
        for profile, shares in zip(self._profiles, self.system.blocks(np.clip(residues, 0.0, 1.0)), strict=True):
            moment += self._scale(profile.channel) * profile.moment(shares, np.arange(k) % profile.channel.m)
        # the senders of the value are among those of its residues: only the square of their mean differs
        return for_target(np.maximum(moment - self.centre**2, 0.0), 2 * self.centre - 1, target)

    def steps(self, target: str) -> Steps:
        """The largest step of an estimate, by one residue; its variance is least if nobody else shares a residue."""
        up: Any = 0.0
        alone: Any = 0.0
        extra: Any = 0.0
        for profile in self._profiles:
            channel, (a, d), scale = profile.channel, profile.channel.moments(), self._scale(profile.channel)
            up = np.maximum(up, len(self.channels) / channel.gain * np.abs(profile.own))
            alone = alone + scale * (a * profile.squares + d * profile.beside)
            extra = extra + scale * d * (profile.own**2 - profile.beside)
        least = for_target(np.maximum(alone - self.centre**2, 0.0), extra - 1 + 2 * self.centre, target)
        return Steps(up, up, least)

    @cached_property
    def _sampled(self) -> tuple[Floats, Floats]:
        return self.of_values(self.sample)

    @cached_property
    def average(self) -> tuple[float, float]:
        """Both variances of `of_values`, averaged over all values up to `EVERY`, else over an even sample."""
        own, others = self._sampled
        return float(own.mean()), float(others.mean())

    @property
    def accuracy(self) -> float:
        """The relative standard error of the averages, as for a random sample; zero if all values were taken."""
        if self.system.k <= EVERY:
            return 0.0
        return max(float(each.std() / each.mean()) for each in self._sampled) / math.sqrt(len(self.sample))
