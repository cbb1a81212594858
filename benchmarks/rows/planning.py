"""Planning: the time of a plan in a fresh interpreter, once its modules are imported."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from statistics import median

from benchmarks.goals import OURS, TIME, AtMost, Measured
from benchmarks.registry import Bench, Row

SEARCH = "one search for csr"
_CODE = """
import time
from deniable.planning.plan import plan
from deniable.mechanisms.designs.cyclotomy import search
started = time.process_time()
plan({question})
planned = time.process_time()
search(22_001, 7.5, None)
print(planned - started, time.process_time() - planned)
"""


def fresh_plan(_: Bench, question: str) -> Measured:
    """CPU time of the first plan of a process, beside the longest search of a single mechanism."""
    code, runs = _CODE.format(question=question), []
    for _run in range(5):
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        runs.append([float(number) for number in done.stdout.split()])
    ours, search = (median(column) for column in zip(*runs, strict=True))
    return Measured({OURS: {TIME: ours}, SEARCH: {TIME: search}})


QUESTIONS = {
    "margin": "k=22_000, epsilon=2.0, n=10_000",
    "users": "k=22_000, epsilon=2.0, detect=0.001",
    "epsilon": "k=22_000, n=10_000, margin=0.01",
    "open strings": "candidates=5_000, epsilon=2.0, n=1_000_000",
}

ROWS = tuple(
    Row(f"plan: {name}", partial(fresh_plan, question=question), (AtMost(0.3, beside=SEARCH),))
    for name, question in QUESTIONS.items()
)
