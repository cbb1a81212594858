"""The thread that sends: a process that is forked beside it has none, and may begin its own."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings

import pytest

from deniable.client.background import Background
from deniable.client.sending import Sent


def sending(calls: list[float]) -> Background:
    def send() -> Sent:
        calls.append(time.time())
        return Sent()

    return Background(send, time.time)


def wait_for(calls: list[float], count: int) -> None:
    end = time.monotonic() + 20
    while len(calls) < count:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_looks_when_it_begins_when_it_is_woken_and_when_it_begins_again() -> None:
    calls: list[float] = []
    background = sending(calls)
    background.wake()  # nobody sleeps
    background.stop()
    assert not calls
    background.start()
    wait_for(calls, 1)
    background.start()  # which changes nothing
    background.wake()
    wait_for(calls, 2)
    background.stop()
    background.wake()
    seen = len(calls)
    background.start()
    wait_for(calls, seen + 1)
    background.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "deniable sender"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_is_forked_while_the_events_are_locked_goes_on() -> None:
    calls: list[float] = []
    background = sending(calls)
    background.start()
    wait_for(calls, 1)
    with background._awake._cond, background._stopped._cond, warnings.catch_warnings():  # type: ignore[attr-defined]
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
        if not child:
            status = 1
            try:
                signal.alarm(20)  # ends a child that hangs
                calls.clear()
                background.wake()
                background.stop()
                background.start()
                wait_for(calls, 1)
                background.stop()
                status = 0
            finally:
                os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    background.stop()
