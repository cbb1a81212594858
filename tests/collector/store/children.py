"""Processes that use a store until they are killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

from sqlalchemy import event

from deniable.collector.store.migrations import Step, migrate
from deniable.collector.store.opening import open_store
from deniable.collector.store.protocol import StorageTrouble
from deniable.collector.store.records import Delivery
from deniable.collector.store.sql import SqlStore
from tests.collector.store.helpers import HOUR, Sums, a_cell, identifier, reports

CELLS = [a_cell(), a_cell(segments=b"\1")]
WHOLE = 1_000_000  # above the numbers of reports with ids of their own

# Children start from a process that has imported all they need, so that a thousand of them are quick
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([__name__])


def delivered(number: int) -> list[Delivery]:
    """What is delivered by commit `number`: new reports, some of the commit before, a whole batch."""
    first = 10 * number
    return [
        reports(CELLS[0], range(first, first + 6), width=4),
        reports(CELLS[1], range(first + 6, first + 10), width=4),
        reports(CELLS[0], range(max(0, first - 10), max(0, first - 6)), width=4),
        Delivery(CELLS[number % 2], HOUR, (identifier(WHOLE + number),), b"\0\1" * 3, 3, whole=True),
    ]


def commit_until_killed(address: str, start: int, keep: bool, acknowledgements: Connection) -> None:
    """Commit one group after the other and tell of each that is acknowledged, while another thread counts."""
    store = open_store(address)
    threading.Thread(target=_count_for_ever, args=(store, keep), daemon=True).start()
    for number in range(start, WHOLE):
        store.commit(delivered(number))
        acknowledgements.send(number)


def _count_for_ever(store: SqlStore, keep: bool) -> None:
    while True:
        for cell, _ in store.waiting():
            store.fold(cell, Sums(5), keep=keep, most=7)


def count_and_commit(address: str, numbers: Sequence[int]) -> None:
    """Commit some groups, which others commit as well, and count what waits after each."""
    store = open_store(address)
    for number in numbers:
        store.commit(delivered(number))
        for cell, _ in store.waiting():
            store.fold(cell, Sums(), keep=False, most=30)
    store.close()


def die_at_statement(address: str, statement: int, steps: Sequence[Step]) -> None:
    """Open a store and be killed before a statement of its migration."""
    from deniable.collector.store import opening

    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    def migrate_and_die(database: Any) -> None:
        event.listen(database.engine, "before_cursor_execute", count)
        event.listen(database.engine, "commit", count)
        migrate(database, steps)

    opening.migrate = migrate_and_die  # type: ignore[assignment]
    open_store(address).close()


def fill_to_limit(address: str, size: int, accepted: Connection) -> None:
    """Commit until files may not grow, twice, and tell how many groups were accepted."""
    store = open_store(address)
    number = 0
    for limit in (size, 2 * size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        with contextlib.suppress(StorageTrouble):
            while True:
                store.commit(delivered(number))
                number += 1
        accepted.send(number)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.commit(delivered(number))
    accepted.send(number + 1)
    store.close()


def start(target: Any, *arguments: object) -> Any:
    """Start a child."""
    process = _context.Process(target=target, args=arguments)
    process.start()
    return process


@contextlib.contextmanager
def pipe() -> Iterator[tuple[Connection, Connection]]:
    """A way for a child to tell something, closed at the end."""
    reader, writer = _context.Pipe(duplex=False)
    with reader, writer:
        yield reader, writer
