"""Large batches: their ids are looked through in a thread, so that no other request waits for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from deniable.collector.service.taking import Taken, ids_of
from deniable.wire.refusals import Refused

# ids that take a millisecond or two: an HMAC costs about 3 microseconds, to cut an id and to look for its like 0.1
MOST_AT_ONCE = 20_000
MOST_ISSUED_AT_ONCE = 500
MOST_BYTES = 2**26  # of what waits for the thread
_RETRY_BUSY, _RETRY_STOPPING = 1.0, 2.0


class Checker:
    """Hands what passed the door on to `put`, with its ids: small batches at once, large ones from a thread."""

    def __init__(self, put: Callable[[Taken], None]) -> None:
        self._put = put
        self._pool = ThreadPoolExecutor(1, "deniable-ids")
        self._lock = Lock()
        self._bytes = 0
        self._closed = False

    def put(self, taken: Taken) -> None:
        """Look through the ids of reports, now or soon, or refuse them."""
        most = MOST_ISSUED_AT_ONCE if taken.desk.settings.issued_ids else MOST_AT_ONCE
        if not taken.frame.ids or taken.frame.n <= most:
            taken.ids = ids_of(taken.frame, taken.desk)
            self._put(taken)
            return
        size = taken.bytes
        with self._lock:
            if self._closed:
                raise Refused("stopping", retry_after=_RETRY_STOPPING)
            if self._bytes and self._bytes + size > MOST_BYTES:
                raise Refused("busy", "too many large batches arrive at once", retry_after=_RETRY_BUSY)
            self._bytes += size
            self._pool.submit(self._look, taken, size)

    def close(self) -> None:
        """Hand on what waits, and end the thread."""
        with self._lock:
            self._closed = True
        self._pool.shutdown()

    def _look(self, taken: Taken, size: int) -> None:
        try:
            taken.ids = ids_of(taken.frame, taken.desk)
            self._put(taken)
        except Exception as why:  # whoever waits is told
            taken.outcome = why
            taken.wake([taken])
        finally:
            with self._lock:
                self._bytes -= size
