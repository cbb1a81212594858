"""The time of a collector: it never goes back, so that a bucket that was closed stays closed."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

_HOUR = 3600


class Clock:
    """The later of the system's clock and the latest time that any process of this collector has seen."""

    def __init__(self, source: Callable[[], float] = time.time) -> None:
        self._source = source
        self._latest = 0.0
        self._lock = Lock()

    def seconds(self) -> float:
        """Seconds since 1970."""
        now = self._source()
        if now > self._latest:
            with self._lock:
                self._latest = max(self._latest, now)
        return self._latest

    def hour(self) -> int:
        """Hours since 1970."""
        return int(self.seconds()) // _HOUR

    def at_least(self, seconds: float) -> None:
        """Learn of a later time."""
        with self._lock:
            self._latest = max(self._latest, seconds)
