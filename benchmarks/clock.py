"""CPU time of one thread on one core: medians, after a warm-up.

The peers' process uses this module too, so it needs nothing beyond the standard library.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from statistics import median

REPEATS = 5
_SAMPLE = 0.005  # seconds: shorter jobs are repeated within a sample

Job = Callable[[], object]


class CommandFailed(Exception):
    """A timed command failed; the message is the last line of its output."""


def pin() -> None:
    """Pin this process, and every process it starts, to one core; print a note where the system cannot."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    else:
        print("this system cannot pin a process to a core: expect more noise", file=sys.stderr)


def medians(jobs: Mapping[str, Job], repeats: int = REPEATS) -> dict[str, float]:
    """Median CPU seconds of each job. The jobs take turns, so a slow moment of the machine affects all of them."""
    loops = {name: _loops(job) for name, job in jobs.items()}
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            samples[name].append(_seconds(job, loops[name]) / loops[name])
    return {name: median(seconds) for name, seconds in samples.items()}


def command_medians(commands: Mapping[str, Sequence[str]], repeats: int = REPEATS) -> dict[str, float]:
    """Median CPU seconds, user and system, of whole processes; a failing command is an error."""
    samples: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            seconds = _process_seconds(command)
            if turn > 0:  # the first turn fills the file cache and writes the bytecode
                samples[name].append(seconds)
    return {name: median(seconds) for name, seconds in samples.items()}


def last_line(text: str) -> str:
    """The last line of a process's output, where Python names an error."""
    return (text.strip().splitlines() or ["no message"])[-1]


def _loops(job: Job) -> int:
    job()  # compilation, first touch of memory
    return max(1, ceil(_SAMPLE / max(_seconds(job, 1), 1e-9)))


def _seconds(job: Job, loops: int) -> float:
    start = time.process_time()
    for _ in range(loops):
        job()
    return time.process_time() - start


def _process_seconds(command: Sequence[str]) -> float:
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if finished.returncode:
        raise CommandFailed(last_line(finished.stderr))
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
