"""Several reports of one person, over attributes and rounds: how much privacy is left. Needs NumPy alone.

- Basic: epsilons and deltas add up. Always true, also where later questions depend on earlier reports.
- Advanced: with a little delta, k reports of epsilon each spend about epsilon sqrt(2 k log(1/delta)).
- Exact: a report whose likelihood ratio takes only the values e^epsilon, 1 and e^-epsilon moves the log odds of two
  values by a step on a lattice; the law of the sum of all steps gives the exact delta for every epsilon. Any
  epsilon-private report is randomised response on its two values, processed afterwards (Kairouz, Oh, Viswanath 2015,
  Theorem 3.1), so that this is also the best bound for reports of which only epsilon is known. Of a mechanism it is
  known how often the ratio is not 1 (`moving_share`): a report of many values seldom tells two of them apart.

Reference: Dwork, Rothblum, Vadhan 2010 (advanced); Kairouz, Oh, Viswanath 2015, Theorems 3.3 and 3.4 (exact).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from deniable.auditing.composition.law import OddsLaw, Step, odds_law
from deniable.core.display import at_most, brief
from deniable.core.errors import InvalidArgument, kind_of
from deniable.core.rounding import rounded_up
from deniable.core.validate import between, positive, whole

if TYPE_CHECKING:
    from deniable.mechanisms.base.mechanism import Mechanism

MOST = 100_000  # reports
_LEAST, _LARGEST = 1e-300, 700.0  # epsilons whose powers of e and digits are numbers of double precision
_ROUNDING = 1e-12  # of a share: what floating point may lose of it


@dataclass(frozen=True)
class Composition:
    """What several reports of one person spend together: (epsilon, delta), by each rule; `epsilon` is the least.

    `basic` is the sum, with delta 0. `advanced` and `exact` hold with `delta`, and are None without one. `rounded`: the
    epsilons have no common unit, and were rounded up to a grid for `exact`, which then is a bound of the exact law.
    """

    reports: int
    delta: float
    basic: float
    advanced: float | None
    exact: float | None
    rounded: bool = False

    @property
    def epsilon(self) -> float:
        """The least of the bounds."""
        return min(bound for bound in (self.basic, self.advanced, self.exact) if bound is not None)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {**self.__dict__, "epsilon": self.epsilon}

    def __repr__(self) -> str:
        return brief(self, reports=f"{self.reports:,}", epsilon=f"{self.epsilon:.4g}", delta=f"{self.delta:.3g}")

    def __str__(self) -> str:
        lines = [f"{self.reports:,} reports of one person spend"]
        lines.append(f"  epsilon {at_most(self.basic, 4)} with certainty (they add up)")
        law = "the law of the odds, rounded up to a grid" if self.rounded else "the exact law of the odds"
        rules = {"advanced composition": self.advanced, law: self.exact}
        for name, bound in rules.items():
            if bound is not None:
                lines.append(f"  epsilon {at_most(bound, 4)} but for a probability of {self.delta:.3g} ({name})")
        return "\n".join(lines)


def compose(
    epsilons: float | Mechanism | Iterable[float | Mechanism | Step], times: int = 1, *, delta: float = 0.0
) -> Composition:
    """Add up what reports of one person spend: over attributes (several epsilons), and rounds (`times` of all of them).

    With a delta above 0, bounds that hold but for this probability are given as well. A mechanism in place of its
    epsilon makes the exact one smaller, since many of its reports do not tell two values apart.

    >>> compose([0.5, 0.25], times=4).epsilon
    3.0
    >>> found = compose(0.1, times=100, delta=1e-6)
    >>> round(found.basic, 2), round(found.advanced, 2), round(found.exact, 2)
    (10.0, 5.76, 4.77)
    """
    each, delta, times = _checked(epsilons), between(0, 1, delta=delta), whole(1, MOST, times=times)
    spent = Counter({step: count * times for step, count in Counter(each).items()})
    reports = sum(spent.values())
    if reports > MOST:
        raise InvalidArgument("times", f"leave at most {MOST:,} reports", times)
    basic = _sum(spent)
    if delta == 0:
        return Composition(reports, 0.0, basic, None, None)
    if delta >= 1:
        raise InvalidArgument("delta", "be below 1", delta, "With delta 1 nothing is promised.")
    law = odds_law(spent)
    return Composition(reports, delta, basic, _advanced(spent, delta), _least(law, delta, basic), law.on_grid)


def _checked(epsilons: Any) -> list[Step]:
    if isinstance(epsilons, (str, bytes)):
        raise InvalidArgument("epsilons", "be numbers", kind_of(epsilons))
    given = list(epsilons) if isinstance(epsilons, Iterable) else [epsilons]
    if not given:
        raise InvalidArgument("epsilons", "hold at least one number", [])
    return [_step(each) for each in given]


def _step(each: Any) -> Step:
    if isinstance(each, Step):
        return each
    if not hasattr(each, "guarantee"):
        return Step(between(_LEAST, _LARGEST, epsilons=positive(epsilons=each)))
    return Step(each.guarantee().epsilon, moving_share(each))


def moving_share(mechanism: Mechanism) -> float:
    """How often a report's likelihood ratio of two values is not 1, for the two for which that is most often; at most.

    A report with a ratio between e^-epsilon and e^epsilon tells less than one of the two, drawn to the same mean: so
    the law in which these reports move the log odds by epsilon is a bound for any mechanism.
    """
    from deniable.auditing.amplification.pair_laws import pair_laws
    from deniable.mechanisms.channels.finite_channel import FiniteChannel

    if isinstance(mechanism, FiniteChannel):  # all pairs of its values may differ, and are too many
        return 1.0
    shares = [float((law.chance * law.first)[law.first != law.second].sum()) for law in pair_laws(mechanism)]
    return min(1.0, max(shares, default=1.0) * (1 + _ROUNDING))


def _advanced(spent: Counter[Step], delta: float) -> float:
    """sum eps (e^eps - 1)/(e^eps + 1) + sqrt(2 log(1/delta) sum eps^2)."""
    drift = math.fsum(count * step.epsilon * math.tanh(step.epsilon / 2) for step, count in spent.items())
    squares = math.fsum(count * step.epsilon**2 for step, count in spent.items())
    return drift + math.sqrt(2 * math.log(1 / delta) * squares)


def composed_delta(spent: Counter[Step], epsilon: float) -> float:
    """The least delta with which all these reports together are (epsilon, delta)-private, rounded up."""
    return odds_law(spent).delta(epsilon)


def _least(law: OddsLaw, delta: float, basic: float) -> float:
    """The least epsilon with this delta."""
    low, high = 0.0, basic
    if law.delta(0.0) <= delta:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if law.delta(middle) <= delta else (middle, high)
    return high


def _sum(spent: Counter[Step]) -> float:
    exact = sum((Fraction(step.epsilon) * count for step, count in spent.items()), Fraction())
    return rounded_up(exact)
