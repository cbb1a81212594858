"""Any channel as an operator, given as its matrix: the simplest way to offer all likelihood methods."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class MatrixOperator:
    """The channel C[value, report] as a matrix."""

    matrix: Floats

    def forward(self, weights: Floats) -> Floats:
        return weights @ self.matrix

    def adjoint(self, scores: Floats) -> Floats:
        return self.matrix @ scores

    def adjoint_squared(self, scores: Floats) -> Floats:
        return (self.matrix**2) @ scores
