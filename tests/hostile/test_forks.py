"""A child process forked while threads hold locks does not hang, and what the locks guard is whole."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.running.figures import Record, pace

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def _forked(times: int, patience: float, *options: str, **environment: str) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.hostile.forking", str(times), *options]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, f"{times} forks, 0 wrong []\n"), done.stderr


def test_thirty_forks_beside_busy_threads() -> None:
    _forked(30, 300)


def test_forks_amid_first_compilations(tmp_path: Path) -> None:
    _forked(10, 300, "cold", NUMBA_CACHE_DIR=str(tmp_path))


@pytest.mark.soak
def test_a_thousand_forks_beside_busy_threads(record_property: Record) -> None:
    start = time.monotonic()
    _forked(1000, 3600)
    record_property("figure", f"forks beside busy threads: {pace(1000, start)}, 0 wrong")
