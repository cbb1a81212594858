"""The exact channel sums to one, keeps within epsilon, and is what the operator multiplies by."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.extras import needed
from deniable.estimation.channel import Listing, entries
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.randomness.bounds import exponential_below
from deniable.testing.checks.payloads import payload_array
from deniable.testing.expectations import require, require_alike, require_equal

# The exact channel: for each report its probability under every value.
Table = dict[Payload, list[Fraction]]


def channel_of(m: Mechanism) -> Table:
    """All probabilities, of the indices; the first and the last report are asked for in public, under every value."""
    table = {payload: [m._probability(payload, index) for index in range(m.k)] for payload in m.layout.all()}
    for payload in (next(iter(table)), next(reversed(table))):
        public = [m.probability(payload, value) for value in m.domain.all_labels()]
        require_equal(public, table[payload], f"probability({payload!r}, value)")
    return table


def check_channel_sums_to_one(m: Mechanism, table: Table | None = None) -> None:
    """The exact probabilities of all reports sum to 1 under every value."""
    columns = (table or channel_of(m)).values()
    for index in range(m.k):
        total = sum(column[index] for column in columns)
        require(total == 1, f"the probabilities of value {index} must sum to 1, got 1 + {float(total - 1):.6g}")


def check_largest_ratio_is_within_epsilon(m: Mechanism, table: Table | None = None) -> None:
    """The guarantee is the largest ratio of the exact channel, and at most e^epsilon."""
    columns = (table or channel_of(m)).items()
    impossible = [payload for payload, column in columns if min(column) == 0]
    require(not impossible, f"reports {impossible[:3]} must be possible for every value, or for none and left out")
    largest = max(max(column) / min(column) for _, column in columns)
    bound = exponential_below(m.epsilon)
    guarantee = m.guarantee()
    require_equal(guarantee.ratio, largest, "the ratio that is guaranteed")
    require(largest <= bound, f"the largest ratio, {float(largest)!r}, must be at most e^epsilon, {float(bound)!r}")
    with needed():
        import flint

    with flint.ctx.workprec(300):
        log_ratio = flint.arb(flint.fmpq(largest.numerator, largest.denominator)).log()
        below = flint.arb(flint.fmpq(bound.numerator, bound.denominator)) <= flint.arb(m.epsilon).exp()
        require(below, "the bound of ratios must be at most e^epsilon")
        require(flint.arb(guarantee.epsilon) >= log_ratio, "the epsilon that is guaranteed must be rounded up")
        left = flint.arb(m.epsilon) - log_ratio
        require(0 <= flint.arb(guarantee.slack) <= left, "the slack must be what is left of epsilon, rounded down")


def check_reconstruction_rate(m: Mechanism, table: Table | None = None) -> None:
    """The attack rate is that of the best guess: for each report, the value under which it is likeliest."""
    best = sum(map(max, (table or channel_of(m)).values())) / len(m.domain.all_labels())
    require_equal(m.reconstruction_rate(), best, "the reconstruction rate")


def check_operator_is_the_channel(m: Mechanism, seed: int) -> None:
    """The columns of the operator are the cells of a summary, of which each counts one report."""
    matrix = np.zeros((m.k, m.layout.cells))
    for payload in m.layout.all():
        counts = m.summarize(payload_array(m, [payload])).counts
        one = counts.sum() == counts.max() == 1
        require(one, "a summary that carries the likelihood must count a report in one cell")
        matrix[:, counts.argmax()] += [float(m._probability(payload, index)) for index in range(m.k)]
    check_operator_is(m.operator(), matrix, seed)


def check_operator_is(operator: Any, matrix: Floats, seed: int) -> None:
    """An operator multiplies by that matrix, a row for each value, and lists its entries if it can."""
    rng = np.random.default_rng(seed)
    weights, scores = rng.random(len(matrix)), rng.random(matrix.shape[1])
    require_alike(operator.forward(weights), weights @ matrix, "operator.forward")
    require_alike(operator.adjoint(scores), matrix @ scores, "operator.adjoint")
    require_alike(operator.adjoint_squared(scores), matrix**2 @ scores, "operator.adjoint_squared", rtol=1e-11)
    if isinstance(operator, Listing):
        values, reports = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
        require_alike(entries(operator, values, reports), matrix[np.ix_(values, reports)], "operator.codes")
