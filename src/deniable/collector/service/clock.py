"""The time of a collector: it never goes back, so that a bucket that was closed stays closed, nor far ahead at once.

What is old is forgotten for good. So one reading of a wrong clock must not make everything old: a leap that the time
since the last reading does not explain is not believed until an operator says that it is true.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Lock

_HOUR = 3600
_LEAP_AT_START = 7 * 24 * _HOUR  # about a window: for so long a collector may have been off
_LEAP = 24 * _HOUR  # while it runs: a machine may have slept


class Clock:
    """The later of the system's clock and the latest time that any process of this collector has seen.

    While the system's clock is in doubt, time goes on from the latest one as `steady` does. With `accept`, the first
    reading is believed, whatever it is.
    """

    def __init__(
        self,
        source: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        *,
        accept: bool = False,
    ) -> None:
        self._source, self._steady = source, steady
        self._latest = 0.0
        self._seen = steady()  # when it was the latest time
        self._leap = math.inf if accept else _LEAP_AT_START
        self._ahead = 0.0
        self._lock = Lock()

    @property
    def ahead(self) -> float:
        """By how many seconds the system's clock is ahead of what is believed; 0 while it is believed."""
        self.seconds()
        return self._ahead

    def seconds(self) -> float:
        """Seconds since 1970."""
        now = self._source()
        if now <= self._latest:
            self._ahead = 0.0
            return self._latest
        with self._lock:
            steady = self._steady()
            explained = self._latest + max(0.0, steady - self._seen)
            if self._latest and now > explained + self._leap:
                self._ahead, now = now - explained, explained
            else:
                self._ahead, self._leap = 0.0, _LEAP
            if now > self._latest:
                self._latest, self._seen = now, steady
            return self._latest

    def hour(self) -> int:
        """Hours since 1970."""
        return int(self.seconds()) // _HOUR

    def at_least(self, seconds: float) -> None:
        """Learn of a later time."""
        with self._lock:
            if seconds > self._latest:
                self._latest, self._seen = seconds, self._steady()
