"""Logs: one line of JSON per request, with route, status, kind and milliseconds, and nothing else of the request."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from threading import Lock
from typing import TextIO

ALL, REFUSED, NONE = "all", "refused", "none"
KINDS = (ALL, REFUSED, NONE)
_LINES = 256  # that may wait to be written
_SECONDS = 0.5


def place_of(error: BaseException) -> str:
    """The module and line where an error was raised."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_globals.get('__name__', '')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


class Log:
    """Lines that are written some at a time, because a write per request costs more than the request."""

    def __init__(self, kind: str = NONE, stream: TextIO | None = None) -> None:
        self._all, self._some = kind == ALL, kind != NONE
        self._stream = sys.stderr if stream is None else stream
        self._lines: list[str] = []
        self._lock = Lock()
        self._written = time.monotonic()

    def request(self, route: str, status: int, kind: str, started: float) -> None:
        """Log a request; `started` is of time.perf_counter."""
        if self._all or (self._some and status >= 400):
            took = 1000 * (time.perf_counter() - started)
            self._add(
                f'{{"time":{int(time.time())},"route":"{route}","status":{status},"kind":"{kind}","ms":{took:.2f}}}\n'
            )

    def event(self, what: str, **more: object) -> None:
        """Log something that happened to the collector itself, at once."""
        if self._some:
            self._add(json.dumps({"time": int(time.time()), "event": what, **more}) + "\n")
            self.flush()

    def fault(self, error: BaseException) -> None:
        """Log an unexpected fault by its kind and place; its message may quote what nobody should see."""
        self.event("fault", kind=type(error).__name__, place=place_of(error))

    def _add(self, line: str) -> None:
        with self._lock:
            self._lines.append(line)
            due = len(self._lines) >= _LINES or time.monotonic() - self._written > _SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """Write what waits. Where nothing can be written, lines are lost: no request fails for its log."""
        with self._lock, suppress(OSError, ValueError):  # ValueError: the stream is closed
            lines, self._lines = self._lines, []
            self._written = time.monotonic()
            if lines:
                self._stream.write("".join(lines))
                self._stream.flush()
