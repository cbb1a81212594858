"""Cyclotomic Subset Response: optimal error with little more than log2 k bits, for any epsilon, decoded by FFT.

The value moves, modulo a prime K >= k, by an element in or out of a union of cyclotomic classes; the cohort
says which multiple of it. See cyclotomy.py for the sets and difference.py for the channel.

Every exact case is a block-design scheme (Park, Nam, Lee 2023; Gentle 2025 proves that designs are
necessary), and the difference families are Wilson's (1972). We are not aware of an earlier cyclotomic
mechanism for local differential privacy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from deniable.core.arrays import Symbols
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.mechanisms.base.definition import float_bound
from deniable.mechanisms.designs.cyclotomy import MAX_COHORTS, Cyclotomy, is_prime, least_loss, primitive_root, search
from deniable.mechanisms.designs.difference import DifferenceMechanism
from deniable.mechanisms.designs.random_sets import RandomSets, search_unpadded

MAX_PADDING_COST = 0.10  # refused beyond: another mechanism serves such a small domain better
MAX_LOSS = 1e9  # refused beyond: such sets estimate nothing
_DIGITS = 6  # of the loss written into the spec


@dataclass(frozen=True)
class CyclotomicSubsetResponse(DifferenceMechanism):
    """Cyclotomic Subset Response, "csr".

    Without further arguments the sets are searched for; a spec names them all. `max_bits` bounds the
    bits of a report: below what a balanced family needs, the best part of one is used. `loss` is its
    mean squared error over the asymptotic optimum 4e/(n(e - 1)^2). With `padding=False` reports stay within
    the k values: the sets are then pseudo-random ones modulo k, at a few percent more error (random_sets.py).
    Guarantee: largest ratio T (K - w) / ((M - T) w) <= e^epsilon.

    >>> CyclotomicSubsetResponse(1000, epsilon=2.0).report_bits
    13
    """

    name: ClassVar[str] = "csr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    sets: Cyclotomy | RandomSets = None  # type: ignore[assignment]  # found by the constructor unless given
    loss: float = None  # type: ignore[assignment]
    max_bits: InitVar[int | None] = None
    padding: InitVar[bool] = True

    def __post_init__(self, max_bits: int | None, padding: bool) -> None:
        k = Domain.of(self.domain).k
        bound = float_bound(self.epsilon)
        if max_bits is not None:
            max_bits = whole(1, 31, max_bits=max_bits)
        if not isinstance(padding, bool):
            raise InvalidArgument("padding", "be True or False", padding)
        if self.sets is not None and (max_bits is not None or not padding):
            raise InvalidArgument("sets", "be given without max_bits and padding", self.sets)
        seek = search if padding else search_unpadded
        found = seek(k, bound, max_bits) if self.sets is None else _checked(self.sets, k)
        loss = found.loss(bound)
        unasked = self.sets is None and max_bits is None and padding
        if unasked and loss > (1 + MAX_PADDING_COST) * least_loss(bound, k):
            share = loss / least_loss(bound, k) - 1
            rule = f"be another for csr: the best sets modulo {found.modulus} cost {share:.0%}; use grr, ss or max_bits"
            raise InvalidArgument("k", rule, k)
        if not loss < MAX_LOSS:
            raise InvalidArgument(
                "epsilon", f"be smaller for these sets: their error is {loss:.3g} times the best", self.epsilon
            )
        object.__setattr__(self, "sets", found)
        object.__setattr__(self, "loss", round(loss, _DIGITS))
        super().__post_init__()

    def _parameters(self) -> dict[str, Any]:
        return {"sets": asdict(self.sets), "loss": self.loss}

    @property
    def modulus(self) -> int:
        return self.sets.modulus

    @property
    def set_size(self) -> int:
        return self.sets.set_size

    @cached_property
    def multipliers(self) -> tuple[int, ...]:
        return self.sets.multipliers()

    @property
    def balanced(self) -> bool:
        return self.sets.balanced

    def element(self, place: int) -> int:
        return self.sets.element(place)

    @cached_property
    def elements(self) -> Symbols:
        return self.sets.elements()


def _checked(sets: Cyclotomy | RandomSets | Mapping[str, Any], k: int) -> Cyclotomy | RandomSets:
    """The sets a spec names, if they are what they must be."""
    if not isinstance(sets, (Cyclotomy, RandomSets)):
        try:
            members: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in sets.items()}
            sets = RandomSets(**members) if "seed" in members else Cyclotomy(**members)
        except (TypeError, AttributeError):
            names = ", ".join(Cyclotomy.__dataclass_fields__)
            raise InvalidArgument("sets", f"have the members {names}", sets) from None
    return sets.checked(k) if isinstance(sets, RandomSets) else _checked_cyclotomy(sets, k)


def _checked_cyclotomy(sets: Cyclotomy, k: int) -> Cyclotomy:
    modulus = whole(max(k, 3), 2**31, modulus=sets.modulus)
    classes, root = whole(1, modulus - 1, classes=sets.classes), whole(1, modulus - 1, root=sets.root)
    if not is_prime(modulus) or (modulus - 1) % classes or root != primitive_root(modulus):
        raise InvalidArgument("sets", "have a prime modulus K, classes that divide K - 1 and the least root", sets)
    for name, places in (("chosen", sets.chosen), ("cohorts", sets.cohorts)):
        if not isinstance(places, tuple):
            raise InvalidArgument(name, "be a list", places)
        if list(places) != sorted({whole(0, classes - 1, **{name: place}) for place in places}):
            raise InvalidArgument(name, f"be rising numbers below {classes}", places)
    if not isinstance(sets.zero, bool) or not sets.cohorts or not 0 < sets.set_size < modulus:
        raise InvalidArgument("sets", "leave elements in and out of the set, and name a cohort", sets)
    whole(1, 4 * MAX_COHORTS, cohorts=len(sets.cohorts))
    return replace(sets, modulus=modulus, classes=classes, root=root)
