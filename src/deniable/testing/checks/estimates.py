"""The estimate is unbiased, a mean over reports, and has the stated variance."""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.testing.checks.payloads import payload_array
from deniable.testing.expectations import require, require_close


def check_unbiased_and_variance(m: Mechanism) -> None:
    """By every report of every value: the unbiased estimate has the right mean and the stated variance."""
    # one report determines everything, since the estimate is the mean of what single reports say
    chance, says = _channel_and_estimates(m)
    scale = float(np.abs(says).max()) ** 2
    require_close(chance @ says, np.eye(m.k), "the mean of the unbiased estimate and the truth", scale=scale)
    spread = chance @ says**2 - np.eye(m.k)  # [value, estimated value]: variance that one such user adds
    own, others = np.diag(spread), spread[~np.eye(m.k, dtype=bool)]
    if m.channel is None:  # not pure: the stated variance is the average over values
        own, others = np.array([own.mean()]), np.array([others.mean()])
    require_close(own, m.variance(1.0, target="users"), "variance(1.0) and the enumerated one", scale=scale)
    require_close(others, m.variance(0.0, target="users"), "variance(0.0) and the enumerated one", scale=scale)
    mixed = (0.3 * own.mean() + 0.7 * others.mean()) / 7
    require_close(m.variance(0.3, n=7), mixed, "variance(0.3, n=7) and the enumerated one", scale=scale)
    sampling = m.variance(0.3, n=7, target="population") - m.variance(0.3, n=7, target="users")
    require_close(sampling, 0.3 * 0.7 / 7, "the sampling error and f(1 - f)/n", scale=scale)


def check_variances_of_weighted_sums(m: Mechanism, seed: int) -> None:
    """By every report of every value: the variance that a user adds to weighted sums of the unbiased estimate."""
    chance, says = _channel_and_estimates(m)
    random = np.random.default_rng(seed).normal(size=(2, m.k))
    for weights in (*random, np.eye(m.k)[0], np.arange(m.k) - (m.k - 1) / 2):
        adds = says @ weights
        wanted = chance @ adds**2 - (chance @ adds) ** 2
        scale = float(np.abs(adds).max()) ** 2
        require_close(m.variances_of(weights), wanted, "variances_of and the enumerated ones", scale=scale)


def check_supporters(m: Mechanism) -> None:
    """A report supports a value or not, counts add up, and senders of a value support it more often than others."""
    possible = list(m.layout.all())
    units = [m.supporters(m.summarize(payload_array(m, [payload]))) for payload in possible]
    together = m.supporters(m.summarize(payload_array(m, possible)))
    if together is None:
        require(m.channel is None, "a pure mechanism must state its supporters")
        require(all(unit is None for unit in units), "supporters must be known of every summary, or of none")
        return
    supports = np.array(units)
    require(set(np.unique(supports)) == {0, 1}, "a report must support a value or not")
    require((supports.sum(axis=0) == together).all(), "the supporters of a value must add up over reports")
    found = _chances(m, possible) @ supports
    more = np.diag(found) > (found.sum(axis=0) - np.diag(found)) / (m.k - 1)
    require(more.all(), "a value must be supported more often by its senders than by others")


def check_estimate_is_a_mean_over_reports(m: Mechanism, seed: int) -> None:
    """The unbiased estimate from several reports is the mean of those from each."""
    possible = list(m.layout.all())
    chosen = [possible[place] for place in np.random.default_rng(seed).integers(0, len(possible), 9)]
    mean = np.mean([_unbiased(m, [payload]) for payload in chosen], axis=0)
    scale = float(np.abs(mean).max())
    require_close(_unbiased(m, chosen), mean, "the unbiased estimate and its mean over reports", scale=scale)


def check_error_is_the_stated_one(m: Mechanism, true: Counts, method: str, seed: int) -> None:
    """Over users enough that the mean squared error of k values is near what `variance` says."""
    n = int(true.sum())
    estimate = m.estimate(m.summarize(m.privatize(np.repeat(np.arange(m.k), true), seed=seed)), method)
    squared = float(((estimate.frequencies - true / n) ** 2).mean())
    expected = float(np.mean([m.variance(f, n) for f in true / n]))
    if method == "unbiased":
        off = (6 * math.sqrt(2 / m.k) + 0.03) * expected
        require(abs(squared - expected) <= off, f"the mean squared error must be {expected:.6g}, got {squared:.6g}")
    else:
        require(squared <= 1.05 * expected, f"{method} must err less than {expected:.6g}, got {squared:.6g}")


def _channel_and_estimates(m: Mechanism) -> tuple[Floats, Floats]:
    """The probability of each report under each value, and the estimate from each report alone."""
    possible = list(m.layout.all())
    return _chances(m, possible), np.array([_unbiased(m, [payload]) for payload in possible])


def _chances(m: Mechanism, possible: list[Payload]) -> Floats:
    labels = m.domain.all_labels()
    return np.array([[float(m.probability(payload, value)) for payload in possible] for value in labels])


def _unbiased(m: Mechanism, payloads: list[Payload]) -> Floats:
    return m.estimate(m.summarize(payload_array(m, payloads)), "unbiased").frequencies
