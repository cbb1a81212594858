"""Iterative Bayesian update for any channel, with the stopping rule it lacked: a certified gap.

The average log-likelihood f(theta) = sum_j phi_j log (C^T theta)_j is concave with gradient
g = C (phi / C^T theta), and sum_i theta_i g_i = 1. Hence for d = max_i g_i - 1
    f(best) - f(theta) <= d,
so d, which costs nothing beyond the update itself, certifies how far from the maximum we are.

Two phases. SQUAREM extrapolates plain updates theta <- theta g while they move fast; it starts at equal
frequencies, and is left out if a better start is known, above all one with many zeros. Then Newton's
method: because f(theta) - sum(theta) has the same maximiser, the sum needs no constraint, and since
H theta = g the quadratic model is maximised over theta >= 0 by solving H x = 2 g - 1 on the free
values, dropping those that turn negative. H = C diag(phi / (C^T theta)^2) C^T is used as an operator,
by conjugate gradients. The certificate is always taken over all values, dropped ones included.

Reference: Agrawal and Aggarwal 2001 (the update); ElSalamouny and Palamidessi 2020 (its limit is the
maximum of the likelihood); Varadhan and Roland 2008 (SQUAREM).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deniable.estimation.channel import Operator
from deniable.estimation.pivoting import nonnegative

Floats = npt.NDArray[np.float64]

GAP = 1e-12  # in average log-likelihood: 1e-12 n nats over all reports
_STEP = 1e-11  # last Newton step in L1: the gap alone does not bound the distance
_EASY_GAP = 1e-3
_SQUAREM_ROUNDS = 30
_NEWTON_ROUNDS = 100
_PULL = 1e-9  # relative to the diagonal of H; it slows convergence by no more than this share


@dataclass(frozen=True)
class Maximum:
    """A maximiser of the likelihood, the certified gap in average log-likelihood, and the work done."""

    frequencies: Floats
    gap: float
    updates: int
    newton_steps: int


class ConvergenceWarning(UserWarning):
    """The certified gap asked for was not reached; the result says which one was."""


def iterate(
    counts: npt.NDArray[np.int64], operator: Operator, *, start: Floats | None = None, gap: float = GAP
) -> Maximum:
    """Maximise the likelihood of a distribution given the counts of reports.

    `start` is a distribution thought to be near; values it gives zero may come back. It decides how long it takes:
    the fewer values are free from the first step on, the fewer conjugate-gradient steps.
    """
    observed = _Observed(counts / counts.sum(), operator)
    values = len(operator.adjoint(observed.phi))
    theta, updates = np.full(values, 1.0 / values), 0
    if start is not None and observed.level(start) > observed.level(theta):
        theta = start
    else:
        theta, updates = _squarem(observed, theta)
    theta, certified, steps = _newton(observed, theta, gap)
    if certified > gap:
        warnings.warn(f"certified gap {certified:.2g} instead of {gap:.2g}", ConvergenceWarning, stacklevel=2)
    return Maximum(theta, certified, updates, steps)


@dataclass(frozen=True)
class _Observed:
    """The observed shares of reports and the channel that made them."""

    phi: Floats
    operator: Operator

    def reports(self, theta: Floats) -> Floats:
        return self.operator.forward(theta)

    def objective(self, reports: Floats) -> float:
        seen = self.phi > 0
        return float(self.phi[seen] @ np.log(reports[seen]))

    def level(self, theta: Floats) -> float:
        """The objective at a distribution that may make some of the reports impossible."""
        reports = self.reports(theta)
        possible = bool((reports[self.phi > 0] > 0).all())
        return self.objective(reports) if possible else -np.inf

    def gradient(self, reports: Floats) -> Floats:
        return self.operator.adjoint(self.phi / reports)


def _squarem(observed: _Observed, theta: Floats) -> tuple[Floats, int]:
    """Extrapolated updates until the easy gap; each round is two updates and one check."""
    updates = 0
    for _ in range(_SQUAREM_ROUNDS):
        reports = observed.reports(theta)
        gradient = observed.gradient(reports)
        if gradient.max() - 1 <= _EASY_GAP:
            break
        first = theta * gradient
        second = first * observed.gradient(observed.reports(first))
        updates += 2
        change, bend = first - theta, second - 2 * first + theta
        bend_norm = np.linalg.norm(bend)
        if bend_norm == 0:
            return second, updates
        reach = max(1.0, float(np.linalg.norm(change) / bend_norm))
        jump = np.maximum(theta + 2 * reach * change + reach**2 * bend, 1e-3 * second)
        jump /= jump.sum()
        worse = observed.objective(observed.reports(jump)) < observed.objective(reports)
        theta = second if worse else jump
    return theta, updates


def _newton(observed: _Observed, theta: Floats, wanted: float) -> tuple[Floats, float, int]:
    """Active-set Newton steps until the gap is certified and the steps have become tiny."""
    best, best_gap, step = theta, np.inf, np.inf
    steps = 0
    while steps < _NEWTON_ROUNDS:
        reports = observed.reports(theta)
        gradient = observed.gradient(reports)
        gap = float(gradient.max()) - 1
        if gap <= max(best_gap, wanted):  # below the wanted gap the later point is the more exact one
            best, best_gap = theta, gap
        if gap <= wanted and step <= _STEP:
            break
        target = _model_maximum(observed, theta, reports, gradient)
        following = _line_search(observed, theta, reports, gradient, target)
        if following is None:
            following = theta * gradient  # a plain update never lowers the likelihood
        step = float(np.abs(following - theta).sum())
        theta, steps = following, steps + 1
    return best, max(best_gap, 0.0), steps


def _model_maximum(observed: _Observed, theta: Floats, reports: Floats, gradient: Floats) -> Floats:
    """Maximise the quadratic model over theta >= 0.

    A tiny pull towards theta keeps the system definite where reports are too few to tell values apart.
    """
    weights = observed.phi / reports**2
    diagonal = observed.operator.adjoint_squared(weights)
    pull = _PULL * diagonal

    def product(vector: Floats) -> Floats:
        return observed.operator.adjoint(weights * observed.operator.forward(vector)) + pull * vector

    return nonnegative(product, diagonal, 2 * gradient - 1 + pull * theta, (theta > 0) | (gradient > 1), theta)


def _line_search(
    observed: _Observed, theta: Floats, reports: Floats, gradient: Floats, target: Floats
) -> Floats | None:
    """The first of the points 1, 1/2, 1/4, ... of the way that gains what the slope promises."""
    base = observed.objective(reports)
    rounding = 1e-14 * (1 + abs(base))
    promised = float((gradient - 1) @ (target - theta))
    share = 1.0
    while share > 1e-6:
        point: Floats = theta + share * (target - theta)
        total = point.sum()
        if total > 0:
            point /= total
            reached = observed.reports(point)
            if (reached[observed.phi > 0] > 0).all():
                gained = observed.objective(reached) - base
                if gained >= 1e-4 * share * promised - rounding:
                    return point
        share /= 2
    return None
