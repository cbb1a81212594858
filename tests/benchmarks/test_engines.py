"""What the benchmark of engines measures is what it says. No test depends on time."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import engines, making
from deniable.core.threads import VARIABLE


def test_reports_are_made_and_as_many_bytes_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")  # and put back afterwards
    jobs = engines.jobs(tmp_path, "grr", 2, 3000)
    for name in making.MOST:
        for job in making.names(name):
            jobs[job]()
    for how in ("zstd", "none"):
        size = making.size_of(tmp_path / how)
        assert size == (tmp_path / f"{how}.bytes").stat().st_size > 0
    assert making.size_of(tmp_path / "zstd") < making.size_of(tmp_path / "none")


def test_long_files_are_written_in_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_BLOCK", 100)
    for size in (0, 99, 100, 250):
        making.written(tmp_path / "bytes", size)
        assert (tmp_path / "bytes").stat().st_size == size
