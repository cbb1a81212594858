"""Counters: every request has one outcome, "ok" or why it was refused, so that they add up to the requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

OK = "ok"
_DAY = 24


class Outcomes:
    """Counts by route and outcome since the start, and refusals by collection and day until they are saved."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._refusals: Counter[tuple[int, int, str]] = Counter()
        self.requests = 0
        self.reports = 0  # that were new

    def add(self, route: str, outcome: str, hour: int, collection: int = 0, *, requests: int = 1) -> None:
        """Count a request, or several alike; `collection` is 0 where it is not known."""
        with self._lock:
            self.requests += requests
            self._counts[route, outcome] += requests
            if outcome != OK:
                self._refusals[collection, hour - hour % _DAY, outcome] += requests

    def stored(self, reports: int) -> None:
        """Count new reports."""
        with self._lock:
            self.reports += reports

    def counts(self) -> dict[tuple[str, str], int]:
        """The counts by route and outcome."""
        with self._lock:
            return dict(self._counts)

    def refusals(self, collection: int) -> dict[tuple[int, str], int]:
        """The refusals of a collection that are not saved yet, by day and reason."""
        with self._lock:
            return {(day, kind): count for (own, day, kind), count in self._refusals.items() if own == collection}

    def unsaved(self) -> Mapping[tuple[int, int, str], int]:
        """All refusals since the last call, to be saved."""
        with self._lock:
            found, self._refusals = self._refusals, Counter()
            return found
