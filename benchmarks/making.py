"""Making reports: simulated files, beside what the disk takes for as many bytes, and reports of values in memory.

`python -m benchmarks.engines --only simulate,privatize` measures these, and has the options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.threads import VARIABLE
from deniable.engines.simulated import COMPRESSIONS, simulate_files

MOST = {"simulate": 10**8, "privatize": 10**8}  # reports
_BLOCK = 2**24  # bytes written at once


def jobs(m: Any, folder: Path, users: int, threads: int) -> dict[str, Callable[[], Any]]:
    """What is measured: `simulate` with each compression and the bare writing of its bytes, and `privatize`."""

    @cache
    def values() -> Any:
        return np.random.default_rng(0).integers(0, m.k, users)

    def privatize() -> None:
        os.environ[VARIABLE] = str(threads)
        m.privatize(values())

    found: dict[str, Callable[[], Any]] = {"privatize": privatize}
    for how in COMPRESSIONS:
        home = folder / how

        def simulate(how: str = how, home: Path = home) -> None:
            simulate_files(m, home, users, compression=how, threads=threads, overwrite=True)

        def write(home: Path = home) -> None:
            written(home.with_suffix(".bytes"), size_of(home))

        found |= {f"simulate {how}": simulate, f"writing {how}": write}
    return found


def names(only: str) -> Iterator[str]:
    """The jobs of `simulate` or of `privatize`, each after those that it needs."""
    if only == "privatize":
        yield only
    else:
        yield from (f"{job} {how}" for how in COMPRESSIONS for job in (only, "writing"))


def size_of(folder: Path) -> int:
    """The bytes of the reports in a folder."""
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))


def written(path: Path, size: int) -> None:
    """Write so many bytes, and wait until they are on the disk."""
    block = os.urandom(min(size, _BLOCK))
    with path.open("wb", buffering=0) as file:
        for start in range(0, size, _BLOCK):
            file.write(block[: size - start])
        os.fsync(file.fileno())
