"""The estimate is unbiased, a mean over reports, and has the stated variance."""

from __future__ import annotations

import math

import numpy as np

from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from tests.contract.checks.payloads import payload_array


def check_unbiased_and_variance(m: Mechanism) -> None:
    """One report determines everything, since the estimate is the mean of what single reports say."""
    possible = list(m.layout.all())
    labels = m.domain.all_labels()
    chance = np.array([[float(m.probability(payload, value)) for payload in possible] for value in labels])
    says = np.array([_unbiased(m, [payload]) for payload in possible])
    scale = float(np.abs(says).max()) ** 2
    _close(chance @ says, np.eye(m.k), scale)
    spread = chance @ says**2 - np.eye(m.k)  # [value, estimated value]: variance that one such user adds
    own, others = np.diag(spread), spread[~np.eye(m.k, dtype=bool)]
    if m.channel is None:  # not pure: the stated variance is the average over values
        own, others = np.array([own.mean()]), np.array([others.mean()])
    _close(own, np.full(own.shape, m.variance(1.0, target="users")), scale)
    _close(others, np.full(others.shape, m.variance(0.0, target="users")), scale)
    _close(np.array([m.variance(0.3, n=7)]), (0.3 * own.mean() + 0.7 * others.mean()) / 7, scale)
    sampling = m.variance(0.3, n=7, target="population") - m.variance(0.3, n=7, target="users")
    _close(np.array([sampling]), 0.3 * 0.7 / 7, scale)


def check_variances_of_weighted_sums(m: Mechanism, seed: int) -> None:
    """By every report of every value: the variance that a user adds to weighted sums of the unbiased estimate."""
    possible = list(m.layout.all())
    chance = np.array(
        [[float(m.probability(payload, value)) for payload in possible] for value in m.domain.all_labels()]
    )
    says = np.array([_unbiased(m, [payload]) for payload in possible])
    random = np.random.default_rng(seed).normal(size=(2, m.k))
    for weights in (*random, np.eye(m.k)[0], np.arange(m.k) - (m.k - 1) / 2):
        adds = says @ weights
        _close(m.variances_of(weights), chance @ adds**2 - (chance @ adds) ** 2, float(np.abs(adds).max()) ** 2)


def check_supporters(m: Mechanism) -> None:
    """A report supports a value or not, counts add up, and senders of a value support it more often than others."""
    possible = list(m.layout.all())
    units = [m.supporters(m.summarize(payload_array(m, [payload]))) for payload in possible]
    together = m.supporters(m.summarize(payload_array(m, possible)))
    if together is None:
        assert m.name == "she", f"{m.name} must state its supporters"
        return
    supports = np.array(units)
    assert set(np.unique(supports)) == {0, 1}
    assert (supports.sum(axis=0) == together).all()
    chance = np.array(
        [[float(m.probability(payload, value)) for payload in possible] for value in m.domain.all_labels()]
    )
    found = chance @ supports
    assert (np.diag(found) > (found.sum(axis=0) - np.diag(found)) / (m.k - 1)).all()


def check_estimate_is_a_mean_over_reports(m: Mechanism, seed: int) -> None:
    possible = list(m.layout.all())
    chosen = [possible[place] for place in np.random.default_rng(seed).integers(0, len(possible), 9)]
    mean = np.mean([_unbiased(m, [payload]) for payload in chosen], axis=0)
    _close(_unbiased(m, chosen), mean, float(np.abs(mean).max()))


def check_error_is_the_stated_one(m: Mechanism, true: np.ndarray, method: str, seed: int) -> None:
    """Over users enough that the mean squared error of k values is near what `variance` says."""
    n = int(true.sum())
    estimate = m.estimate(m.summarize(m.privatize(np.repeat(np.arange(m.k), true), seed=seed)), method)
    squared = float(((estimate.frequencies - true / n) ** 2).mean())
    expected = float(np.mean([m.variance(f, n) for f in true / n]))
    if method == "unbiased":
        assert abs(squared - expected) <= (6 * math.sqrt(2 / m.k) + 0.03) * expected
    else:
        assert squared <= 1.05 * expected


def _unbiased(m: Mechanism, payloads: list[Payload]) -> np.ndarray:
    return m.estimate(m.summarize(payload_array(m, payloads)), "unbiased").frequencies


def _close(found: np.ndarray, wanted: np.ndarray | float, scale: float) -> None:
    assert np.abs(found - wanted).max() <= 1e-11 * max(1.0, scale)
