"""Cyclotomic Subset Response: optimal error with little more than log2 k bits, for any epsilon, decoded by FFT.

The value moves, modulo a prime K >= k, by an element inside or outside a multiple of a union of cyclotomic classes;
the cohort names the multiple. See cyclotomy.py for the sets and difference.py for the channel.

Every exact case is a block-design scheme (Park, Nam, Lee 2023; Gentle 2025 proves that designs are
necessary), and the difference families are Wilson's (1972). We are not aware of an earlier cyclotomic
mechanism for local differential privacy.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.core.validate import whole
from deniable.mechanisms.base.definition import CHOSEN, checked_epsilon, float_bound
from deniable.mechanisms.designs.cyclotomy import Cyclotomy, search
from deniable.mechanisms.designs.difference import DifferenceMechanism
from deniable.mechanisms.designs.random_sets import RandomSets, search_unpadded
from deniable.mechanisms.loss import least_loss

MAX_PADDING_COST = 0.10  # excess error beyond which the constructor refuses: another mechanism serves better
MAX_LOSS = 1e9  # refused beyond: such sets carry no information
_DIGITS = 6  # of the loss written into the spec


@dataclass(frozen=True)
class CyclotomicSubsetResponse(DifferenceMechanism):
    """Cyclotomic Subset Response, "csr".

    The best sets are searched for unless given; a spec names them. `loss` is their mean squared error over the
    asymptotic optimum 4e/(n(e - 1)^2).
    Guarantee: largest ratio T (K - w) / ((M - T) w) <= e^epsilon.

    >>> CyclotomicSubsetResponse(1000, epsilon=2.0).report_bits
    13
    """

    name: ClassVar[str] = "csr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    sets: Cyclotomy | RandomSets = CHOSEN
    loss: float = CHOSEN

    @classmethod
    def choose(
        cls, domain: Any, epsilon: float, *, max_bits: int | None = None, padding: bool = True, **given: Any
    ) -> Self:
        """Search for sets within bounds.

        `max_bits` bounds the bits per report: where no balanced family fits, the best part of one is used. With
        `padding=False` reports stay within the k values: sets are then pseudo-random modulo k, at a few percent
        more error (random_sets.py).
        """
        if not isinstance(padding, bool):
            raise InvalidArgument("padding", "be True or False", padding)
        if max_bits is None and padding:
            return cls(domain, epsilon, **given)
        if given:
            raise InvalidArgument("sets", "be given without max_bits and padding", given.get("sets"))
        bits = None if max_bits is None else whole(1, 31, max_bits=max_bits)
        seek = search if padding else search_unpadded
        domain = Domain.of(domain)
        # a copy, so that tables live no longer than the mechanism
        return cls(domain, epsilon, copy(seek(domain.k, float_bound(checked_epsilon(epsilon)), bits)))

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del domain
        sets = parameters.get("sets")
        members = sets if isinstance(sets, Mapping) else {}
        return RandomSets.cost(members) if "seed" in members else Cyclotomy.cost(members)

    def _settled(self) -> Mapping[str, Any]:
        bound = float_bound(self.epsilon)
        found = best_sets(self.k, bound) if self.sets is None else _checked(self.sets, self.k)
        loss = found.loss(bound)
        if not loss < MAX_LOSS:
            rule = f"be smaller for these sets, whose error is {loss:.3g} times the best"
            raise InvalidArgument("epsilon", rule, self.epsilon)
        loss = round(loss, _DIGITS)
        if self.loss not in (None, loss):
            raise InvalidArgument("loss", f"be {loss}, as these sets and epsilon give", self.loss, "Leave it out.")
        return {"sets": found, "loss": loss}

    def _parameters(self) -> dict[str, Any]:
        return {"sets": asdict(self.sets), "loss": self.loss}


def best_sets(k: int, bound: float) -> Cyclotomy:
    """Return the best sets for k values and e^epsilon = bound, or raise InvalidArgument if none lies near."""
    found = copy(search(k, bound, None))  # so that tables live no longer than the mechanism
    cost = found.loss(bound) / least_loss(bound, k) - 1
    if cost > MAX_PADDING_COST:
        rule = f"suit csr, whose error modulo {found.modulus} is {cost:.0%} above the best design's"
        raise InvalidArgument("k", rule, k, "Use grr or ss, or give max_bits.")
    return found


def _checked(sets: Cyclotomy | RandomSets | Mapping[str, Any], k: int) -> Cyclotomy | RandomSets:
    """Return the sets a spec names, or raise InvalidArgument if they do not fit k."""
    if not isinstance(sets, (Cyclotomy, RandomSets)):
        try:
            members: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in sets.items()}
            sets = RandomSets(**members) if "seed" in members else Cyclotomy(**members)
        except (TypeError, AttributeError):
            names = ", ".join(Cyclotomy.__dataclass_fields__)
            raise InvalidArgument("sets", f"have the members {names}", sets) from None
    return sets.checked(k)
