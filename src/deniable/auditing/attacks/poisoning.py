"""What false reports do to the estimates, exactly.

The estimate is a mean over reports: n f = sum phi(y_i). A false report that aims at the values T adds

    G = max over reports y of  sum over v in T of phi(y)_v        and over T too, where liars choose the values

to n times their estimated share, where an honest one adds their share on average. A share beta of false reports so
moves the targets by beta (G - f_T), and no attack moves them further.

Reference: Cao, Jia, Gong 2021, section 4 (the maximal gain attack); the numbers here are computed, for every mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.auditing.attacks.gains import BOUND, EXACT, TRIED, Gain, gain_of, largest_gain
from deniable.auditing.attacks.pairs import visible_liars
from deniable.core.display import brief, share_of_users
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument, kind_of
from deniable.core.summary import MAX_COUNT
from deniable.core.validate import strictly_between, whole
from deniable.derived.labels import place_of
from deniable.mechanisms.base.mechanism import Mechanism


@dataclass(frozen=True)
class Poisoning:
    """The most that false reports gain.

    `least` and `most`: what one report adds to the estimated number of users with one value. `together`: the most that
    it adds to those of all targets together. Where only the number of targets was given, `targets` are values for which
    that is most, and `rule` says how it was found: "exact"; "at most", an upper bound of which `reached` was attained;
    or the most "of the values tried". `shift`: by how much the liars move the share of all targets together, if their
    true share is 0. `hidden`: false reports that move a rare value by one standard error. `visible`: the share of
    liars from which the pair detector sees them, None where it does not apply.
    """

    mechanism: str
    targets: tuple[Any, ...]
    n: int
    liars: float
    least: float
    most: float
    together: float
    hidden: float
    visible: float | None
    reached: float
    rule: str = EXACT

    @property
    def shift(self) -> float:
        """The share that the targets gain together, if nobody has them."""
        return self.liars * self.together

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {**self.__dict__, "targets": list(self.targets), "shift": self.shift}

    def __repr__(self) -> str:
        return brief(self, mechanism=self.mechanism, most=f"{self.most:.3g}", together=f"{self.together:.3g}")

    def __str__(self) -> str:
        several = len(self.targets) > 1
        many = f"{len(self.targets):,} targets" if several else f"value {self.targets[0]!r}"
        together = f", and those of {many} together by {self._together()}" if several else ""
        alone = math.ceil(self.hidden)
        lines = [
            f"One false report moves a count by {_number(self.least)} to +{_number(self.most)}{together}.",
            f"{100 * self.liars:.3g}% of {self.n:,} users, together, add {shift_shown(self)} to {many}.",
            f"{alone:,} false report{'s move' if alone > 1 else ' moves'} a rare value by one standard error.",
        ]
        if self.visible is not None and self.visible < 1:
            lines.append(f"The pair detector sees lies for {many} from about {100 * self.visible:.2g}% of liars on.")
        elif not several:
            lines.append("Lies for one value look like honest reports: no detector sees them.")
        return "\n".join(lines)

    def _together(self) -> str:
        if self.rule == BOUND:
            return f"at most {_number(self.together)} (a bound; {_number(self.reached)} was reached)"
        return f"up to {_number(self.together)}" + (f" ({TRIED}; others may gain more)" if self.rule == TRIED else "")


def shift_shown(found: Poisoning) -> str:
    """By how much liars together move the targets, for people."""
    return ("at most " if found.rule == BOUND else "") + share_of_users(found.shift)


def poisoning(
    mechanism: Mechanism, targets: Iterable[Any] | int = 1, *, liars: float = 0.01, n: int = 10_000
) -> Poisoning:
    """Compute the most that a share of `liars` among n users gains for the targets: labels, or how many.

    Of a number of targets, those are taken for which one report adds most.

    >>> import deniable as dn
    >>> found = dn.poisoning(dn.mechanism("oue", k=100, epsilon=1.0), 10)
    >>> round(found.most, 2), round(found.together, 1)
    (3.16, 31.6)
    """
    if isinstance(mechanism.domain, Open):
        raise InvalidArgument("domain", "be closed here", "open", "Targets need a list of values.")
    gain = _gain(mechanism, targets)
    liars, n = strictly_between(0, 1, liars=liars), whole(1, MAX_COUNT, n=n)
    return Poisoning(
        mechanism=mechanism.name,
        targets=tuple(mechanism.domain.label(place) for place in gain.places),
        n=n,
        liars=liars,
        least=gain.least,
        most=gain.most,
        together=gain.together,
        hidden=math.sqrt(n * mechanism.variance(0.0)) / gain.most,
        visible=visible_liars(mechanism, len(gain.places), n),
        reached=gain.reached,
        rule=gain.rule,
    )


def _gain(mechanism: Mechanism, targets: Iterable[Any] | int) -> Gain:
    if isinstance(targets, (int, np.integer)) and not isinstance(targets, bool):
        return largest_gain(mechanism, whole(1, mechanism.k, targets=targets))
    if isinstance(targets, (str, bytes)) or not isinstance(targets, Iterable):
        raise InvalidArgument("targets", "be a list of values, or how many", kind_of(targets))
    places = sorted({place_of(mechanism.domain, label) for label in targets})
    if not places:
        raise InvalidArgument("targets", "name at least one value", [])
    return gain_of(mechanism, tuple(places))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
