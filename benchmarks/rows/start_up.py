"""What it costs to start: importing the package, and the command line's help."""

from __future__ import annotations

import sys
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


ROWS = (
    Row("start-up: import deniable", partial(start, code="import deniable"), (AtMost(0.2, beside=NUMPY),)),
    Row("start-up: deniable --help", partial(start, code=HELP), (AtMost(0.4, beside=NUMPY),)),
)
