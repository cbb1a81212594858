"""Children forked beside busy threads: run in a process of its own, `python -m tests.hostile.forking 1000`.

With `cold`, loops are first compiled while forks happen: give it an empty folder in NUMBA_CACHE_DIR.

The threads make mechanisms, ask for certain sums, share calls, and add to an accumulator all the time, so that at a
fork some of them hold locks. A child does the same work; one that does not end within some seconds hangs.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable

import numpy as np

import deniable as dn
from deniable.core.threads import share
from deniable.counts.certain import balls
from deniable.kernels import compile_everything

_PATIENCE = 60.0  # seconds; a child needs some thousandths
_THREADS = 2
COLD = "cold" in sys.argv

mechanism = dn.mechanism("grr", k=50, epsilon=1.0)
accumulator = mechanism.accumulator()
BATCH = np.arange(50, dtype=np.uint32)


def make() -> None:
    """Make mechanisms, whose properties are cached under locks."""
    made = dn.mechanism("ss", k=31, epsilon=1.0)
    made.guarantee()
    dn.from_spec(made.spec.to_json()).encode(made.privatize_one(3))


def count() -> None:
    """Add a batch with all reports once: at all times the counts are equal."""
    accumulator.add(BATCH)


def sum_up() -> None:
    """Sum with 1,000 bits, and leave flint's own precision as it was."""
    with balls.precision(1000):
        balls.ball(3)
        time.sleep(0)


def spread() -> None:
    """Share a call among threads."""
    if sum(map(sum, share(list, range(10), 3))) != 45:
        raise AssertionError("a piece is missing")


WORK: tuple[Callable[[], None], ...] = (make, count, sum_up, spread)


def _forever(work: Callable[[], None]) -> None:
    while True:
        work()


def child() -> int:
    """Do all the work once; 0 if what it finds is whole."""
    import flint

    if flint.ctx.prec != 53:
        return 3
    summary = accumulator.summary()
    if len(set(summary.counts.tolist())) != 1 or summary.n != 50 * int(summary.counts[0]):
        return 4
    for work in WORK:
        work()
    return 0 if accumulator.summary().n == summary.n + 50 else 5


def fork_once() -> int:
    """Fork, and return how the child ended, or 9 if it had to be killed."""
    number = os.fork()
    if number == 0:
        code = 1
        faulthandler.dump_traceback_later(_PATIENCE / 4)  # where it hangs, if it does
        try:
            code = child()
        except dn.DeniableError as error:  # a fork that waited in vain, on a busy machine: the child is told
            code = 0 if COLD and "half changed" in str(error) else 6
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    return 9


def compile_loops() -> None:
    """Call what compiles loops, of which some are parts of others."""
    for name in ("oue", "ss", "olh", "csr"):
        m = dn.mechanism(name, k=60, epsilon=1.0)
        m.summarize(m.privatize(BATCH))


def main(forks: int) -> int:
    """Fork so often; return how many children hung or found what they should not."""
    for work in WORK:
        work()
    if COLD:
        compile_everything()
        threading.Thread(target=_forever, args=(compile_loops,), daemon=True).start()
    for work in WORK:
        for _ in range(_THREADS):
            threading.Thread(target=_forever, args=(work,), daemon=True).start()
    codes = [fork_once() for _ in range(forks)]
    wrong = [code for code in codes if code]
    sys.stdout.write(f"{forks} forks, {len(wrong)} wrong {sorted(set(wrong))}\n")
    sys.stdout.flush()
    os._exit(len(wrong) > 0)  # the threads are still busy


if __name__ == "__main__":
    main(int(sys.argv[1]))
