"""Ends asked for from outside: a command that is told to stop tidies up first."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_AGAIN = 0.01  # seconds


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
        with _sent_again():
            yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _sent_again() -> Iterator[None]:
    """Send a signal again whose Ended was raised where Python drops exceptions, as in a callback from C."""
    before, waiting = sys.unraisablehook, list[threading.Timer]()

    def dropped(raised: sys.UnraisableHookArgs) -> None:
        if not isinstance(raised.exc_value, Ended):
            before(raised)
            return
        # a little later, outside of the callback; if it is inside of another one then, once more
        waiting.append(threading.Timer(_AGAIN, os.kill, (os.getpid(), raised.exc_value.number)))
        waiting[-1].start()

    sys.unraisablehook = dropped
    try:
        yield
    finally:
        sys.unraisablehook = before
        for each in waiting:
            each.cancel()
            each.join()


def _end(number: int, _frame: FrameType | None) -> None:
    raise Ended(number)
