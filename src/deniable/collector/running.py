"""A collector put together: a store by its address, the service on it, and the server before it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from deniable.collector.http.application import Application
from deniable.collector.http.hearing import hearing
from deniable.collector.http.logs import NONE, Log
from deniable.collector.http.server import Server
from deniable.collector.service.clock import Clock
from deniable.collector.service.service import Service
from deniable.collector.service.settings import Settings
from deniable.collector.spool.writing import spooling
from deniable.collector.store.opening import open_store
from deniable.collector.store.protocol import Store
from deniable.core.errors import InvalidArgument
from deniable.wire.keys import ADMIN, READ, WRITE, Key
from deniable.wire.refusals import Refused

ADMIN_VARIABLE = "DENIABLE_ADMIN_KEY"
ADMIN_FILE = "admin.key"


class Collector(NamedTuple):
    """A collector that is ready to be served."""

    service: Service
    application: Application
    log: Log


@contextmanager
def opened(
    address: str | Path, *, log: Log | None = None, clock: Clock | None = None, spool: Path | None = None
) -> Iterator[Collector]:
    """Open a collector on a folder or a PostgreSQL address, and close it afterwards.

    With a `spool`, reports go to files there, and are counted later by whoever counts the spool.
    """
    log = Log(NONE) if log is None else log
    with hearing(log):
        yield from _opened(address, log, clock, spool)


def _opened(address: str | Path, log: Log, clock: Clock | None, spool: Path | None) -> Iterator[Collector]:
    store: Store = open_store(address)
    if spool is not None:
        store = spooling(store, spool)
    try:
        service = Service(store, clock=clock, report=log.fault)
    except BaseException:
        store.close()
        raise
    application = Application(service, log)
    try:
        yield Collector(service, application, log)
    finally:
        application.close()
        service.close()


def serve(collector: Collector, bound: socket.socket, started: Callable[[], None] = lambda: None) -> None:
    """Answer on this socket until a signal, or another thread by `should_exit`, ends it."""
    collector.service.start()
    Server(collector.application, started).run(sockets=[bound])


def admin_key(service: Service, folder: Path | None) -> Path | None:
    """See to it that there is an administrator's key; return the file that a new one was written to, if any.

    It is taken from the environment. Else, at the first start, it is made and written to the folder, for its owner
    alone to read.
    """
    given = os.environ.get(ADMIN_VARIABLE)
    if given:
        rule = "hold an administrator's key, which is dna_ and 22 letters"
        try:
            key = Key.read(given.strip())
        except InvalidArgument:
            raise InvalidArgument(ADMIN_VARIABLE, rule, "another text", f"Make one with: {_MAKING}") from None
        if key.role != ADMIN:
            raise InvalidArgument(ADMIN_VARIABLE, rule, "another key")
        try:
            service.office.keep_key(key, None, "from the environment")
        except Refused:
            hint = f"Make another with: {_MAKING}"
            raise InvalidArgument(ADMIN_VARIABLE, "hold a key that is good", "one that was revoked", hint) from None
        service.refresh()
        return None
    if any(holder.role == ADMIN for holder in service.directory.holders.values()):
        return None
    if folder is None:
        hint = f"Make one with: {_MAKING}"
        raise InvalidArgument(ADMIN_VARIABLE, "hold an administrator's key for a new database", "none", hint)
    path = folder / ADMIN_FILE
    if path.exists():  # a start was cut off after it had written the file
        key = Key.read(path.read_text().strip()).require(ADMIN)
    else:
        key = Key.new(ADMIN)
        write_secret(path, key.text)
    service.office.keep_key(key, None, ADMIN_FILE)
    service.refresh()
    return path


_CODE = "from deniable.wire.keys import Key; print(Key.new('admin').text)"
_MAKING = f'python -c "{_CODE}"'


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all; a file that is there is kept."""
    _free(path)
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


def _free(path: Path) -> None:
    if path.exists():
        hint = "Move it away to have a new one written."
        raise InvalidArgument("file of keys", "not be there already", str(path), hint)


class ReadyMade(NamedTuple):
    """What was done so that there is a collection: whether it is new, and the file if new keys were written to it."""

    new: bool
    keys: Path | None


def ready_made(
    service: Service, name: str, spec: dict[str, Any], settings: Settings, file: Path, *, mend: bool
) -> ReadyMade:
    """Make a collection of this spec unless there is one of this name, and write its keys to a file.

    To `mend` is to make new keys where the collection is there and the file is not, because a start was cut off.
    """
    new = name not in service.directory.desks
    if new:
        _free(file)
        made = service.office.add_collection(name, spec, settings)
    else:
        desk = service.directory.desk(name)
        if service.office.asked(spec).fingerprint not in {row.fingerprint for row in desk.rows}:
            raise Refused("conflict", f"there is a collection {name} of another spec. Give another name.")
        if file.exists() or not mend:
            return ReadyMade(new, None)
        made = [service.office.add_key(role, desk.number, file.name) for role in (WRITE, READ)]
    service.refresh()
    write_secret(file, json.dumps({each.key.role: each.key.text for each in made}, indent=2))
    return ReadyMade(new, file)
