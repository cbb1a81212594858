"""`amplify`: the privacy of a person once reports have been shuffled, by the best bound that is proved."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable.auditing.amplification.answer import CLOSED, Amplification
from deniable.auditing.amplification.blanket import FINE, blanket_delta, least_epsilon
from deniable.auditing.amplification.clones import (
    any_share,
    clones_delta,
    clones_epsilon,
    closed_form,
    response_share,
)
from deniable.auditing.amplification.pair_laws import PairLaw, pair_laws
from deniable.core.errors import InvalidArgument
from deniable.core.summary import MAX_COUNT
from deniable.core.validate import positive, whole
from deniable.mechanisms.base.definition import checked_epsilon
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.mechanisms.response.randomized_response import RandomizedResponse

BLANKET, CLONES, RESPONSE = "privacy blanket", "clones", "clones of randomised response"
_NO_DELTA = "No shuffle gives delta 0 below the local epsilon. Common choices are 1e-6 and less than 1/n."

CONDITIONS = (
    "Each person sends one report to a batch.",
    "Nobody can tell who sent which report: no id, address or time lies beside it, and whoever shuffles keeps quiet.",
    "The reports counted are of honest senders: false reports hide nobody.",
    "Reports are made with fresh randomness, without a seed.",
)
_PUBLIC = (
    "The public number is drawn by the device and lies inside the report (encode); a report whose number follows from "
    "an id (encode_class) is not anonymous."
)
_BY_ID = (
    "A report whose public number follows from its id means something only beside the id, which tells who sent it: no "
    "shuffle hides that. Put the number into the report (encode), or take csr."
)
_RANDOM_IDS = "Ids are random, new for every report, and nobody can link them to people: they name a report alone."


def amplify(
    mechanism: Mechanism | float,
    *,
    n: int,
    delta: float | None = None,
    epsilon: float | None = None,
    liars: float = 0.0,
    by_id: bool = False,
) -> Amplification:
    """Bound the privacy of one person once the reports of n people have been shuffled: central epsilon and delta.

    Give the mechanism, or the local epsilon of any mechanism; and delta, to find epsilon, or a central epsilon, to find
    delta. `liars` is the share of reports that may be false, which hide nobody. `by_id`: reports carry ids, which are
    refused where the public coin follows from the id, and are a condition more elsewhere. The answer holds for any
    values of the others and lists its conditions; only bounds that are proved are used.

    >>> import deniable as dn
    >>> found = dn.amplify(dn.mechanism("ss", k=100, epsilon=2.0), n=100_000, delta=1e-6)
    >>> f"{found.epsilon:.3f}", found.bound
    ('0.023', 'privacy blanket')
    """
    ratio, local, laws = _channel(mechanism)
    if by_id and isinstance(mechanism, PublicCoin):
        raise InvalidArgument("by_id", f"be left out for {mechanism.name}", by_id, _BY_ID)
    n = whole(1, MAX_COUNT, n=n)
    honest = _honest(n, liars)
    if (delta is None) == (epsilon is None):
        hint = "Give delta to find epsilon, or a central epsilon to find delta."
        raise InvalidArgument("delta", "be given, or epsilon, and not both", delta, hint)
    response = isinstance(mechanism, RandomizedResponse)
    if delta is not None:
        delta = checked_delta(delta)
        bounds = _epsilons(ratio, local, laws, honest, delta, response=response)
        quick = closed_form(ratio, honest, delta)
        if not bounds and quick is not None and quick < local:  # of a delta below all rounding
            bounds = {CLOSED: quick * (1 + 1e-12)}
    else:
        epsilon = positive(epsilon=epsilon)
        bounds = _deltas(ratio, laws, honest, epsilon, response=response)
        quick = None
    best = min(bounds, key=lambda name: bounds[name], default=None)
    if delta is None:
        delta = bounds[best] if best is not None else 1.0
    else:
        epsilon = local if best is None else bounds[best]
    assert epsilon is not None
    return Amplification(
        epsilon=min(epsilon, local),
        delta=0.0 if epsilon >= local else delta,
        local=local,
        n=n,
        honest=honest,
        bound=best if best is not None and epsilon < local else "none: as without a shuffle",
        bounds=bounds,
        closed=quick,
        conditions=(
            *CONDITIONS,
            *([_PUBLIC] if isinstance(mechanism, PublicCoin) else []),
            *([_RANDOM_IDS] if by_id else []),
        ),
        notes=_notes(mechanism, laws),
    )


def _channel(mechanism: Mechanism | float) -> tuple[float, float, tuple[PairLaw, ...]]:
    if isinstance(mechanism, Mechanism):
        guarantee = mechanism.guarantee()
        return float(guarantee.ratio), guarantee.epsilon, pair_laws(mechanism)
    local = checked_epsilon(mechanism)
    return math.exp(local), local, ()


def _honest(n: int, liars: float) -> int:
    share = _share(liars)
    honest = math.floor(n * (1 - share))
    if honest < 2:
        raise InvalidArgument("n", "be at least 2 honest senders", n, "One report among none hides nobody.")
    return honest


def _share(liars: object) -> Fraction:
    if isinstance(liars, bool) or not isinstance(liars, (int, float)) or not 0 <= liars < 1:
        raise InvalidArgument("liars", "be a share from 0 to 1, below 1", liars)
    return Fraction(repr(float(liars)))


def checked_delta(delta: object) -> float:
    """Return a delta above 0 and below 1, or raise InvalidArgument."""
    if isinstance(delta, (int, float)) and not isinstance(delta, bool) and delta == 0:
        raise InvalidArgument("delta", "be positive", delta, _NO_DELTA)
    number = positive(delta=delta)
    if number >= 1:
        raise InvalidArgument("delta", "be below 1", delta, "With delta 1 nothing is promised.")
    return number


def _epsilons(
    ratio: float, local: float, laws: tuple[PairLaw, ...], n: int, delta: float, *, response: bool
) -> dict[str, float]:
    """The epsilon that each bound certifies, where it is below the local one."""
    found = {CLONES: clones_epsilon(ratio, any_share(ratio), n, delta)}
    if response:
        found[RESPONSE] = clones_epsilon(ratio, response_share(ratio), n, delta)
    if laws:
        found[BLANKET] = least_epsilon(laws, n, delta, local)
    return {name: value for name, value in found.items() if value is not None and value < local}


def _deltas(ratio: float, laws: tuple[PairLaw, ...], n: int, epsilon: float, *, response: bool) -> dict[str, float]:
    """The delta that each bound certifies."""
    found = {CLONES: clones_delta(ratio, any_share(ratio), n, epsilon)}
    if response:
        found[RESPONSE] = clones_delta(ratio, response_share(ratio), n, epsilon)
    if laws:
        found[BLANKET] = max(blanket_delta(law, n, epsilon, FINE) for law in laws)
    return found


def _notes(mechanism: Mechanism | float, laws: tuple[PairLaw, ...]) -> tuple[str, ...]:
    if laws:
        return ()
    if isinstance(mechanism, Mechanism):
        return (
            f"No blanket is known for {mechanism.name} here: this is the bound for any mechanism, which is larger.",
        )
    return ("This holds for any mechanism; for a given one the bound is smaller: give its spec.",)
