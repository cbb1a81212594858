"""A fork takes locks without a deadlock, and a child is told of those that it did not get."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from deniable.core.forks import Guard, taken


def in_another_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def guard(lock: threading.RLock) -> Guard:  # type: ignore[valid-type]
    return Guard(lock, lambda: None)


def test_locks_that_a_thread_takes_in_another_order_are_taken_when_it_lets_them_go() -> None:
    first, second = threading.RLock(), threading.RLock()
    holds, goes_on = threading.Event(), threading.Event()

    def other_order() -> None:
        with second:
            holds.set()
            goes_on.wait()
            with first:
                pass

    thread = in_another_thread(other_order)
    holds.wait()
    waker = threading.Timer(0.05, goes_on.set)
    waker.start()
    held, lost = taken([guard(first), guard(second)], patience=60)
    assert (len(held), lost) == (2, [])
    assert sorted(each.lock is first for each in held) == [False, True]
    for each in held:
        each.lock.release()
    thread.join(timeout=60)
    assert not thread.is_alive()


def test_a_lock_that_is_never_let_go_is_lost_and_the_others_are_held() -> None:
    free, busy = threading.RLock(), threading.RLock()
    holds, over = threading.Event(), threading.Event()

    def forever() -> None:
        with busy:
            holds.set()
            over.wait()

    thread = in_another_thread(forever)
    holds.wait()
    held, lost = taken([guard(free), guard(busy)], patience=0.05)
    assert ([each.lock for each in held], [each.lock for each in lost]) == ([free], [busy])
    over.set()
    thread.join()


PROGRAM = """
import os, sys, threading, warnings
import numba, numpy as np
import deniable as dn
from deniable import kernels
from deniable.core import forks

forks.PATIENCE = 0.1
m = dn.mechanism("grr", k=5, epsilon=1.0)
values = np.arange(40_000) % 5  # more than plain Python takes unless it must
accumulator = m.accumulator()
accumulator.add(m.privatize(values, seed=1))
holds, over = threading.Event(), threading.Event()

def hold():
    with LOCK:
        holds.set()
        over.wait()

thread = threading.Thread(target=hold)
thread.start()
holds.wait()
number = os.fork()
if number == 0:
    warnings.simplefilter("ignore")
    code = 1
    try:
        CHILD
    finally:
        os._exit(code)
over.set()
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0
accumulator.add(m.privatize(values, seed=1))
assert accumulator.summary().n == 80_000
print("fine")
"""
TORN = """try:
            accumulator.summary()
        except dn.DeniableError as error:
            code = "half changed" not in str(error)"""
PLAIN = """same = m.summarize(m.privatize(values, seed=1)) == SAME
        other = dn.mechanism("oue", k=300, epsilon=1.0)
        other.summarize(other.privatize(values[:5000], seed=2))
        code = 0 if same and kernels._Plain.only else 2"""


@pytest.mark.parametrize(
    ("lock", "child"),
    [
        ("accumulator._lock", TORN),
        ("kernels._compiler.loading", PLAIN),
        ("sys.modules['numba.core.compiler_lock'].global_compiler_lock", PLAIN),
    ],
)
def test_a_child_knows_what_it_did_not_get_and_goes_on_with_the_rest(lock: str, child: str) -> None:
    program = PROGRAM.replace("LOCK", lock).replace("CHILD", child)
    program = program.replace("holds, over =", "SAME = m.summarize(m.privatize(values, seed=1))\nholds, over =")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
