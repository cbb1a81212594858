"""Iterative Bayesian update for any channel, with a stopping rule: a certified gap.

The average log-likelihood f(theta) = sum_j phi_j log (C^T theta)_j is concave with gradient
g = C (phi / C^T theta), and sum_i theta_i g_i = 1. Hence for d = max_i g_i - 1
    f(best) - f(theta) <= d,
so d, which costs nothing beyond the update itself, certifies the distance from the maximum.

There are two phases. SQUAREM extrapolates plain updates theta <- theta g while they move fast; it starts at equal
frequencies, and is skipped if a better start is known. Then Newton's method: because f(theta) - sum(theta) has the
same maximiser, the sum needs no constraint, and since H theta = g the quadratic model is maximised over theta >= 0
by solving H x = 2 g - 1 on the free values, dropping those that turn negative. H = C diag(phi / (C^T theta)^2) C^T is
used as an operator, by conjugate gradients, no more exactly than the gap requires.

Newton's method works on a set of values: the nonzero ones at its start, and in every step the values outside that
would gain most. If all values that gain entered at once there might be more of them than reports, H would be singular
on them, and nearly all would have to be dropped again one system after the other. The certificate always covers all
values.

Reference: Agrawal and Aggarwal 2001 (the update); ElSalamouny and Palamidessi 2020 (its limit is the
maximum of the likelihood); Varadhan and Roland 2008 (SQUAREM).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats, Integers
from deniable.estimation.channel import Operator
from deniable.estimation.methods.systems import nonnegative
from deniable.estimation.methods.working_set import SeenChannel, WorkingSet, admitted

GAP = 1e-12  # in average log-likelihood: 1e-12 n nats over all reports
_STEP = 1e-11  # last Newton step in L1: the gap alone does not bound the distance
_EASY_GAP = 1e-3
_SQUAREM_ROUNDS = 30
_NEWTON_ROUNDS = 100
_PRODUCTS = 20_000  # with H; the hardest problems known need a thousand
_EXACTNESS = (1e-10, 1e-2)  # smallest and largest tolerance of a Newton step
_OF_THE_GAP = 0.1  # tolerance of a Newton step between them, as a share of the gap
_NEGLIGIBLE = 0.1  # share of an equal frequency: values that plain updates bring below it start at zero
_SHRUNK = 4  # the working set is made anew when it has this many times more values than nonzero ones
_PULL = 1e-9  # relative to the diagonal of H; it slows convergence by no more than this share


@dataclass(frozen=True)
class Maximum:
    """A maximiser of the likelihood, the certified gap in average log-likelihood, and the work done.

    `products` counts products with the second derivatives, each two products with rows of the channel.
    """

    frequencies: Floats
    gap: float
    updates: int
    newton_steps: int
    products: int


class ConvergenceWarning(UserWarning):
    """The requested gap was not certified; the result has the gap that was."""


def iterate(counts: Integers, operator: Operator, *, start: Floats | None = None, gap: float = GAP) -> Maximum:
    """Maximise the likelihood of a distribution given the counts of reports.

    `start` is a distribution thought to be near; its zeros may become positive. The fewer values are nonzero, the
    less a step costs.
    """
    seen = np.flatnonzero(counts)
    values = len(operator.adjoint(counts / counts.sum()))
    observed = _Observed(counts[seen] / counts.sum(), SeenChannel(operator, seen, len(counts), values))
    theta, updates = np.full(values, 1.0 / values), 0
    if start is not None and observed.level(start) > observed.level(theta):
        theta = start
    else:
        theta, updates = _squarem(observed, theta)
        theta = _without_negligible(observed, theta)
    theta, certified, steps, products = _newton(observed, theta, gap)
    if certified > gap:
        message = f"The certified gap is {certified:.2g} instead of {gap:.2g}, after {products} products."
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    return Maximum(theta, certified, updates, steps, products)


@dataclass(frozen=True)
class _Observed:
    """The shares of the reports that were made, and the channel that made them."""

    phi: Floats
    channel: SeenChannel

    def reports(self, theta: Floats) -> Floats:
        return self.channel.pick(self.channel.operator.forward(theta))

    def objective(self, reports: Floats) -> float:
        return float(self.phi @ np.log(reports))

    def level(self, theta: Floats) -> float:
        """The objective at a distribution that may make some of the reports impossible."""
        reports = self.reports(theta)
        return self.objective(reports) if reports.min() > 0 else -np.inf

    def gradient(self, reports: Floats) -> Floats:
        return self.channel.gradient(self.phi / reports)


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


def _without_negligible(observed: _Observed, theta: Floats) -> Floats:
    """Set values far below an equal frequency to zero, unless that makes some report impossible."""
    kept = np.where(theta * len(theta) >= _NEGLIGIBLE, theta, 0.0)
    kept /= kept.sum()
    return kept if observed.level(kept) > -np.inf else theta


def _newton(observed: _Observed, theta: Floats, wanted: float) -> tuple[Floats, float, int, int]:
    """Take Newton steps on a working set until the gap over all values is certified and the steps are tiny."""
    best, best_gap, step = theta, np.inf, np.inf
    steps = products = 0
    part = observed.channel.restricted(np.flatnonzero(theta))
    while steps < _NEWTON_ROUNDS and products < _PRODUCTS:
        reports = part.forward(theta[part.values])
        gradient = observed.gradient(reports)
        gap = float(gradient.max()) - 1
        if gap <= max(best_gap, wanted):  # below the wanted gap the later point is more exact
            best, best_gap = theta, gap
        if gap <= wanted and step <= _STEP:
            break
        part = part.extended(admitted(gradient, part.values))
        here = _Point(observed.phi, part, theta[part.values], reports, gradient[part.values])
        target, work = here.model_maximum(float(np.clip(_OF_THE_GAP * gap, *_EXACTNESS)))
        following = here.line_search(target)
        step = float(np.abs(following - here.weights).sum())
        theta, steps, products = np.zeros(len(theta)), steps + 1, products + work
        theta[part.values] = following
        if _SHRUNK * np.count_nonzero(following) < len(following):
            part = observed.channel.restricted(np.flatnonzero(theta))
    return best, max(best_gap, 0.0), steps, products


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights of a working set, the distribution of reports under them, and the gradient there."""

    phi: Floats
    part: WorkingSet
    weights: Floats
    reports: Floats
    gradient: Floats

    def model_maximum(self, tolerance: float) -> tuple[Floats, int]:
        """Maximise the quadratic model over weights >= 0; also return the number of products with H.

        A tiny pull towards the weights keeps the system definite where reports are too few to tell values apart.
        """
        curvature = self.phi / self.reports**2
        diagonal = self.part.adjoint_squared(curvature)
        pull = _PULL * diagonal
        products = 0

        def product(vector: Floats) -> Floats:
            nonlocal products
            products += 1
            return self.part.adjoint(curvature * self.part.forward(vector)) + pull * vector

        wanted = 2 * self.gradient - 1 + pull * self.weights
        free = (self.weights > 0) | (self.gradient > 1)
        target = nonnegative(product, diagonal, wanted, free, self.weights, tolerance=tolerance)
        return target, products

    def line_search(self, target: Floats) -> Floats:
        """The first of the points 1, 1/2, 1/4, ... of the way that gains what the slope promises."""
        base = float(self.phi @ np.log(self.reports))
        rounding = 1e-14 * (1 + abs(base))
        promised = float((self.gradient - 1) @ (target - self.weights))
        share = 1.0
        while share > 1e-6:
            point: Floats = self.weights + share * (target - self.weights)
            total = point.sum()
            if total > 0:
                point /= total
                reached = self.part.forward(point)
                if reached.min() > 0:
                    gained = float(self.phi @ np.log(reached)) - base
                    if gained >= 1e-4 * share * promised - rounding:
                        return point
            share /= 2
        updated: Floats = self.weights * self.gradient  # a plain update never lowers the likelihood
        return updated
