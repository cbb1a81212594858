"""Conjugate gradients: solve a symmetric system known only by its products."""

from __future__ import annotations

from collections.abc import Callable

from deniable.core.arrays import Floats

Linear = Callable[[Floats], Floats]


def solve(
    product: Linear, wanted: Floats, start: Floats, precondition: Linear, *, rounds: int, tolerance: float
) -> tuple[Floats, int]:
    """x with product(x) = wanted, and the steps it took.

    Ends when the residual, in the norm of the preconditioner, is at most `tolerance` times the residuals of `start`
    and of zero, so that a poor start does not give a poor answer. The system may be singular if it is consistent:
    x then moves from `start` only in directions that matter.
    Reference: Hestenes and Stiefel 1952.
    """
    solution = start
    residual = wanted - product(start)
    direction = scaled = precondition(residual)
    norm = float(residual @ scaled)
    enough = max(tolerance**2 * min(norm, float(wanted @ precondition(wanted))), 1e-30)
    for step in range(rounds):
        if norm <= enough:
            return solution, step
        image = product(direction)
        length = norm / float(direction @ image)
        solution = solution + length * direction
        residual = residual - length * image
        scaled = precondition(residual)
        norm, previous = float(residual @ scaled), norm
        direction = scaled + (norm / previous) * direction
    return solution, rounds
