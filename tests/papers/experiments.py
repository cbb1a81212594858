"""Experiments of papers on a small grid, for their tests."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from papers.frame.cache import Cache
from papers.frame.experiment import Experiment, Grid
from papers.frame.library import experiments
from papers.frame.record import judged
from papers.frame.runner import run


def shrunk(name: str, setting: dict[str, Any], repeats: int) -> Experiment:
    """The experiment `paper/name` on that setting alone."""
    return replace(experiments([name])[0], quick=Grid(setting, repeats=repeats))


def verdicts(experiment: Experiment, folder: Path) -> list[str]:
    """What kind of verdict each claim gets, of rows that are finite numbers."""
    cache = Cache(folder)
    run([experiment], cache)
    done = judged(experiment, cache)
    assert done.rows
    for row in done.rows:
        assert all(math.isfinite(value) for value in row.values() if isinstance(value, (int, float)))
    return [verdict.kind for _, verdict in done.verdicts]
