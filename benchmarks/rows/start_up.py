"""What it costs to start: importing the package, and the command line's help."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.clock import command_medians
from benchmarks.goals import OURS, AtMost, Measured, timed
from benchmarks.registry import Bench, Row

NUMPY = "import numpy"
HELP = "import sys; from deniable.cli import main; sys.argv = ['deniable', '--help']; sys.exit(main())"


def start(_: Bench, code: str) -> Measured:
    """CPU time of a fresh interpreter that runs this code, beside one that imports numpy."""
    commands = {OURS: code, NUMPY: NUMPY}
    return timed(command_medians({name: (sys.executable, "-c", text) for name, text in commands.items()}))


FIRST_USE = """
import os, tempfile
os.environ["NUMBA_CACHE_DIR"] = {folder}
import numpy as np
import deniable as dn
m = dn.mechanism({name!r}, k=100, epsilon=1.0)
m.estimate(m.summarize(m.privatize(np.arange(10_000) % 100))).interval()
"""


def first_use(bench: Bench, name: str, cached: bool) -> Measured:
    """CPU time of a fresh interpreter from nothing to an estimate of 10,000 users, with numba's cache or without it."""
    with tempfile.TemporaryDirectory() as kept:
        code = FIRST_USE.format(name=name, folder=repr(kept) if cached else "tempfile.mkdtemp()")
        if cached:
            subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
        return start(bench, code)


ROWS = (
    *(
        Row(
            f"first use of {name}, {'cached' if cached else 'cold'}",
            partial(first_use, name=name, cached=cached),
            (goal,),
        )
        for name in ("grr", "csr", "ss", "oue", "mss", "cms")
        for cached, goal in ((False, AtMost(2.5, beside=NUMPY)), (True, AtMost(0.8, beside=NUMPY)))
    ),
    Row("start-up: import deniable", partial(start, code="import deniable"), (AtMost(0.2, beside=NUMPY),)),
    Row("start-up: deniable --help", partial(start, code=HELP), (AtMost(0.4, beside=NUMPY),)),
)
