"""Locks in a child process: a lock that another thread held at the fork would stay locked forever.

A child has only the thread that forked. Locks of Python's own modules, and of NumPy and OpenSSL, are reset by them.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property


def in_child(reset: Callable[[], None]) -> None:
    """Call `reset` in every process forked from this one; where there is no fork, never."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=reset)


def held_while_forking(locks: Callable[[], Iterable[AbstractContextManager[object]]]) -> None:
    """Hold these locks during every fork, so that what they guard is whole in the child, and unlocked."""
    own = threading.local()  # the thread that forks is the same before and after

    def before() -> None:
        own.held = ExitStack()
        for lock in locks():
            own.held.enter_context(lock)

    def after() -> None:
        if hasattr(own, "held"):  # not if it was registered during the fork
            own.held.close()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)


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
