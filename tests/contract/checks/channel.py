"""The exact channel sums to one, keeps within epsilon, and is what the operator multiplies by."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np

from deniable.estimation.channel import Listing
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.bounds import exponential_below
from tests.contract.checks.payloads import payload_array


def check_channel_sums_to_one(m: Mechanism) -> None:
    for value in m.domain.all_labels():
        assert sum(m.probability(payload, value) for payload in m.layout.all()) == 1


def check_largest_ratio_is_within_epsilon(m: Mechanism) -> None:
    largest = Fraction(0)
    for payload in m.layout.all():
        column = [m.probability(payload, value) for value in m.domain.all_labels()]
        largest = max(largest, max(column) / min(column))
    bound = exponential_below(m.epsilon)
    guarantee = m.guarantee()
    assert largest == guarantee.ratio, "the guarantee must be that of the channel"
    assert guarantee.ratio <= bound
    with flint.ctx.workprec(300):
        e_epsilon = flint.arb(m.epsilon).exp()
        assert flint.arb(flint.fmpq(bound.numerator, bound.denominator)) <= e_epsilon
        log_ratio = flint.arb(flint.fmpq(guarantee.ratio.numerator, guarantee.ratio.denominator)).log()
        assert flint.arb(guarantee.epsilon) >= log_ratio
        assert 0 <= flint.arb(guarantee.slack) <= flint.arb(m.epsilon) - log_ratio


def check_reconstruction_rate(m: Mechanism) -> None:
    # the best guess takes, for each report, the value under which it is likeliest
    labels = m.domain.all_labels()
    best = sum(max(m.probability(payload, value) for value in labels) for payload in m.layout.all())
    assert m.reconstruction_rate() == best / len(labels)


def check_operator_is_the_channel(m: Mechanism, seed: int) -> None:
    """Its columns are the cells of a summary, of which each counts one report."""
    matrix = np.zeros((m.k, m.layout.cells))
    for payload in m.layout.all():
        counts = m.summarize(payload_array(m, [payload])).counts
        assert counts.sum() == counts.max() == 1, "a summary that carries the likelihood counts a report in one cell"
        matrix[:, counts.argmax()] += [float(m._probability(payload, index)) for index in range(m.k)]
    check_operator_is(m.operator(), matrix, seed)


def check_operator_is(operator: Any, matrix: np.ndarray, seed: int) -> None:
    """It multiplies by that matrix, a row for each value, and lists its entries if it can."""
    rng = np.random.default_rng(seed)
    weights, scores = rng.random(len(matrix)), rng.random(matrix.shape[1])
    np.testing.assert_allclose(operator.forward(weights), weights @ matrix, rtol=1e-12)
    np.testing.assert_allclose(operator.adjoint(scores), matrix @ scores, rtol=1e-12)
    np.testing.assert_allclose(operator.adjoint_squared(scores), matrix**2 @ scores, rtol=1e-11)
    if isinstance(operator, Listing):
        values, reports = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
        np.testing.assert_allclose(operator.entries(values, reports), matrix[np.ix_(values, reports)], rtol=1e-12)
