"""The likelihood of a distribution given counts of reports, and its exact maximum for randomised response."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.estimation.channel import Operator, PureChannel
from deniable.estimation.methods.simplex import shared_out, survivors


def log_likelihood(frequencies: Floats, counts: Counts, operator: Operator) -> float:
    """Average log-probability of a report, sum_j (count_j/n) log Pr[report j]."""
    seen = counts > 0
    probability = operator.forward(frequencies)[seen]
    return float(counts[seen] @ np.log(probability)) / float(counts.sum())


def most_likely(counts: Counts, channel: PureChannel) -> Floats:
    """The maximum-likelihood distribution under randomised response, exactly.

    Formula: with a = p/q - 1, drop count < s/(R + a);  f = (count R - s)/(s a) + count/s.
    The differences are taken between integers, so only the last roundings remain.
    Guarantee: the unique maximiser; sums to 1 within a few roundings.
    Cost: linear in the number of values (see simplex.py), typically 3 to 9 passes.
    Reference: Kairouz, Bonawitz, Ramage 2016, section F; MLE* in Pinzón et al. 2026, Theorem 1.
    """
    odds = channel.gain / channel.q
    num, den = odds.numerator, odds.denominator
    left = survivors(counts, lambda s, size: -(-(s * den) // (size * den + num)))
    centre, rest = divmod(left.total, left.size)
    slope = float(1 / (left.total * odds))
    return shared_out(counts, left, centre, rest, slope, share=1 / left.total, offset=0.0)
