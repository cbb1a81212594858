"""Conversion of a discrete Laplace release to Laplace or Staircase noise, at the same epsilon and sensitivity.

An independent step from (-1, 1) is added to each count (Theorems 10 and 17 of Hillebrand et al. 2026). Anyone who has
the release can do so: it costs no privacy, and a discrete release loses nothing that the other noises offer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.display import brief
from deniable.core.errors import InvalidArgument
from deniable.counts.continuous.noises import ContinuousNoise, Laplace, Staircase
from deniable.counts.release import Release
from deniable.counts.whole import fits_floats
from deniable.randomness.simulated import generator


@dataclass(frozen=True, eq=False)
class ContinuousRelease:
    """Frozen counts with continuous noise: `values`, their `noise`, and its epsilon and sensitivity."""

    values: Floats
    noise: ContinuousNoise
    epsilon: float
    sensitivity: int
    simulated: bool = False

    def __post_init__(self) -> None:
        values = np.array(self.values, np.float64)
        if values.size == 0 or not np.isfinite(values).all():
            raise InvalidArgument("values", "be one or more finite numbers", self.values)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.values.shape)) or "1"
        return brief(self, "simulated" if self.simulated else "", counts=size, noise=type(self.noise).__name__)


def to_laplace(release: Release, *, seed: int | None = None) -> ContinuousRelease:
    """Convert a release to one with the distribution of Laplace noise of scale sensitivity/epsilon."""
    return _converted(release, Laplace(_of(release).noise.q), seed)


def to_staircase(release: Release, shape: float, *, seed: int | None = None) -> ContinuousRelease:
    """Convert a release to one with the distribution of Staircase noise of this shape (gamma, between 0 and 1)."""
    return _converted(release, Staircase(_of(release).noise.q, shape), seed)


def _of(release: object) -> Release:
    if not isinstance(release, Release):
        raise InvalidArgument("release", "be a Release", release)
    return release


def _converted(release: Release, noise: ContinuousNoise, seed: int | None) -> ContinuousRelease:
    if not fits_floats(release.values):
        raise InvalidArgument("release", "hold counts below 2^53", "larger counts")
    source = generator(int.from_bytes(os.urandom(16), "big") if seed is None else seed)
    values = release.values + noise.steps(source, release.shape)
    return ContinuousRelease(values, noise, release.epsilon, release.sensitivity, release.simulated)
