"""A thread that sends what is due, for programs that go on running."""

from __future__ import annotations

import threading
from collections.abc import Callable

from deniable.client.errors import StoreFailed
from deniable.client.sending import Sent

_OFTEN, _SELDOM = 1.0, 300.0  # seconds between looks at the queue, which other processes may fill


class Background:
    """Calls `send` whenever something is due, until it is stopped. It ends with the program.

    A forked process has no such thread, and the events of its parent's may be locked there for ever: they are touched
    only while the thread is alive, and made anew for a new one.
    """

    def __init__(self, send: Callable[[], Sent], clock: Callable[[], float]) -> None:
        self._send, self._clock = send, clock
        self._awake, self._stopped = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; a second call changes nothing."""
        if not self._alive:
            self._awake, self._stopped = threading.Event(), threading.Event()
            self._thread = threading.Thread(target=self._run, name="deniable sender", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Wait until a request that has begun is over, and end."""
        if self._thread is not None and self._alive:
            self._stopped.set()
            self._awake.set()
            self._thread.join()
        self._thread = None

    def wake(self) -> None:
        """Look at the queue again: something new is in it."""
        if self._alive:
            self._awake.set()

    @property
    def _alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._awake.clear()
            try:
                due = self._send().next_due
            except StoreFailed:  # a full disk may become free; whoever answers is told
                due = None
            wait = _SELDOM if due is None else min(_SELDOM, max(_OFTEN, due - self._clock()))
            self._awake.wait(wait)
