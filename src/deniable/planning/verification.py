"""The standard error of a mechanism in simulations, beside the one that formulas predict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.core.domain.open import Open
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.forecasts.built import forecast
from deniable.mechanisms.forecasts.hashed import KINDS, open_forecast
from deniable.randomness.simulated import generator
from deniable.simulation import simulate

SKEW = 1.3  # of the Zipf data that is simulated


@dataclass(frozen=True)
class Verification:
    """Root mean squared errors of the unbiased estimate, over all values and runs: predicted and simulated.

    `std_error` is the standard error of `simulated` over the runs.
    """

    predicted: float
    simulated: float
    std_error: float
    runs: int

    def __str__(self) -> str:
        return (
            f"simulated error {self.simulated:.3%} ± {self.std_error:.3%} in {self.runs} runs, "
            f"predicted {self.predicted:.3%}"
        )


def zipf_counts(k: int, n: int, skew: float = SKEW) -> Counts:
    """Counts of n users, proportional to 1/rank^skew but for rounding."""
    shares = np.arange(1, k + 1) ** -skew
    true: Counts = np.floor(n * shares / shares.sum()).astype(np.int64)
    true[0] += n - true.sum()
    return true


def verified(made: Mechanism, values: int, n: int, runs: int, seed: int) -> Verification:
    """Simulate n users with Zipf data `runs` times."""
    whole(2, runs=runs)
    true = zipf_counts(values, n)
    squares = np.array([_squared_error(made, true, seed + run) for run in range(runs)])
    simulated = math.sqrt(squares.mean())
    spread = float(squares.std(ddof=1)) / math.sqrt(runs) / (2 * simulated)
    return Verification(math.sqrt(_predicted(made, values) / n), simulated, spread, runs)


def _predicted(made: Mechanism, values: int) -> float:
    if isinstance(made.domain, Open):
        parameters = made.spec.parameters
        return open_forecast(KINDS[made.name], values, made.epsilon, parameters).mean_variance
    return forecast(made.name, values, made.epsilon).mean_variance


def _squared_error(made: Mechanism, true: Counts, seed: int) -> float:
    n = int(true.sum())
    if not isinstance(made.domain, Open):
        return float(((made.unbiased(simulate(made, true, seed=seed)) - true / n) ** 2).mean())
    return float(((_least_squares(made, true, seed) - true / n) ** 2).mean())


def _least_squares(made: Mechanism, true: Counts, seed: int) -> Floats:
    """The estimate of placeholder candidates of an open domain."""
    from deniable.mechanisms.cohorts.base import CohortMechanism
    from deniable.planning.tuning import numbered

    assert isinstance(made, CohortMechanism)
    indices = made.domain.indices(numbered(len(true)))
    counts = made.simulated_among(indices, true, generator(seed))
    summary = Summary(counts, int(true.sum()), made.fingerprint, simulated=True)
    design = made.functions.design(indices, complete=True)
    return made.cohort_cells(summary, design).solution[: len(true)]
