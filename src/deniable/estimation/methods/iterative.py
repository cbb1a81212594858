"""Iterative Bayesian update for any channel, with a stopping rule: a certified gap.

The average log-likelihood f(theta) = sum_j phi_j log (C^T theta)_j is concave with gradient
g = C (phi / C^T theta), and sum_i theta_i g_i = 1. Hence for d = max_i g_i - 1
    f(best) - f(theta) <= d,
so d, which costs nothing beyond the update itself, certifies the distance from the maximum. To the second order
f(best) - f(theta) is half the squared distance in units of the information of one report; hence no weighted sum of
frequencies is off by more than sqrt(2 n d) of its standard error: 0.0005 of one for d = 1e-12 and 100,000 reports.

There are two phases. SQUAREM extrapolates plain updates theta <- theta g while they move fast; it starts at equal
frequencies, and is skipped if a better start is known. Then Newton's method: because f(theta) - sum(theta) has the
same maximiser, the sum needs no constraint, and since H theta = g the quadratic model is maximised over theta >= 0
by solving H x = 2 g - 1 on the free values, dropping those that turn negative. H = C diag(phi / (C^T theta)^2) C^T is
used as an operator, by conjugate gradients, no more exactly than the gap requires.

Newton's method works on a set of values: the nonzero ones at its start, and in every step the values outside that
would gain most. Of very many values, those with the largest unbiased estimates enter first, so that the first gradient
for all values is, if the guess was right, also the last: the certificate. If all values that gain entered at once there
might be more of them than reports, H would be singular on them, and nearly all would have to be dropped again one
system after the other. The certificate always covers all values.

Reference: Agrawal and Aggarwal 2001 (the update); ElSalamouny and Palamidessi 2020 (its limit is the
maximum of the likelihood); Varadhan and Roland 2008 (SQUAREM).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats, Integers
from deniable.estimation.channel import Operator
from deniable.estimation.methods.quadratic_model import Point
from deniable.estimation.methods.working_set import SeenChannel, WorkingSet, admitted, foremost

GAP = 1e-12  # in average log-likelihood: 1e-12 n nats over all reports
_STEP = 1e-11  # last Newton step in L1, in problems that are not large: the gap alone does not bound the distance
_EASY_GAP = 1e-3
_SQUAREM_ROUNDS = 30
_NEWTON_ROUNDS = 100
_PRODUCTS = 20_000  # with H; the hardest problems known need a thousand
_EXACTNESS = (1e-10, 1e-2)  # smallest and largest tolerance of a Newton step
_OF_THE_GAP = 0.1  # tolerance of a Newton step between them, as a share of the gap
_NEGLIGIBLE = 0.1  # share of an equal frequency: values that plain updates bring below it start at zero
_GUESSED = 8  # times the start's values that a list could have, far below the cost of a gradient, for a guess to pay
_SHRUNK = 4  # the working set is made anew when it has this many times more values than nonzero ones


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


def iterate(
    counts: Integers,
    operator: Operator,
    *,
    start: Floats | None = None,
    near: Floats | None = None,
    gap: float = GAP,
) -> Maximum:
    """Maximise the likelihood of a distribution given the counts of reports.

    `start` is a distribution thought to be near; its zeros may become positive, perhaps those with the largest numbers
    in `near` first. The fewer values are nonzero, the less a step costs.
    """
    seen = np.flatnonzero(counts)
    values = len(operator.adjoint(counts / counts.sum())) if start is None else len(start)
    observed = _Observed(counts[seen] / counts.sum(), SeenChannel(operator, seen, len(counts), values))
    climbed, updates = None if start is None or near is None else _unseen(observed, start, near, gap), 0
    if climbed is None:
        here = None if start is None else _beyond_equal(observed, start)
        if here is None:
            theta, updates = _squarem(observed, np.full(values, 1.0 / values))
            here = _Place.of(observed, _without_negligible(observed, theta))
        climbed = _Climbed(here)
    theta, certified, steps, products = _newton(observed, climbed, gap)
    if certified > gap:
        message = f"The certified gap is {certified:.2g} instead of {gap:.2g}, after {products} products."
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    return Maximum(theta, certified, updates, steps, products)


@dataclass(frozen=True)
class _Observed:
    """The shares of the reports that were made, and the channel that made them."""

    phi: Floats
    channel: SeenChannel

    @property
    def least_step(self) -> float:
        return np.inf if self.channel.large else _STEP

    def reports(self, theta: Floats) -> Floats:
        return self.channel.pick(self.channel.operator.forward(theta))

    def objective(self, reports: Floats) -> float:
        return float(self.phi @ np.log(reports))

    def level(self, reports: Floats) -> float:
        """The objective at a distribution of reports, some of which may be impossible."""
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
    return kept if observed.level(observed.reports(kept)) > -np.inf else theta


@dataclass(frozen=True, eq=False)
class _Place:
    """A distribution as weights of a working set, its reports, and the gradient for all values."""

    part: WorkingSet
    weights: Floats
    reports: Floats
    gradient: Floats

    @staticmethod
    def of(observed: _Observed, theta: Floats) -> _Place:
        part = observed.channel.restricted(np.flatnonzero(theta))
        reports = part.forward(theta[part.values])
        return _Place(part, theta[part.values], reports, observed.gradient(reports))

    @property
    def gap(self) -> float:
        return float(self.gradient.max()) - 1

    @property
    def frequencies(self) -> Floats:
        theta = np.zeros(len(self.gradient))
        theta[self.part.values] = self.weights
        return theta


def _beyond_equal(observed: _Observed, start: Floats) -> _Place | None:
    """The start, unless equal frequencies are likelier."""
    with np.errstate(divide="ignore", invalid="ignore"):
        here = _Place.of(observed, start)
    if here.reports.min() <= 0:
        return None
    # f is concave, so that f(equal) <= f(start) + mean(gradient) - 1: seldom is more than this bound needed
    equal = np.full(len(start), 1.0 / len(start))
    if here.gradient.mean() <= 1 or observed.level(observed.reports(equal)) < observed.objective(here.reports):
        return here
    return None


@dataclass(frozen=True, eq=False)
class _Climbed:
    """Where Newton steps led, the length of the last one, their number, and their products with H."""

    place: _Place
    step: float = np.inf
    steps: int = 0
    products: int = 0

    @property
    def exhausted(self) -> bool:
        return self.steps >= _NEWTON_ROUNDS or self.products >= _PRODUCTS


def _unseen(observed: _Observed, start: Floats, near: Floats, wanted: float) -> _Climbed | None:
    """Newton steps from the start before any gradient for all values, on a set that is guessed; None if it is large.

    The set holds the values of the start, and as many more, those with the largest numbers in `near`: a value that is
    missing costs one gradient more, and where that takes long a longer list takes less.
    """
    values = np.flatnonzero(start)
    if not observed.channel.affords(_GUESSED * len(values)):
        return None
    more = foremost(near, values)
    part = observed.channel.restricted(np.append(values, more))
    if not observed.channel.dwarfs(part):
        return None
    weights = np.append(start[values], np.zeros(len(more)))
    reports = part.forward(weights)
    if observed.level(reports) <= -np.log(observed.channel.cells):  # as for equal reports, and equal frequencies nearly
        return None
    return _climb(observed, part, weights, reports, part.adjoint(observed.phi / reports), wanted)


def _newton(observed: _Observed, climbed: _Climbed, wanted: float) -> tuple[Floats, float, int, int]:
    """Take Newton steps on a working set until the gap over all values is certified and the steps are tiny."""
    best = climbed.place
    while (climbed.place.gap > wanted or climbed.step > observed.least_step) and not climbed.exhausted:
        here = climbed.place
        more = admitted(here.gradient, here.part.values)
        part, weights = here.part.extended(more), np.append(here.weights, np.zeros(len(more)))
        climbed = _climb(observed, part, weights, here.reports, here.gradient[part.values], wanted, climbed)
        if climbed.place.gap <= max(best.gap, wanted):  # below the wanted gap the later point is more exact
            best = climbed.place
    return best.frequencies, max(best.gap, 0.0), climbed.steps, climbed.products


def _climb(
    observed: _Observed,
    part: WorkingSet,
    weights: Floats,
    reports: Floats,
    inside: Floats,
    wanted: float,
    before: _Climbed | None = None,
) -> _Climbed:
    """One Newton step on a working set, where the gradient is `inside`; then the gradient for all values.

    Where products with the set cost little, that is computed only when the set is done, after several steps.
    """
    steps, products = (0, 0) if before is None else (before.steps, before.products)
    while True:
        point = Point(observed.phi, part, weights, reports, inside)
        target, work = point.model_maximum(float(np.clip(_OF_THE_GAP * point.gap, *_EXACTNESS)))
        weights = point.line_search(target)
        step = float(np.abs(weights - point.weights).sum())
        steps, products = steps + 1, products + work
        reports = part.forward(weights)
        if not observed.channel.dwarfs(part) or steps >= _NEWTON_ROUNDS or products >= _PRODUCTS:
            break
        inside = part.adjoint(observed.phi / reports)
        if float(inside.max()) - 1 <= wanted and step <= observed.least_step:
            break
    if _SHRUNK * np.count_nonzero(weights) < len(weights):
        kept = np.flatnonzero(weights)
        part, weights = observed.channel.restricted(part.values[kept]), weights[kept]
    return _Climbed(_Place(part, weights, reports, observed.gradient(reports)), step, steps, products)
