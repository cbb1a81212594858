"""How much a key may send: two buckets of tokens, of requests and of reports, that fill with time."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from deniable.wire.refusals import Refused

_BURST = 2.0  # seconds of the rate that may come at once


class Allowance:
    """Tokens of one key, for all threads."""

    __slots__ = ("_clock", "_lock", "_reports", "_requests", "_since", "reports", "requests")

    def __init__(self, requests: float, reports: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.requests, self.reports = requests, reports
        self._clock = clock
        self._lock = Lock()
        self._since = clock()
        self._requests, self._reports = max(1.0, requests * _BURST), max(1.0, reports * _BURST)

    def take(self, reports: int) -> None:
        """Take a request of so many reports, 0 for a question, or refuse it and say when to come back.

        A batch of more reports than the bucket holds passes when the bucket is full, and then takes longer to refill.
        """
        with self._lock:
            self._take(reports)

    def _take(self, reports: int) -> None:
        now = self._clock()
        passed, self._since = now - self._since, now
        most_requests, most_reports = max(1.0, self.requests * _BURST), max(1.0, self.reports * _BURST)
        self._requests = min(most_requests, self._requests + passed * self.requests)
        self._reports = min(most_reports, self._reports + passed * self.reports)
        needed = min(float(reports), most_reports)
        if self._requests < 1.0 or self._reports < needed:
            wait = max((1.0 - self._requests) / self.requests, (needed - self._reports) / self.reports)
            raise Refused("rate", retry_after=max(wait, 0.001))
        self._requests -= 1.0
        self._reports -= reports
