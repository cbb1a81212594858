"""Running experiments: only the missing cells, several at a time, each saved as soon as it is done."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from papers.frame.cache import Cache, cell_key
from papers.frame.experiment import Experiment, Measure
from papers.frame.rows import Row, Rows

_AHEAD = 2  # cells submitted per worker

Progress = Callable[[Experiment, int, int], None]  # cells done, and cells in all


def results(experiment: Experiment, cache: Cache, *, full: bool = False) -> Rows:
    """Return the saved results of an experiment's grid, in the order of the grid; missing cells are omitted."""
    kept = cache.read(experiment)
    rows: list[Row] = []
    for cell in experiment.grid(full=full).cells():
        rows.extend({**cell, **row} for row in kept.get(cell_key(experiment, cell), ()))
    return Rows(rows)


def missing(experiment: Experiment, cache: Cache, *, full: bool = False) -> list[dict[str, Any]]:
    """Return the cells of the grid that have no saved results."""
    kept = cache.read(experiment)
    return [cell for cell in experiment.grid(full=full).cells() if cell_key(experiment, cell) not in kept]


def run(
    experiments: Sequence[Experiment],
    cache: Cache,
    *,
    full: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> None:
    """Measure the missing cells. After an interruption, the next run continues where this one stopped.

    With several jobs, cells are measured by several processes; cells that measure time run one at a time.
    """
    for experiment in experiments:
        cells = missing(experiment, cache, full=full)
        total = len(experiment.grid(full=full))
        done = total - len(cells)
        if progress is not None:
            progress(experiment, done, total)
        for cell, rows in _measured(experiment, cells, 1 if experiment.timed else jobs):
            cache.append(experiment, cell_key(experiment, cell), rows)
            done += 1
            if progress is not None:
                progress(experiment, done, total)


def _measured(
    experiment: Experiment, cells: Sequence[dict[str, Any]], jobs: int
) -> Iterator[tuple[dict[str, Any], Sequence[Row]]]:
    if jobs <= 1 or len(cells) <= 1:
        for cell in cells:
            yield cell, _measure(experiment.measure, cell)
        return
    waiting = iter(cells)
    with _pool(min(jobs, len(cells))) as pool:
        running: dict[Future[Sequence[Row]], dict[str, Any]] = {}
        while True:
            for cell in waiting:
                running[pool.submit(_measure, experiment.measure, cell)] = cell
                if len(running) >= _AHEAD * jobs:
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def _measure(measure: Measure, cell: Mapping[str, Any]) -> Sequence[Row]:
    return [dict(row) for row in measure(**cell)]


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Make worker processes that ignore interrupts, which the parent handles."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # parallelism comes from the workers
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_ignore_interrupts)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
