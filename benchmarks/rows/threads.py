"""One large call on all cores, against the same call on one: wall time, since processor time does not fall."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import deniable as dn
from benchmarks.clock import REPEATS
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, Faster, Measured, timed
from benchmarks.registry import Bench, Row
from deniable.core.threads import VARIABLE

USERS = 100_000_000
ONE = "one core"


def privatize(_: Bench, k: int) -> Measured:
    """Reports of many users, made by as many threads as there are cores, and by one."""
    mechanism = dn.mechanism("grr", k=k, epsilon=1.0)
    values = uniform_values(k, USERS)
    return _on_all_cores(lambda: mechanism.privatize(values))


def summarize(_: Bench, k: int) -> Measured:
    """Counts of many reports, by as many threads as there are cores, and by one."""
    mechanism = dn.mechanism("grr", k=k, epsilon=1.0)
    reports = mechanism.privatize(uniform_values(k, USERS))
    return _on_all_cores(lambda: mechanism.summarize(reports))


def _on_all_cores(job: Callable[[], object]) -> Measured:
    """The shortest of several times, which other work on the machine disturbs least; the two take turns."""
    with every_core() as cores:
        if cores == 1:
            return Measured(missing={ONE: "there is no other core"})
        times: dict[str, list[float]] = {OURS: [], ONE: []}
        for _ in range(1 + 2 * REPEATS):
            for name, threads in ((OURS, cores), (ONE, 1)):
                os.environ[VARIABLE] = str(threads)
                start = time.perf_counter()
                job()
                times[name].append(time.perf_counter() - start)
        del os.environ[VARIABLE]
    return timed({name: min(seconds[1:]) for name, seconds in times.items()}, per=USERS)


@contextmanager
def every_core() -> Iterator[int]:
    """Let this process use every core, which the benchmark pinned to one."""
    if not hasattr(os, "sched_setaffinity"):
        yield os.cpu_count() or 1
        return
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield len(os.sched_getaffinity(0))
    finally:
        os.sched_setaffinity(0, pinned)


ROWS = (
    Row("GRR privatize on all cores, k=100", partial(privatize, k=100), (Faster(1.8, (ONE,)),)),
    Row("GRR aggregate on all cores, k=100", partial(summarize, k=100), (Faster(1.5, (ONE,)),)),
)
