"""What is kept between calls: a cache bounded in bytes, and classes whose cached properties are not pickled."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from deniable.core.forks import Guard, held_while_forking

P = ParamSpec("P")
R = TypeVar("R")

KEPT_BYTES = 2**26  # by each cache


class FieldsOnly:
    """A dataclass that pickles and copies its fields only: cached properties are computed again where they are used."""

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


def kept(size: Callable[[Any], int], most: int = KEPT_BYTES) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the latest results of a function as long as they have at most this many bytes, by `size`, together.

    A result with more is not kept at all: whoever needs it again and again holds it. Threads may share the cache; two
    that ask for the same at once may both compute it. Arguments are given by position.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        results: OrderedDict[Hashable, tuple[R, int]] = OrderedDict()
        lock = threading.RLock()
        total = 0

        def forget() -> None:
            nonlocal lock, total
            lock, total = threading.RLock(), 0
            results.clear()

        held_while_forking(lambda: [Guard(lock, forget)])

        @wraps(function)
        def cached(*key: P.args, **options: P.kwargs) -> R:
            nonlocal total
            assert not options, "arguments of a kept function are given by position"
            with lock:
                if key in results:
                    results.move_to_end(key)
                    return results[key][0]
            made = function(*key)  # type: ignore[call-arg]
            with lock:
                cost = size(made)
                if key not in results and cost <= most:
                    results[key] = made, cost
                    total += cost
                while total > most:
                    total -= results.popitem(last=False)[1][1]
            return made

        cached.results = results  # type: ignore[attr-defined]
        return cached

    return decorate
