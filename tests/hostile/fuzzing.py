"""A fuzzer of everything that reads from strangers: `python -m tests.hostile.fuzzing 2000000 [first seed]`.

Each input is made from its number by a mutation of something valid. It may be accepted, or refused by a DeniableError
(a command: by exit code 2 and one line), within two seconds; anything else is a finding, printed with its number. A
slow input may have met a loop that had to be compiled: it is tried again in a fresh process, where loops are loaded
and no cache holds what the first reading left. `--again target number` does the same for one input.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import deniable as dn
from tests.hostile.targets import TARGETS, Folder, warm_up

MOST_SECONDS = 2.0


class Findings:
    """What a run found: inputs and acceptances by target, and every fault."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()
        self.faults: list[str] = []
        self.slowest = (0.0, "")

    def __str__(self) -> str:
        lines = [f"{name}: {self.ran[name]:,} inputs, {self.accepted[name]:,} accepted" for name in self.ran]
        return "\n".join([*lines, self.summary(), *self.faults])

    def summary(self) -> str:
        """The run in one line."""
        ran, accepted, (seconds, slowest) = self.ran.total(), self.accepted.total(), self.slowest
        counts = f"{ran:,} mutated inputs, {accepted:,} accepted, {len(self.faults)} faults"
        return f"{counts}; slowest {seconds:.2f} s ({slowest})"


def fuzz(count: int, first: int = 0, found: Findings | None = None) -> Findings:
    """Try the inputs of these numbers."""
    found = Findings() if found is None else found
    names, shares = list(TARGETS), [target.share for target in TARGETS.values()]
    with _prepared() as files:
        for number in range(first, first + count):
            name = random.Random(number).choices(names, shares)[0]
            _try(name, number, files, found)
    return found


@contextmanager
def _prepared() -> Iterator[Folder]:
    """Do what a process does once, which is not the cost of an input; the folder is for files."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = Folder(Path(folder))
        warm_up()
        for name in TARGETS:
            _run(name, -1, files)
        yield files


def _try(name: str, number: int, files: Folder, found: Findings) -> None:
    found.ran[name] += 1
    seconds, fault = _run(name, number, files)
    if seconds > MOST_SECONDS / 2:
        seconds = afresh(name, number)
    found.slowest = max(found.slowest, (seconds, f"{name} {number}"))
    if fault is None:
        found.accepted[name] += 1
    elif fault:
        found.faults.append(f"{name} {number}: {fault}")
    if seconds > MOST_SECONDS:
        found.faults.append(f"{name} {number}: {seconds:.1f} s")


def afresh(name: str, number: int) -> float:
    """The seconds that an input takes in a fresh process."""
    command = [sys.executable, "-m", __spec__.name, "--again", name, str(number)]
    return float(subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout)


def _run(name: str, number: int, files: Folder) -> tuple[float, str | None]:
    """Seconds, and the fault: None if the input is accepted, nothing if it is refused as it should be."""
    source, start = random.Random(f"{name} {number}"), time.process_time()
    fault: str | None = None
    try:
        TARGETS[name].attempt(source, files)
    except dn.DeniableError as error:
        fault = f"a message of {len(str(error))} characters" if len(str(error)) > 2000 else ""
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        fault = f"{type(error).__name__} {str(error)[:200]!r} at {place}"
    return time.process_time() - start, fault


def main(count: int, first: int = 0) -> int:
    """Try this many inputs, in parts whose findings are printed at once; return how many faults there are."""
    found, printed, step = Findings(), 0, 5000
    for start in range(first, first + count, step):
        fuzz(min(step, first + count - start), start, found)
        sys.stdout.write("".join(f"{fault}\n" for fault in found.faults[printed:]))
        sys.stdout.write(f"{found.ran.total():,}\n")
        sys.stdout.flush()
        printed = len(found.faults)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    sys.stdout.write(f"{found}\nat most {largest:.0f} MiB held by the process\n")
    return len(found.faults)


def again(name: str, number: int) -> None:
    """Try one input and print the seconds it took."""
    with _prepared() as files:
        sys.stdout.write(f"{_run(name, number, files)[0]}\n")


if __name__ == "__main__":
    if sys.argv[1] == "--again":
        again(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main(*map(int, sys.argv[1:])) > 0)
