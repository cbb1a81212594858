"""A question to plan for: what is known, what is wanted, and the limits, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from deniable.auditing.amplification.amplify import checked_delta
from deniable.core.domain import MAX_SIZE, Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.summary import MAX_COUNT
from deniable.core.validate import positive, strictly_between, whole
from deniable.mechanisms.base.definition import checked_epsilon
from deniable.mechanisms.cohorts.sizes import CANDIDATES
from deniable.planning.goals import Goal


@dataclass(frozen=True)
class Others:
    """What was asked about other people: liars and what they push, and a shuffle that hides who sent what."""

    liars: float | None = None
    targets: int = 1
    shuffled: bool = False
    central_epsilon: float | None = None
    delta: float | None = None


@dataclass(frozen=True)
class Question:
    """What `plan` was asked. `values` is the number of listed values, or of candidates of an open domain."""

    domain: Domain
    values: int
    epsilon: float | None
    n: int | None
    goal: Goal | None
    level: float
    power: float
    top: int | None
    zipf: float
    suspicion: float | None
    at_most: float | None
    ids: bool
    max_bits: int | None
    max_client_us: float | None
    max_server_ms: float | None
    others: Others

    @property
    def listed(self) -> bool:
        """Whether the domain lists its values."""
        return not isinstance(self.domain, Open)

    @property
    def most_epsilon(self) -> float | None:
        """The largest epsilon that keeps a suspicion below its limit: logit(limit) - logit(suspicion)."""
        if self.suspicion is None or self.at_most is None:
            return None
        return logit(self.at_most) - logit(self.suspicion)

    @property
    def timed(self) -> bool:
        """Whether there is a limit on times, which have to be measured."""
        return self.max_client_us is not None or self.max_server_ms is not None


def logit(share: float) -> float:
    """The logarithm of the odds."""
    return math.log(share / (1 - share))


def suspected(prior: float, epsilon: float) -> float:
    """The most that a suspicion can become after one report: e pi/(e pi + 1 - pi)."""
    odds = math.exp(epsilon) * prior
    return odds / (odds + 1 - prior)


def question(
    *,
    labels: Iterable[Any] | None,
    k: int | None,
    domain: Domain | None,
    candidates: int | Iterable[Any] | None,
    n: int | None,
    epsilon: float | None,
    margin: float | None,
    detect: float | None,
    simultaneous: bool,
    top: int | None,
    zipf: float,
    suspicion: float | None,
    at_most: float | None,
    **limits: Any,
) -> Question:
    """Check everything that was given, and return the question."""
    found, values = _domain(labels, k, domain, candidates)
    if margin is not None and detect is not None:
        raise InvalidArgument("detect", "be omitted with margin", detect, "Plan for one of them at a time.")
    if (suspicion is None) != (at_most is None):
        given = {"suspicion": suspicion, "at_most": at_most}
        raise InvalidArgument("suspicion", "be given if and only if at_most is", given)
    level, power = strictly_between(0, 1, level=limits["level"]), strictly_between(0, 1, power=limits["power"])
    goal = None
    if margin is not None or detect is not None:
        share = strictly_between(0, 1, **({"margin": margin} if detect is None else {"detect": detect}))
        wanted = {"margin": share} if detect is None else {"detect": share}
        goal = Goal(**wanted, level=level, power=power, values=values if simultaneous else 1)
    if suspicion is not None:
        strictly_between(strictly_between(0, 1, suspicion=suspicion), 1, at_most=at_most)
    others = _others(n, values, **{name: limits[name] for name in ("ids", *Others.__dataclass_fields__)})
    for name in ("max_client_us", "max_server_ms"):
        if limits[name] is not None:
            positive(**{name: limits[name]})
    return Question(
        found,
        values,
        None if epsilon is None else checked_epsilon(epsilon),
        None if n is None else whole(1, MAX_COUNT, n=n),
        goal,
        level,
        power,
        None if top is None else whole(1, values - 1, top=top),
        positive(zipf=zipf),
        suspicion,
        at_most,
        bool(limits["ids"]),
        None if limits["max_bits"] is None else whole(1, max_bits=limits["max_bits"]),
        limits["max_client_us"],
        limits["max_server_ms"],
        others,
    )


def _others(
    n: int | None,
    values: int,
    ids: bool,
    liars: float | None,
    targets: int,
    shuffled: bool,
    central_epsilon: float | None,
    delta: float | None,
) -> Others:
    if liars is not None:
        strictly_between(0, 1, liars=liars)
    for name, value in {"central_epsilon": central_epsilon, "delta": delta}.items():
        if value is not None and not shuffled:
            raise InvalidArgument(name, "be left out", value, "It is for reports that are shuffled.")
    if shuffled:
        if ids:
            raise InvalidArgument("ids", "be left out", ids, "Reports that are shuffled have no ids.")
        if delta is None:
            raise InvalidArgument("delta", "be given for reports that are shuffled", delta, "1e-6 is a common choice.")
        if n is None:
            raise InvalidArgument("n", "be given for reports that are shuffled", n, "Their number is what hides them.")
        delta = checked_delta(delta)
    central = None if central_epsilon is None else positive(central_epsilon=central_epsilon)
    return Others(liars, whole(1, values, targets=targets), bool(shuffled), central, delta)


def _domain(labels: Any, k: int | None, domain: Domain | None, candidates: Any) -> tuple[Domain, int]:
    given = {"labels": labels, "k": k, "domain": domain}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1 or (not chosen and candidates is None):
        hint = "Give labels, k, domain, or candidates for an open domain."
        raise InvalidArgument("domain", "be given exactly once", chosen, hint)
    if not chosen:
        found: Domain = Domain.open()
    elif labels is not None:
        found = Domain.categories(labels)
    else:
        found = Domain.of(given[chosen[0]])
    if not isinstance(found, Open):
        if candidates is not None:
            raise InvalidArgument("candidates", "be left out", candidates, "This domain lists its values.")
        return found, found.k
    if isinstance(candidates, Iterable) and not isinstance(candidates, (str, bytes)):
        candidates = len(set(candidates))
    return found, whole(2, MAX_SIZE, candidates=CANDIDATES if candidates is None else candidates)
