"""From a discrete Laplace release to one with Laplace or Staircase noise, at the same epsilon and sensitivity.

A step from (-1, 1), independent of everything, is added to each count (Theorems 10 and 17 of Hillebrand et al. 2026):
whoever has the release can do it, so it costs no privacy, and nothing that those noises allow is lost.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.errors import InvalidArgument
from deniable.counts.continuous.noises import ContinuousNoise, Laplace, Staircase
from deniable.counts.release import Release
from deniable.counts.whole import fits_floats
from deniable.randomness.simulated import generator


@dataclass(frozen=True, eq=False)
class ContinuousRelease:
    """Counts with continuous noise, frozen: `values`, the `noise` in them, and whose epsilon it is."""

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


def to_laplace(release: Release, *, seed: int | None = None) -> ContinuousRelease:
    """The release as if it had been made with Laplace noise of scale sensitivity/epsilon."""
    return _converted(release, Laplace(_of(release).noise.q), seed)


def to_staircase(release: Release, shape: float, *, seed: int | None = None) -> ContinuousRelease:
    """The release as if it had been made with Staircase noise of this shape (gamma, between 0 and 1)."""
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
