"""Projective Geometry Response: near-optimal error with little more than log2 k bits, decoded by one FFT.

Values and reports are the K points of a projective geometry over the field of q elements. A report supports
a value when it lies on the value's hyperplane. Numbered as Singer did (singer.py), hyperplanes are the
shifts of one difference set, so this is a difference mechanism with one cohort and the server's work is one
correlation of length K, without the factor e^epsilon of the published dynamic program.

Reference: Feldman, Nelson, Nguyen, Talwar 2022, "Private frequency estimation via projective geometry"; Singer 1938.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.core.validate import choice, whole
from deniable.mechanisms.base.definition import CHOSEN, checked_epsilon, float_bound
from deniable.mechanisms.designs import singer
from deniable.mechanisms.designs.difference import DifferenceMechanism
from deniable.mechanisms.designs.geometries import loss, published, weighed
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS
from deniable.mechanisms.loss import least_loss

MAX_COST = 0.25  # excess error beyond which the constructor refuses: no geometry lies near
RULES: dict[str, Callable[[int, float], tuple[int, int]]] = {"weighed": weighed, "published": published}


@dataclass(frozen=True)
class ProjectiveGeometryResponse(DifferenceMechanism):
    """Projective Geometry Response, "pgr".

    The geometry PG(t-1, q) has K = (q^t - 1)/(q - 1) >= k points. By default q and t have the least
    loss + 0.02 log2(K/k) among prime powers q. The spec also names the polynomial that numbers the points (singer.py).
    Guarantee: largest ratio T (K - w) / ((M - T) w) <= e^epsilon, w = (q^(t-1) - 1)/(q - 1), for any q.

    >>> m = ProjectiveGeometryResponse(22_000, epsilon=2.0)
    >>> m.q, m.t, m.sets.modulus, m.report_bits
    (8, 6, 37449, 16)
    """

    name: ClassVar[str] = "pgr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    q: int = CHOSEN
    t: int = CHOSEN
    polynomial: Sequence[int] = CHOSEN

    @classmethod
    def choose(cls, domain: Any, epsilon: float, *, rule: str | None = None, **given: Any) -> Self:
        """Choose q and t by a rule, however large the error: "weighed", or "published", which takes the smallest prime
        q >= e + 1 and then the smallest t.
        """
        if rule is None:
            return cls(domain, epsilon, **given)
        if given:
            raise InvalidArgument("rule", "be left out where q and t are given", rule)
        domain = Domain.of(domain)
        q, t = RULES[choice(RULES, rule=rule)](domain.k, float_bound(checked_epsilon(epsilon)))
        return cls(domain, epsilon, q, t)

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del domain
        return singer.cost(parameters)

    def _settled(self) -> Mapping[str, Any]:
        bound = float_bound(self.epsilon)
        if self.q is None and self.t is None:
            q, t = weighed(self.k, bound)
            refuse_costly(q, t, self.k, bound)
        else:
            q, t = _checked(self.q, self.t, self.k)
        return {"q": q, "t": t, "polynomial": singer.checked_polynomial(q, t, self.polynomial)}

    def _parameters(self) -> dict[str, Any]:
        return {"q": self.q, "t": self.t, "polynomial": list(self.polynomial)}

    @cached_property
    def sets(self) -> singer.SingerSets:
        return singer.SingerSets(self.q, self.t)


def refuse_costly(q: int, t: int, k: int, bound: float) -> None:
    """Raise InvalidArgument if the geometry's error is far above the best design's."""
    cost = loss(bound, q, t) / least_loss(bound, k) - 1
    if cost > MAX_COST:
        near = f"lie near the {singer.points(q, t)} points of PG({t - 1}, {q}), which costs {cost:.0%} more error"
        hint = "Use csr, ss or grr, or give q and t."
        raise InvalidArgument("k", f"{near} than the best design at this epsilon", k, hint)


def _checked(q: object, t: object, k: int) -> tuple[int, int]:
    """Return the given geometry, or raise InvalidArgument if there is none, or it has too few points."""
    q, t = whole(2, MAX_SYMBOLS, q=q), whole(2, 31, t=t)
    if singer.prime_power(q) is None:
        raise InvalidArgument("q", "be a prime power", q)
    if not k <= singer.points(q, t) <= MAX_SYMBOLS:
        raise InvalidArgument("q, t", f"give from {k} to 2^31 points, (q^t - 1)/(q - 1)", (q, t))
    return q, t
