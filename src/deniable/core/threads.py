"""Threads for one large call: they share its pieces, and end with it.

Nothing is kept between calls, so a process may fork at any time. As many threads work as the process may use cores, or
as the environment variable DENIABLE_THREADS says. Results do not depend on their number.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from deniable.core.errors import InvalidArgument

VARIABLE = "DENIABLE_THREADS"
PARTS = 4  # of a table that threads share, at most

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def workers() -> int:
    """How many threads a large call uses: DENIABLE_THREADS, or the cores that this process may use."""
    given = os.environ.get(VARIABLE)
    if given:
        if not (given.isascii() and given.isdigit() and int(given) > 0):
            raise InvalidArgument(VARIABLE, "be a whole number, at least 1", given)
        return int(given)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def share(work: Callable[[Iterable[Piece]], Result], pieces: Iterable[Piece], threads: int) -> list[Result]:
    """Let threads, the calling one among them, take pieces until none is left; return what each of them made.

    Each thread calls `work` once, with the pieces it takes. If one fails, or the user interrupts, the others stop after
    the piece they are at.
    """
    left = deque(pieces)
    made: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            made.append(work(_taken(left)))
        except BaseException as error:
            left.clear()
            errors.append(error)

    helpers = [helper for _ in range(min(threads, len(left)) - 1) if (helper := _started(run))]
    try:
        made.append(work(_taken(left)))
    finally:
        left.clear()
        for helper in helpers:
            helper.join()
    if errors:
        raise errors[0]
    return made


def share_rows(work: Callable[[int, slice], None], rows: int, *, large: bool) -> None:
    """Let threads work on parts of the rows of a large table, each with its number; of a small one on all at once.

    The parts do not depend on the number of threads.
    """
    size = -(-rows // PARTS) if large else rows
    parts = [slice(start, min(start + size, rows)) for start in range(0, rows, max(1, size))]

    def each(taken: Iterable[tuple[int, slice]]) -> None:
        for number, part in taken:
            work(number, part)

    share(each, enumerate(parts), workers() if large else 1)


def _taken(left: deque[Piece]) -> Iterator[Piece]:
    while True:
        try:
            piece = left.popleft()
        except IndexError:
            return
        yield piece


def _started(run: Callable[[], None]) -> threading.Thread | None:
    helper = threading.Thread(target=run, daemon=True)
    try:
        helper.start()
    except RuntimeError:  # the system allows no more threads: the others do the work
        return None
    return helper
