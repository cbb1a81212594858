"""Threads that run handlers: bounded is how many requests wait for them, in all and of one key."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from deniable.collector.http.handlers import Call
from deniable.collector.http.replies import Reply
from deniable.wire.refusals import Refused

MOST_WAITING = 64  # requests
MOST_OF_A_KEY = 16  # of them
_THREADS = 4
_BUSY_SECONDS = 1.0


class Threads:
    """Some threads for one sort of requests, so that no other sort waits for them. It is used from the event loop."""

    def __init__(self, name: str) -> None:
        self.pool = ThreadPoolExecutor(_THREADS, name)
        self._waiting: Counter[bytes | None] = Counter()  # requests by the key that asks

    @property
    def waiting(self) -> int:
        """Requests that are not answered yet."""
        return self._waiting.total()

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown(cancel_futures=True)

    def run(self, handler: Callable[[Call], Reply], call: Call) -> Awaitable[Reply]:
        """The answer of a handler, or refuse to wait for it."""
        who = None if call.holder is None else call.holder.row.digest
        if self.waiting >= MOST_WAITING:
            raise Refused("busy", "too many questions wait for an answer", retry_after=_BUSY_SECONDS)
        if who is not None and self._waiting[who] >= MOST_OF_A_KEY:
            raise Refused("busy", "too many questions of this key wait for an answer", retry_after=_BUSY_SECONDS)
        self._waiting[who] += 1
        future = asyncio.get_running_loop().run_in_executor(self.pool, answered, handler, call)
        future.add_done_callback(lambda _: self._done(who))
        return future

    def _done(self, who: bytes | None) -> None:
        self._waiting[who] -= 1
        if not self._waiting[who]:
            del self._waiting[who]


def answered(handler: Callable[[Call], Reply], call: Call) -> Reply:
    """Call a handler. No future takes a StopIteration, so whoever waits for one would wait for ever."""
    try:
        return handler(call)
    except StopIteration as error:
        raise RuntimeError("a handler looked for what is not there") from error
