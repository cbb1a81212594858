"""What a mechanism will cost for a question, known before it is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from deniable.estimation.channel import Noise, for_target, noise_at


@dataclass(frozen=True)
class Forecast:
    """The costs of one mechanism for k values at one epsilon.

    `noise` has the coefficients of n Var[unbiased estimate of f] for the target "users"; `spent` is the epsilon that
    the mechanism really spends; `attack` is how often the best guess of a value from one report is right, all values
    equally likely. With `by_id` the server computes a part of the report, of `id_bits` bits, from the report's id;
    without ids that part is sent as well. `average` says that the noise is an average over values, so that intervals
    hold on average over values. `options` make the mechanism, together with its domain and epsilon.
    """

    name: str
    k: int
    epsilon: float
    spent: float
    noise: tuple[float, float, float]
    bits: int
    attack: float
    by_id: bool = False
    id_bits: int = 0
    average: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def variance(self, f: float = 0.0, n: float = 1, target: str = "users") -> float:
        """The variance of the unbiased estimate of a value whose frequency is f, from n reports."""
        return float(noise_at(self._noise(target), f)) / n

    @property
    def mean_variance(self) -> float:
        """n Var averaged over all values, whose frequencies are 1/k on average."""
        return self.variance(1 / self.k)

    def worst(self, target: str = "users") -> float:
        """The largest n Var over all frequencies."""
        return worst_noise(self._noise(target))

    def margin(self, n: float, f: float | None = 0.0, *, level: float, values: int = 1) -> float:
        """Half the width of the interval of a value with frequency f (None: the worst), or of `values` at once."""
        variance = self.worst() if f is None else self.variance(f)
        return quantile(level, values) * math.sqrt(variance / n)

    def sent(self, *, ids: bool) -> int:
        """Bits per report that are sent, whether or not the server knows the ids of reports."""
        return self.bits if ids else self.bits + self.id_bits

    def _noise(self, target: str) -> Noise:
        v0, v1, _ = self.noise
        return for_target(v0, v1, target)


def worst_noise(noise: Noise) -> float:
    """The largest n Var over all frequencies: it is linear in f, or a quadratic that opens downwards."""
    _, v1, v2 = noise
    inner = [-v1 / (2 * v2)] if v2 < 0 < -v1 / (2 * v2) < 1 else []
    return max(float(noise_at(noise, f)) for f in (0.0, 1.0, *inner))


def quantile(level: float, values: int = 1) -> float:
    """The two-sided normal quantile of a level, divided among this many values."""
    return -NormalDist().inv_cdf((1 - level) / values / 2)
