"""Reports and simulated summaries follow the channel: statistical checks, with their false alarms and power."""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.extras import needed
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.simulation import simulate
from deniable.testing.checks.payloads import payload_array, tally
from deniable.testing.expectations import require, require_equal

ALPHA = 1e-9  # false alarms of each statistical check
POWER = 0.9999  # of the chi-square of the sampler, for the defect it is asked to see


def chi_square_rejects(observed: Floats, expected: Floats) -> bool:
    """Whether Pearson's statistic exceeds its true quantile at ALPHA."""
    with needed():
        from scipy.stats import chi2

    used = expected > 0
    require(observed[~used].sum() == 0, "a report of probability 0 must not occur")
    statistic = float(((observed - expected)[used] ** 2 / expected[used]).sum())
    return bool(statistic > chi2.isf(ALPHA, int(used.sum()) - 1))


def samples_for(defect: float, cells: int) -> int:
    """Reports needed to see one cell off by `defect` of its expected share 1/cells, with power 99.99%.

    The statistic then has noncentrality n defect^2/cells.
    """
    with needed():
        from scipy.optimize import brentq
        from scipy.stats import chi2, ncx2

    limit = chi2.isf(ALPHA, cells - 1)
    enough = limit + 10 * math.sqrt(2 * (cells - 1) + 4 * limit)  # ten standard deviations beyond the quantile
    noncentrality = brentq(lambda nc: ncx2.sf(limit, cells - 1, nc) - POWER, 1.0, enough)
    return math.ceil(float(noncentrality) * cells / defect**2)


def check_sampler_follows_channel(m: Mechanism, seed: int, defect: float = 0.05) -> None:
    """Reports of every value follow the exact channel: a chi-square test with one false alarm in 10^9."""
    possible = {payload: place for place, payload in enumerate(m.layout.all())}
    n = samples_for(defect, len(possible))
    for value in m.domain.all_labels():
        reports = m.privatize(np.full(n, value), seed=seed)
        observed = np.zeros(len(possible))
        for payload, count in tally(reports.data).items():
            require(payload in possible, f"{payload!r} must be among the reports of the layout")
            observed[possible[payload]] = count
        expected = n * np.array([float(m.probability(payload, value)) for payload in possible])
        off = chi_square_rejects(observed, expected)
        require(not off, f"{n:,} reports of {value!r} must follow the channel; the chi-square test rejects that")


def check_simulation_follows_channel(m: Mechanism, seed: int) -> None:
    """Simulated summaries have the mean and the spread of the exact channel, cell by cell."""
    # all users have one value: each cell is then a sum of independent numbers, whose moments the channel gives
    n = 400_000
    cells_of = np.array([m.summarize(payload_array(m, [payload])).counts for payload in m.layout.all()])
    for index, value in enumerate(m.domain.all_labels()):
        true = np.zeros(m.k, np.int64)
        true[index] = n
        summary = simulate(m, true, seed=seed)
        require(summary.simulated, "a simulated summary must be marked")
        require_equal(summary.n, n, "the number of simulated reports")
        chances = np.array([float(m.probability(payload, value)) for payload in m.layout.all()])
        means = chances @ cells_of
        spread = np.sqrt(n * np.maximum(chances @ cells_of**2 - means**2, 0))
        near = np.abs(summary.counts - n * means) <= 6.2 * spread + 1e-6  # two-sided 1e-9 each
        require(near.all(), f"simulated counts of {value!r} must be near their mean; cell {near.argmin()} is not")


def check_a_device_draws_a_fresh_key_each_time(m: Mechanism) -> None:
    """Single reports, each with randomness of its own, follow the exact channel."""
    possible = {payload: place for place, payload in enumerate(m.layout.all())}
    value = m.domain.label(0)
    observed = np.zeros(len(possible))
    for _ in range(60 * len(possible)):
        observed[possible[m.privatize_one(value).payload]] += 1
    expected = observed.sum() * np.array([float(m.probability(payload, value)) for payload in possible])
    require(not chi_square_rejects(observed, expected), "reports made one by one must follow the channel")
