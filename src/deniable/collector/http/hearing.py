"""What libraries say of themselves, as lines of the collector's log: where and of what kind, in no words of a request.

They speak through Python's loggers, warnings, and the hooks for errors that nobody catches, and would all write to
standard error in forms of their own.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deniable.collector.http.logs import Log, place_of

_WORDED = ("uvicorn", "sqlalchemy", "psycopg")  # whose messages are constants, into which they put values later


class _Handler(logging.Handler):
    """Writes records as events of a log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        told: dict[str, object] = {"logger": record.name, "level": record.levelname.lower()}
        if record.name.startswith(_WORDED) and isinstance(record.msg, str):
            told["message"] = record.msg.strip()
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            told |= {"kind": type(error).__name__, "place": place_of(error)}
        self._log.event("library", **told)


@contextmanager
def hearing(log: Log) -> Iterator[None]:
    """Let a log have all that libraries say meanwhile."""

    def uncaught(told: Any) -> None:
        if told.exc_value is not None:
            log.fault(told.exc_value)

    handler, root = _Handler(log), logging.getLogger()
    before = threading.excepthook, sys.unraisablehook
    root.addHandler(handler)
    logging.captureWarnings(True)
    threading.excepthook = sys.unraisablehook = uncaught
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = before
        logging.captureWarnings(False)
        root.removeHandler(handler)
