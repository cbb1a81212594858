"""Locks in a child process: a lock that another thread held at the fork would stay locked forever.

A child has only the thread that forked. Locks of Python's own modules, and of NumPy and OpenSSL, are reset by them.
Ours are taken before a fork, so that what they guard is whole in the child. Whoever holds one may wait for a lock that
this fork holds already, one of `logging` for example, so no lock is waited for while another one is held, and none for
long: a child is told of those that could not be had.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple, Protocol

PATIENCE = 30.0  # seconds that a fork waits for locks: a compilation takes some, all else takes less than a thousandth


class Lock(Protocol):
    """A reentrant lock."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...


class Guard(NamedTuple):
    """A lock, and what a child does whose fork did not get it: what it guards may be half changed there."""

    lock: Lock
    lost: Callable[[], None]


_sources: list[Callable[[], Iterable[Guard]]] = []
_own = threading.local()  # the thread that forks is the same before and after


def in_child(reset: Callable[[], None]) -> None:
    """Call `reset` in every process forked from this one; where there is no fork, never."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=reset)


def held_while_forking(guards: Callable[[], Iterable[Guard]]) -> None:
    """Hold these locks during every fork."""
    _sources.append(guards)


def come_first() -> None:
    """Take our locks before those of all modules that are loaded by now: hooks that are registered last run first."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)


def taken(guards: list[Guard], patience: float) -> tuple[list[Guard], list[Guard]]:
    """Return the guards whose locks were acquired, and those whose locks could not be had in time."""
    end = time.monotonic() + patience
    first: list[Guard] = []  # the lock that was waited for, while none was held
    while True:
        held, busy = list(first), None
        for guard in guards:
            if guard not in first:
                if not guard.lock.acquire(blocking=False):
                    busy = guard
                    break
                held.append(guard)
        if busy is None:
            return held, []
        _release(held)
        left = end - time.monotonic()
        first = [busy] if left > 0 and busy.lock.acquire(timeout=left) else []
        if left <= 0:
            held = [guard for guard in guards if guard.lock.acquire(blocking=False)]
            return held, [guard for guard in guards if guard not in held]


def _release(held: list[Guard]) -> None:
    for guard in held:
        guard.lock.release()


def _before() -> None:
    if not hasattr(_own, "held"):  # a hook that was registered twice runs twice
        guards = [guard for source in list(_sources) for guard in source()]
        _own.held, _own.lost = taken(guards, PATIENCE)


def _after() -> list[Guard]:
    """Release what is held, and return what could not be had."""
    if not hasattr(_own, "held"):  # released by a hook that ran before, or registered during the fork
        return []
    _release(_own.held)
    lost: list[Guard] = _own.lost
    del _own.held, _own.lost
    return lost


def _after_in_child() -> None:
    for guard in _after():
        guard.lost()


come_first()


def _unlock_cached_properties() -> None:
    """Give each cached property of the package a new lock: Python 3.11 holds one per property while it is computed."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "deniable":
            for cls in list(vars(module).values()):
                if isinstance(cls, type) and cls.__module__ == name:
                    for each in vars(cls).values():
                        if isinstance(each, cached_property):
                            each.lock = threading.RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12):
    in_child(_unlock_cached_properties)
