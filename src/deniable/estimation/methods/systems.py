"""Symmetric systems known only by their products: conjugate gradients, and pivoting for nonnegative solutions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.core.arrays import Floats, Mask

Linear = Callable[[Floats], Floats]

_CG_ROUNDS = 500
_PIVOTS = 100
_PATIENCE = 5
_SLOPE = 1e-14
_TOLERANCE = 1e-10


def solve(
    product: Linear,
    wanted: Floats,
    start: Floats | None,
    precondition: Linear,
    *,
    rounds: int,
    tolerance: float,
    negligible: float = 0.0,
    left: float = 0.0,
    ratio: float = 0.0,
) -> tuple[Floats, int]:
    """x with product(x) = wanted, and the steps it took; `start` is zero unless given.

    Ends when the residual, in the norm of the preconditioner, is at most `tolerance` times the residuals of `start`
    and of zero, so that a poor start does not give a poor answer; or when a step has lowered the squared error, in the
    norm of the system itself, by no more than `negligible`; or when the squared error that is `left` is no larger than
    this, if what steps take from it falls as from the last step to this one, or by `ratio` if that is slower. The
    system may be singular if it is consistent: x then moves from `start` only in directions that matter.
    Reference: Hestenes and Stiefel 1952, also for the error by which a step lowers it (theorem 6:1).
    """
    solution, residual = np.zeros(len(wanted)), wanted.copy()
    if start is not None:
        solution, residual = start.copy(), residual - product(start)
    scaled = precondition(residual)
    direction = scaled.copy()
    norm = float(residual @ scaled)
    enough = max(tolerance**2 * min(norm, float(wanted @ precondition(wanted))), 1e-30)
    last = np.inf
    for step in range(rounds):
        if norm <= enough:
            return solution, step
        image = product(direction)
        length = norm / float(direction @ image)
        solution += length * direction
        taken = length * norm
        if taken <= negligible or _rest(taken, last, ratio) <= left:
            return solution, step + 1
        last = taken
        residual -= length * image
        scaled = precondition(residual)
        norm, previous = float(residual @ scaled), norm
        direction *= norm / previous
        direction += scaled
    return solution, rounds


def _rest(taken: float, last: float, ratio: float) -> float:
    """What further steps would take: taken (r + r^2 + ...), with r the ratio of the last two steps, or a larger one."""
    r = max(ratio, taken / last)
    return taken * r / (1 - r) if 0 < last < np.inf and r < 1 else np.inf


def inverse_form(
    product: Linear, vector: Floats, scale: float, *, rounds: int, left: float, ratio: float = 0.0
) -> float:
    """vector A^-1 vector, where product(x) = A x; `scale` is a rough inverse of A.

    The form is the sum over all steps of conjugate gradients of what they take from the squared error.
    That falls about geometrically, by the ratio of the last two, or by `ratio` if that is slower: the rest of the
    series is added in one piece as soon as it is at most the share `left` of the form.
    Reference: Golub and Meurant 2010, section 5.
    """
    residual, direction = vector.copy(), scale * vector
    norm, total, last = scale * float(vector @ vector), 0.0, np.inf
    for _ in range(rounds):
        if norm <= 0:
            break
        image = product(direction)
        length = norm / float(direction @ image)
        taken = length * norm
        total += taken
        rest = _rest(taken, last, ratio)
        if rest <= left * total:
            return total + rest
        last = taken
        residual -= length * image
        norm, previous = scale * float(residual @ residual), norm
        direction *= norm / previous
        direction += scale * residual
    return total


def nonnegative(
    product: Linear,
    diagonal: Floats,
    wanted: Floats,
    free: Mask,
    start: Floats,
    *,
    tolerance: float = _TOLERANCE,
) -> Floats:
    """x >= 0 that maximises wanted x - x product(x)/2, from a guess of the free entries, those that are not zero.

    Solve on the free entries; exchange all that break a sign rule (free and negative, or dropped with a
    positive slope); when exchanging all stops helping, exchange only the last one, which must terminate.
    `tolerance` is the relative residual of each system.
    Reference: Kim and Park 2011, section 3.
    """
    free = free.copy()
    solution = np.where(free, start, 0.0)
    fewest, patience, scale = len(start) + 1, _PATIENCE, max(1.0, float(np.abs(wanted).max()))
    for _ in range(_PIVOTS):
        solution = _solve_free(product, diagonal, wanted, free, solution, tolerance)
        slope = wanted - product(solution)
        wrong = np.where(free, solution < 0, slope > _SLOPE * scale)
        broken = int(wrong.sum())
        if broken == 0:
            break
        if broken < fewest:
            fewest, patience = broken, _PATIENCE
        elif patience > 0:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free ^= wrong
        solution = np.where(free, np.clip(solution, 0.0, 1.0), 0.0)  # the next start; large values only round
    return np.maximum(solution, 0.0)


def _solve_free(
    product: Linear, diagonal: Floats, wanted: Floats, free: Mask, start: Floats, tolerance: float
) -> Floats:
    """Solve product(x) = wanted on the free entries, preconditioned by the diagonal; the others stay zero."""
    scale = np.where(free, 1 / diagonal, 0.0)
    solution, _ = solve(
        lambda vector: np.where(free, product(vector), 0.0),
        np.where(free, wanted, 0.0),
        start,
        lambda residual: scale * residual,
        rounds=min(_CG_ROUNDS, int(free.sum()) + 5),
        tolerance=tolerance,
    )
    return solution
