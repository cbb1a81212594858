"""`plan`: from whatever is known of a question to a mechanism, the missing number, and what to expect.

Everything is computed from closed forms; only the mechanism that is chosen is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deniable.core.defaults import LEVEL
from deniable.core.domain import Domain, Label
from deniable.planning.answer import Plan
from deniable.planning.question import question
from deniable.planning.solving import answered

USUAL_SKEW = 1.3  # of Zipf data, unless given


def plan(
    *,
    labels: Iterable[Label] | None = None,
    k: int | None = None,
    domain: Domain | None = None,
    candidates: int | Iterable[Any] | None = None,
    n: int | None = None,
    epsilon: float | None = None,
    margin: float | None = None,
    detect: float | None = None,
    simultaneous: bool = False,
    top: int | None = None,
    zipf: float = USUAL_SKEW,
    suspicion: float | None = None,
    at_most: float | None = None,
    ids: bool = False,
    max_bits: int | None = None,
    max_client_us: float | None = None,
    max_server_ms: float | None = None,
    liars: float | None = None,
    targets: int = 1,
    shuffled: bool = False,
    central_epsilon: float | None = None,
    delta: float | None = None,
    level: float = LEVEL,
    power: float = 0.8,
) -> Plan:
    """Plan a collection: choose the mechanism, and find the number that is missing: users, epsilon or margin.

    The values are given by `labels`, `k`, `domain`, or, for open strings, the `candidates` to look for. Of the number
    of users `n`, `epsilon`, and a goal, give two; without the number of users, 10,000 are assumed, without epsilon, 1.
    `margin`: half the width of the interval at `level` of a rare value; with `simultaneous`, of all values at once.
    `detect`: the share that is to be told from 0 with probability `power`.
    `top`: how many of the most frequent values of data with shares 1/rank^`zipf` will be found.
    `suspicion`, `at_most`: the probability that somebody gives to a person's value before the report, and the most it
    may become after it, which limits epsilon.
    `ids`: the server knows the id of each report, as some mechanisms with very short reports need.
    `max_bits`: bits per report. `max_client_us`, `max_server_ms`: microseconds to make a report, and milliseconds to
    estimate, both measured on this machine, which takes seconds.
    `liars`, `targets`: the share of users who lie together, for this many values; the plan says what they gain.
    `shuffled`, `delta`: nobody knows who sent which report; the plan says which epsilon each person has then, but for
    a probability of delta. With `central_epsilon` the local epsilon is found that gives it.

    Raises InvalidArgument, and says what would be feasible, where no mechanism meets the question.

    >>> import deniable as dn
    >>> found = dn.plan(k=100, epsilon=1.0, margin=0.01)
    >>> found.mechanism.name, found.n
    ('csr', 137999)
    """
    return answered(
        question(
            labels=labels,
            k=k,
            domain=domain,
            candidates=candidates,
            n=n,
            epsilon=epsilon,
            margin=margin,
            detect=detect,
            simultaneous=simultaneous,
            top=top,
            zipf=zipf,
            suspicion=suspicion,
            at_most=at_most,
            ids=ids,
            max_bits=max_bits,
            max_client_us=max_client_us,
            max_server_ms=max_server_ms,
            liars=liars,
            targets=targets,
            shuffled=shuffled,
            central_epsilon=central_epsilon,
            delta=delta,
            level=level,
            power=power,
        )
    )
