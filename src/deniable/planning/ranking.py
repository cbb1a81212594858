"""How many of the most frequent values a ranking of estimates finds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.channel import noise_at
from deniable.mechanisms.forecasts.forecast import Forecast

_STEPS = 50  # of a bisection
_ALONE = 60  # ranks beyond the top that are kept one by one
_GROUPS = 100  # of the ranks beyond these, whose shares are nearly equal


@dataclass(frozen=True, eq=False)
class Ranks:
    """Values by falling share: the first one by one, the others in groups of `sizes` values of nearly one share."""

    shares: Floats
    sizes: Floats

    @staticmethod
    def zipf(k: int, s: float, top: int) -> Ranks:
        """Shares proportional to 1/rank^s."""
        shares: Floats = np.arange(1, k + 1, dtype=float) ** -s
        shares /= shares.sum()
        alone = min(k, top + _ALONE)
        ends = np.unique(np.geomspace(alone, k, _GROUPS).astype(np.int64))
        starts = np.concatenate([np.arange(alone), ends[:-1]])
        sizes = np.diff(starts, append=k).astype(float)
        return Ranks(np.add.reduceat(shares, starts) / sizes, sizes)

    def expected(self, forecast: Forecast, n: float, top: int) -> float:
        """The expected number of the `top` most frequent values among the `top` largest estimates.

        Formula: sum over the first t of Phi((f_v - c)/sd_v), where c solves sum over all v of the same = t.
        """
        spread = np.sqrt(np.maximum(noise_at(forecast.noise, self.shares) / n, 1e-300))
        low, high = -10 * float(spread.max()), 1.0 + 10 * float(spread.max())
        for _ in range(_STEPS):
            cut = (low + high) / 2
            passed = float(self.sizes @ _normal((self.shares - cut) / spread))
            low, high = (cut, high) if passed > top else (low, cut)
        return float(_normal((self.shares[:top] - low) / spread[:top]).sum())

    def users(self, forecast: Forecast, top: int, level: float) -> float:
        """Users with which all `top` values are found with this probability: at most 1 - level is missed on average."""
        low, high = 1.0, 1e18
        while high > 1.001 * low:
            middle = math.sqrt(low * high)
            missed = top - self.expected(forecast, middle, top)
            low, high = (low, middle) if missed <= 1 - level else (middle, high)
        return high


def _normal(z: Floats) -> Floats:
    """The normal distribution function: a loop over few numbers, to be spared loading SciPy."""
    return np.array([math.erfc(-x / math.sqrt(2)) / 2 for x in z.tolist()])
