"""Errors of the naive and the unbiased answer to a question, and the best mixture of the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Number = Any  # a float, or an array of floats for many answers at once


@dataclass(frozen=True)
class Moments:
    """Errors of the naive and the unbiased answer, computed as if the noisy counts were the true ones (the plug-in).

    `bias` and `naive_variance` belong to the naive answer, which puts the question to the noisy counts themselves;
    `variance` is the variance of the unbiased answer, `covariance` the covariance of the two.
    """

    bias: Number
    naive_variance: Number
    variance: Number
    covariance: Number

    @property
    def naive_mse(self) -> Number:
        """Mean square error of the naive answer."""
        return self.bias**2 + self.naive_variance

    def weight(self) -> Number:
        """The weight w for which w unbiased + (1 - w) naive has the least mean square error."""
        # MSE(w) = w^2 V + (1 - w)^2 N + 2 w (1 - w) C;  least at w = (N - C)/(V + N - 2 C)
        with np.errstate(invalid="ignore"):
            denominator = np.asarray(self.variance + self.naive_mse - 2 * self.covariance, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(np.equal(denominator, 0), 1.0, (self.naive_mse - self.covariance) / denominator)
        endless = ~np.isfinite(np.asarray(self.variance, np.float64))
        return plain(np.clip(np.where(endless, 0.0, share), 0.0, 1.0))

    def mse(self, weight: Number) -> Number:
        """Mean square error of weight unbiased + (1 - weight) naive."""
        rest = 1 - weight
        with np.errstate(invalid="ignore"):
            unbiased = np.where(np.equal(weight, 0), 0.0, weight**2 * self.variance)
            naive = np.where(np.equal(rest, 0), 0.0, rest**2 * self.naive_mse)
            both = np.where(np.equal(weight * rest, 0), 0.0, 2 * weight * rest * self.covariance)
        return plain(unbiased + naive + both)


def plain(number: npt.ArrayLike) -> Number:
    """Return a float, or an array of floats."""
    array = np.asarray(number, np.float64)
    return array if array.ndim else float(array)
