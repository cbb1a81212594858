"""`deniable warm-up` leaves nothing to compile, and says where it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import deniable as dn
from deniable.engines.streams import keyed


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


COUNT = """
import sys
import deniable as dn
from deniable.kernels import compile_everything
compile_everything()
dn.summarize_by(dn.mechanism("grr", k=9, epsilon=1.0), sys.argv[1], sys.argv[2:])
"""


def test_what_counts_files_is_compiled_too(tmp_path: Path) -> None:
    cache, path = tmp_path / "cache", tmp_path / "r.parquet"
    assert warmed(cache, "grr", "files").stdout.startswith("compiled 2 of ")
    kept = sorted(cache.rglob("*.nbc"))
    assert any("entries" in file.name for file in kept)
    reports = dn.mechanism("grr", k=9, epsilon=1.0).privatize(np.arange(500) % 9, seed=1)
    keys = {"number": np.arange(500) % 4, "land": np.array(["de", "fr"])[np.arange(500) % 2]}
    pq.write_table(keyed(reports, keys), path, compression="zstd")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    for by in (["number"], ["land"], ["number", "land"]):
        subprocess.run([sys.executable, "-c", COUNT, path, *by], env=environment, check=True)
    assert sorted(cache.rglob("*.nbc")) == kept


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    answer = warmed(tmp_path, "nope")
    assert answer.returncode == 2
    assert "mechanism must be one of" in answer.stderr
