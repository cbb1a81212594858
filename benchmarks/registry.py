"""The rows of the table: found in benchmarks/rows, measured one by one, judged by their goals."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import rows
from benchmarks.goals import Figures, Goal, Measured, Verdict
from benchmarks.peer_process import Peers


@dataclass(frozen=True)
class Bench:
    """The resources of a row: the peers, the folder of real histograms, and the machine's limits."""

    peers: Peers
    data: Path
    limits: Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """A job, the function that measures it for us and for others, and the goals it has to reach."""

    job: str
    measure: Callable[[Bench], Measured]
    goals: tuple[Goal, ...]


@dataclass(frozen=True)
class Outcome:
    """The result of a row: its figures, a verdict for each goal, and the error if it could not be measured."""

    job: str
    verdicts: tuple[Verdict, ...]
    figures: Mapping[str, Figures] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def all_rows() -> tuple[Row, ...]:
    """The ROWS of every module in benchmarks/rows, in the order of the modules' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(rows.__path__))
    modules = [importlib.import_module(f"{rows.__name__}.{name}") for name in names]
    return tuple(row for module in modules for row in module.ROWS)


def outcomes(chosen: Iterable[Row], bench: Bench) -> Iterator[Outcome]:
    """Measure rows in order. A row that fails is reported as failed, and the others still run."""
    for row in chosen:
        error = ""
        try:
            measured = row.measure(bench)
        except Exception as problem:
            measured, error = Measured(), without_paths(f"{type(problem).__name__}: {problem}")
        missing = {name: without_paths(reason) for name, reason in measured.missing.items()}
        measured = Measured(measured.figures, missing)
        verdicts = tuple(goal.judge(measured) for goal in row.goals)
        yield Outcome(row.job, verdicts, measured.figures, missing, error)


def without_paths(message: str) -> str:
    """The message with every path cut to its last part: records are shared, machines are not."""
    return re.sub(r"(?<![\w.])/(?:[^\s/'\"():,]+/)+", "", message)
