"""`deniable warm-up` leaves nothing to compile, and says where it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def warmed(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-m", "deniable", "warm-up", *names]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_what_is_compiled_is_cached_and_not_compiled_again(tmp_path: Path) -> None:
    first = warmed(tmp_path, "grr")
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("compiled 1 of ")
    assert str(tmp_path) in first.stdout
    kept = sorted(tmp_path.rglob("*.nbc"))
    assert any("replace" in file.name for file in kept)
    warmed(tmp_path, "grr")
    assert sorted(tmp_path.rglob("*.nbc")) == kept


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    answer = warmed(tmp_path, "nope")
    assert answer.returncode == 2
    assert "mechanism must be one of" in answer.stderr
