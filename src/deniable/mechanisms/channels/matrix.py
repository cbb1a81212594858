"""A channel that the user brings as a matrix of probabilities.

Reference: Agrawal and Haritsa 2005 (perturbation matrices); Kairouz, Oh, Viswanath 2016 (finite channels).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.channels.finite_channel import FiniteChannel
from deniable.mechanisms.channels.inverse import LinearInverse
from deniable.mechanisms.channels.rounding import Rows, checked_rows


@dataclass(frozen=True)
class MatrixMechanism(FiniteChannel):
    """A channel of your own, "matrix".

    `matrix` has a row for each value and a column for each report: the probabilities of the reports, as floats,
    Fractions, or strings such as "1/3". All must be positive, each row must sum to 1, and no row may be a mixture of
    others. A report may be at most e^epsilon times as likely under one value as under another.

    >>> m = MatrixMechanism(["low", "high"], epsilon=1.0, matrix=[[0.7, 0.3], [0.3, 0.7]])
    >>> m.guarantee().epsilon < 0.85
    True
    """

    name: ClassVar[str] = "matrix"
    version: ClassVar[int] = 1

    matrix: Rows = CHOSEN  # any matrix of numbers, which must be given; kept as tuples

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del domain
        given = parameters.get("matrix")
        widths = [len(row) for row in given if isinstance(row, list | tuple)] if isinstance(given, list | tuple) else []
        entries, width, square = sum(widths), max(widths, default=0), len(widths) ** 2
        return Cost(
            cells=width,
            tables=max(entries, square),  # the inverse is tested by a product of values by values
            building=1500 * entries + 24 * square,
            nanoseconds=45_000 * entries + 5 * width * square,  # the singular values
        )

    def _settled(self) -> Mapping[str, Any]:
        return {"matrix": checked_matrix(self.matrix, self.k)}

    def _parameters(self) -> dict[str, Any]:
        return {"matrix": [list(row) for row in self.matrix]}

    def ideal(self) -> Rows:
        return self.matrix


def checked_matrix(matrix: Any, k: int) -> Rows:
    """Return a matrix for k values as a spec writes it, or raise InvalidArgument saying what is wrong with it."""
    rows = checked_rows(matrix, k)
    if not LinearInverse(np.array([[float(Fraction(entry)) for entry in row] for row in rows])).exists:
        fewer = len(rows[0]) < len(rows)
        hint = "It has fewer reports than values." if fewer else "Two rows are alike, or one is a mixture of others."
        raise InvalidArgument("matrix", "tell the values apart", f"{len(rows)} by {len(rows[0])}", hint)
    return rows
