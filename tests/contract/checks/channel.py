"""The exact channel sums to one, keeps within epsilon, and is what the operator multiplies by."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np

from deniable.estimation.channel import Listing
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.bounds import exponential_below
from tests.contract.checks.payloads import payload_array

# The exact channel: for each report its probability under every value.
Table = dict[Payload, list[Fraction]]


def channel_of(m: Mechanism) -> Table:
    """All probabilities, of the indices; the first and the last report are asked for in public, under every value."""
    table = {payload: [m._probability(payload, index) for index in range(m.k)] for payload in m.layout.all()}
    for payload in (next(iter(table)), next(reversed(table))):
        assert [m.probability(payload, value) for value in m.domain.all_labels()] == table[payload]
    return table


def check_channel_sums_to_one(m: Mechanism, table: Table | None = None) -> None:
    columns = (table or channel_of(m)).values()
    for index in range(m.k):
        assert sum(column[index] for column in columns) == 1


def check_largest_ratio_is_within_epsilon(m: Mechanism, table: Table | None = None) -> None:
    largest = max(max(column) / min(column) for column in (table or channel_of(m)).values())
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


def check_reconstruction_rate(m: Mechanism, table: Table | None = None) -> None:
    # the best guess takes, for each report, the value under which it is likeliest
    assert m.reconstruction_rate() == sum(map(max, (table or channel_of(m)).values())) / len(m.domain.all_labels())


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
