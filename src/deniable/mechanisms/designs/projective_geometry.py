"""Projective Geometry Response: near-optimal error with little more than log2 k bits, decoded by one FFT.

Values and reports are the K points of a projective geometry over the field of q elements. A report supports
a value when it lies on the value's hyperplane. Numbered as Singer did (singer.py), hyperplanes are the
shifts of one difference set, so this is a difference mechanism with one cohort and the server's work is one
correlation of length K, without the factor e^epsilon of the published dynamic program.

Reference: Feldman, Nelson, Nguyen, Talwar 2022, "Private frequency estimation via projective geometry"; Singer 1938.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar

from deniable.core.arrays import Symbols
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice, whole
from deniable.mechanisms.base.definition import float_bound
from deniable.mechanisms.designs import singer
from deniable.mechanisms.designs.cyclotomy import least_loss
from deniable.mechanisms.designs.difference import DifferenceMechanism
from deniable.mechanisms.designs.geometries import loss, published, weighed
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS

MAX_COST = 0.25  # refused beyond: no geometry lies near, and another mechanism has less error
RULES: dict[str, Callable[[int, float], tuple[int, int]]] = {"weighed": weighed, "published": published}


@dataclass(frozen=True)
class ProjectiveGeometryResponse(DifferenceMechanism):
    """Projective Geometry Response, "pgr".

    The geometry PG(t-1, q) has K = (q^t - 1)/(q - 1) >= k points. Without q and t a rule chooses them: "weighed" takes
    the least loss + 0.02 log2(K/k) among prime powers q, "published" the smallest prime q >= e + 1 and then the
    smallest t. The spec also names the polynomial that numbers the points (see singer.py).
    Guarantee: largest ratio T (K - w) / ((M - T) w) <= e^epsilon, w = (q^(t-1) - 1)/(q - 1), for any q.

    >>> m = ProjectiveGeometryResponse(22_000, epsilon=2.0)
    >>> m.q, m.t, m.modulus, m.report_bits
    (8, 6, 37449, 16)
    """

    name: ClassVar[str] = "pgr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    q: int = None  # type: ignore[assignment]  # found by the constructor unless given
    t: int = None  # type: ignore[assignment]
    polynomial: Sequence[int] = None  # type: ignore[assignment]
    rule: InitVar[str | None] = None

    def __post_init__(self, rule: str | None) -> None:
        asked = self.q is not None or self.t is not None
        k = Domain.of(self.domain).k
        bound = float_bound(self.epsilon)
        if rule is not None and asked:
            raise InvalidArgument("rule", "be left out where q and t are given", rule)
        if asked:
            q, t = _checked(self.q, self.t, k)
        else:
            q, t = RULES[choice(RULES, rule="weighed" if rule is None else rule)](k, bound)
            if rule is None:
                _refuse_costly(q, t, k, bound)
        polynomial = singer.polynomial(q, t)
        if self.polynomial is not None and self.polynomial not in (polynomial, list(polynomial)):
            raise InvalidArgument("polynomial", f"be the first primitive one, {list(polynomial)}", self.polynomial)
        for name, value in (("q", q), ("t", t), ("polynomial", polynomial)):
            object.__setattr__(self, name, value)
        super().__post_init__()

    def _parameters(self) -> dict[str, Any]:
        return {"q": self.q, "t": self.t, "polynomial": list(self.polynomial)}

    @property
    def modulus(self) -> int:
        return singer.points(self.q, self.t)

    @property
    def set_size(self) -> int:
        return singer.points(self.q, self.t - 1)

    @property
    def multipliers(self) -> tuple[int, ...]:
        return (1,)

    @property
    def balanced(self) -> bool:
        return True

    def element(self, place: int) -> int:
        return int(self.elements[place])

    @property
    def elements(self) -> Symbols:
        return singer.elements(self.q, self.t)


def _refuse_costly(q: int, t: int, k: int, bound: float) -> None:
    cost = loss(bound, q, t) / least_loss(bound, k) - 1
    if cost > MAX_COST:
        rule = f"lie near the {singer.points(q, t)} points of PG({t - 1}, {q}), which costs {cost:.0%} more error than"
        raise InvalidArgument("k", f"{rule} the best design at this epsilon; use csr, ss or grr, or give q and t", k)


def _checked(q: object, t: object, k: int) -> tuple[int, int]:
    """The geometry that was asked for, if there is one and it has enough points."""
    q, t = whole(2, MAX_SYMBOLS, q=q), whole(2, 31, t=t)
    if singer.prime_power(q) is None:
        raise InvalidArgument("q", "be a prime power", q)
    if not k <= singer.points(q, t) <= MAX_SYMBOLS:
        raise InvalidArgument("q, t", f"give from {k} to 2^31 points, (q^t - 1)/(q - 1)", (q, t))
    return q, t
