"""What a mechanism from outside the package is built on. These names are as stable as those of `deniable`.

A channel with finitely many reports is a matrix: `from_matrix` makes a mechanism of one, and a subclass of
`FiniteChannel` a family that computes it from k, epsilon and parameters of its own. Any other mechanism derives from
`Mechanism`, and states its thresholds, its layout and how a report is drawn. `register` makes a class known by name,
and `deniable.testing.check_mechanism` checks it as the package's own are checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from deniable.core.arrays import Counts, Floats, Indices, Payloads, Words
from deniable.core.domain import Domain, Label
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.channel import (
    Noise,
    Operator,
    PureChannel,
    TwoLevel,
    choice_threshold,
    for_target,
    replacement_threshold,
)
from deniable.estimation.evidence import Evidence, Solution
from deniable.estimation.operators.dense import MatrixOperator
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.channels.finite_channel import FiniteChannel
from deniable.mechanisms.channels.matrix import MatrixMechanism, checked_matrix
from deniable.mechanisms.channels.rounding import exact_ratio
from deniable.mechanisms.layouts.bitmaps import BitmapLayout
from deniable.mechanisms.layouts.layout import Layout, Payload
from deniable.mechanisms.layouts.subsets import SubsetLayout
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.mechanisms.outside import register, unregister
from deniable.mechanisms.registry import domain_of
from deniable.randomness.bounds import exponential_below, logarithm_above, rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

__all__ = [
    "CHOSEN",
    "MODULUS",
    "BitmapLayout",
    "Choices",
    "Counts",
    "Domain",
    "Evidence",
    "FiniteChannel",
    "Floats",
    "Fraction",
    "Indices",
    "InvalidArgument",
    "Layout",
    "MatrixMechanism",
    "MatrixOperator",
    "Mechanism",
    "Noise",
    "Operator",
    "Payload",
    "Payloads",
    "PureChannel",
    "Solution",
    "Steps",
    "SubsetLayout",
    "Summary",
    "SymbolLayout",
    "TwoLevel",
    "Words",
    "choice_threshold",
    "exponential_below",
    "for_target",
    "from_matrix",
    "register",
    "rejection_bound",
    "replacement_threshold",
    "unregister",
]


def from_matrix(
    matrix: Any,
    *,
    labels: Iterable[Label] | None = None,
    domain: Domain | None = None,
    epsilon: float | None = None,
) -> MatrixMechanism:
    """Make a mechanism of a matrix of probabilities: a row for each value, a column for each report.

    Entries are floats, Fractions or strings such as "1/3"; each row must sum to 1. Without labels or a domain, the
    values are 0..k-1. Epsilon is by default the least that the matrix keeps: the logarithm of its largest ratio.

    Raises `InvalidArgument` if some report rules a value out, if epsilon is less than the matrix needs, or if rows are
    mixtures of others, so that frequencies do not follow from reports.

    >>> m = from_matrix([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], labels=["low", "medium", "high"])
    >>> round(m.epsilon, 6), m.report_bits
    (1.791759, 2)
    """
    number = None if labels is not None or domain is not None else _rows(matrix)
    values = domain_of(number, labels, domain)
    rows = checked_matrix(matrix, values.k)
    return MatrixMechanism(values, logarithm_above(exact_ratio(rows)) if epsilon is None else epsilon, rows)


def _rows(matrix: Any) -> int:
    try:
        return len(matrix)
    except TypeError:
        raise InvalidArgument("matrix", "be rows of equal length, one per value", matrix) from None
