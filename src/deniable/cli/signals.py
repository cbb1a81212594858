"""Ends asked for from outside: a command that is told to stop tidies up first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(BaseException):
    """A signal asked the process to end. Not an Exception, so that nothing but tidying up takes notice."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"ended by {signal.Signals(number).name}")


@contextmanager
def ending_tidily() -> Iterator[None]:
    """Raise Ended where a signal would end the process and leave its temporary files behind.

    A signal that is ignored, as under nohup, stays ignored; one that a host program handles stays its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    replaced = [number for number in _ENDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    raise Ended(number)
