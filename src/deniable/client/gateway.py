"""A gateway: takes the frames of devices that cannot reach the collector, and forwards them, mixed, in batches.

Frames keep their ids, so that a report is counted once however often it is handed over and sent. A gateway knows no
values, tosses no coins and keeps no ledger; it sees what the collector sees.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Self

from deniable.client.background import Background
from deniable.client.entries import SENT, WAITING
from deniable.client.outbox import DAY, MOST, Outbox
from deniable.client.sending import Backoff, Sender, Sent, delay
from deniable.client.store import Store
from deniable.client.web import Web, site_of
from deniable.core.display import brief
from deniable.core.validate import between, positive, whole
from deniable.wire.frames import BATCH_MAGIC, ID_BYTES, Frame, read_batch, read_report
from deniable.wire.keys import NO_KEY, WRITE, Key
from deniable.wire.refusals import Refused


class Gateway:
    """Forwards the reports of many devices to one collector.

    `store` is a file of its own; a frame that was taken is in it, on disk, before `take` returns. Each frame is
    forwarded under the key that is in it, or under `key` if it has none. Reports wait a random time of up to `delay`
    seconds, and leave in batches of up to `most`, with those of other devices.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        store: str | os.PathLike[str],
        delay: float = 0.0,
        timeout: float = 30.0,
        backoff: Backoff | None = None,
        most: int = MOST,
        clock: Callable[[], float] | None = None,
    ) -> None:
        site = site_of(url)
        self.delay = between(0, DAY, delay=delay)
        self._key = NO_KEY if key is None else Key.read(key).require(WRITE).secret
        self._clock = clock = clock or time.time
        self._store = Store(store)
        self._outbox = Outbox(self._store, site)
        web = Web(site, positive(timeout=timeout))
        self._sender = Sender(self._outbox, web, None, backoff or Backoff(), clock, whole(1, MOST, most=most))
        self._background = Background(self._sender.send, clock)

    def __repr__(self) -> str:
        return brief(self, site=self._outbox.site)

    def take(self, frame: bytes) -> int:
        """Keep the reports of a frame until they are forwarded; return how many were not kept already."""
        return self.take_many([frame])

    def take_many(self, frames: Iterable[bytes]) -> int:
        """Keep the reports of many frames, all of them or, if one is no frame, none."""
        rows = [row for frame in frames for row in self._rows(_read(frame))]
        with self._store.transaction() as database:
            before = database.total_changes
            database.executemany(
                "INSERT INTO reports (site, key, fingerprint, hour, segments, id, payload, state, due) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (site, key, fingerprint, hour, id) DO NOTHING",
                rows,
            )
            new = database.total_changes - before
        self._background.wake()
        return new

    def send(self, *, hurry: bool = False) -> Sent:
        """Forward what is due; with `hurry`, all that waits. Failures are no errors: what could not be sent stays."""
        return self._sender.send(hurry=hurry)

    def status(self) -> dict[str, int]:
        """How many reports wait, how many were sent, and how many were refused for which reason."""
        with self._store.transaction() as database:
            query = "SELECT outcome, n FROM outcomes WHERE site = ? ORDER BY outcome"
            ended = dict(database.execute(query, (self._outbox.site,)).fetchall())
            waiting = "SELECT count(*) FROM reports WHERE site = ? AND entry IS NULL"
            (count,) = database.execute(waiting, (self._outbox.site,)).fetchone()
        return {WAITING: int(count), SENT: ended.pop(SENT, 0), **ended}

    def start(self) -> Self:
        """Forward in the background from now on, until `close` or the end of the program."""
        self._background.start()
        return self

    def close(self) -> None:
        """Stop forwarding in the background; what waits is kept."""
        self._background.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rows(self, frame: Frame) -> list[tuple[object, ...]]:
        key = self._key if frame.key in (b"", NO_KEY) else frame.key
        head = (self._outbox.site, key, frame.fingerprint, frame.hour, frame.segments)
        size, now = len(frame.payloads) // frame.n, self._clock()
        return [
            (
                *head,
                frame.ids[ID_BYTES * place : ID_BYTES * (place + 1)],
                frame.payloads[size * place : size * (place + 1)],
                WAITING,
                now + delay(self.delay),
            )
            for place in range(frame.n)
        ]


def _read(data: bytes) -> Frame:
    """Read a frame whose reports have ids; without them nobody could tell a report that is sent twice."""
    if data[: len(BATCH_MAGIC)] != BATCH_MAGIC:
        return read_report(data)
    frame = read_batch(data)
    if not frame.has_ids:
        raise Refused("bad-id", "a gateway takes batches whose reports have ids; send others to the collector")
    if len(frame.payloads) % frame.n:
        raise Refused("bad-payload", "payloads of a batch must have the same length")
    return frame
