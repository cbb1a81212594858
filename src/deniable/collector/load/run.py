"""A run from beginning to end: a collection of its own, the traffic, the wait until all is counted, the verdict."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from deniable.collector.load.address import Address
from deniable.collector.load.administration import Administration
from deniable.collector.load.plan import Plan
from deniable.collector.load.sending import Run
from deniable.collector.load.tally import Difference, Tally
from deniable.collector.load.traffic import Target, Traffic
from deniable.collector.load.verdict import Verdict, complaints
from deniable.core.arrays import Indices
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import mechanism as make
from deniable.wire.keys import ADMIN, Key

COUNTING_SECONDS = 60.0
PATIENCE = 10.0  # seconds in which a collector that is down may come back


def run(
    address: Address,
    key: Key,
    plan: Plan,
    mechanism: Mechanism | None = None,
    *,
    values: Indices | None = None,
    watch: Callable[[Tally], None] = lambda _tally: None,
    enough: Callable[[], bool] = lambda: False,
    patience: float | None = None,
) -> Verdict:
    """Send the load of a plan to a collector and judge what became of it.

    `values` are the indices of what people have; by default they are drawn, a few values being far more frequent.
    `enough` says when to send nothing new, before the plan does. `patience` is how long, in seconds, a collector that
    is down may take to come back: `PATIENCE` unless given.
    """
    question = mechanism or make("grr", k=1024, epsilon=2.0)
    if not isinstance(question, Mechanism) or isinstance(question.domain, Open):
        raise InvalidArgument("spec", "be of a mechanism with a closed domain", type(question).__name__)
    if key.role != ADMIN:
        raise InvalidArgument("key", "be the administrator's, since a run makes a collection of its own", key.role)
    office = Administration(address, key, PATIENCE if patience is None else patience)
    secret, places = office.make_collection(question, time.time())
    before = office.metrics()
    target = Target(address, question, secret, places)
    work = Run(plan, target, Traffic(plan, target, values), watch=watch, enough=enough)
    _event_loop()(work.go())
    status = office.counted(COUNTING_SECONDS)
    after = office.metrics()
    difference = Difference.of(work.expected, office.summaries(places))
    office.close_collection()
    said = complaints(work.tally, status, before, after)
    return Verdict(work.tally, status["counted"], status["waiting"], difference, tuple(said))


def complete(plan: Plan, target: Target, values: Indices) -> Tally:
    """Send the reports of people with these values to a collection that is there, and return what was answered."""
    work = Run(plan, target, Traffic(plan, target, values))
    _event_loop()(work.go())
    return work.tally


def _event_loop() -> Callable[..., None]:
    """The faster event loop where it is installed: the client must not be what is measured."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    run_on: Callable[..., None] = uvloop.run
    return run_on
