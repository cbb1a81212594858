"""Compiled code that cannot be kept, or that was kept and is damaged, costs time and one warning."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from deniable.kernels import cache

PROGRAM = """
import warnings
import numpy as np
import deniable as dn
from deniable import kernels

kernels.compile_everything()
m = dn.mechanism("grr", k=5, epsilon=1.0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = m.summarize(m.privatize(np.arange(1000) % 5, seed=1)).counts.tolist()
print(found)
print(*(warning.message for warning in caught), sep="\\n")
"""


class Files:
    """A cache of numba whose disk is full, or whose files are damaged."""

    cache_path = "somewhere"

    def __init__(self, error: Exception) -> None:
        self.error, self.flushed = error, False

    def load_overload(self, *_: object) -> None:
        raise self.error

    save_overload = load_overload

    def flush(self) -> None:
        self.flushed = True


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), EOFError("ran out of input")])
def test_a_cache_that_fails_warns_once_and_never_raises(error: Exception) -> None:
    cache._said.cache_clear()
    files = Files(error)
    kept = cache.Cache(files)
    with pytest.warns(RuntimeWarning, match="is damaged .*: it is compiled again") as caught:
        loaded = kept.load_overload(None, None)
    kept.save_overload(None, None)  # a second warning would be an error
    assert loaded is None
    assert len(caught) == 1
    assert files.flushed
    assert kept.cache_path == "somewhere"


def _run(folder: Path, before: str = "") -> list[str]:
    command = [sys.executable, "-c", before + PROGRAM]
    environment = {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n")


@pytest.mark.compiled
def test_damaged_files_of_the_cache_are_compiled_again_with_one_warning(tmp_path: Path) -> None:
    (right,) = _run(tmp_path)
    for damage in (lambda data: data[: len(data) // 2], lambda _: b"", lambda data: b"garbage" + data):
        for path in (*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")):
            path.write_bytes(damage(path.read_bytes()))
        found, *warned = _run(tmp_path)
        assert found == right
        assert len(warned) == 1
        assert "is damaged" in warned[0]
        assert _run(tmp_path) == [right]  # the files have been written again


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform == "win32", reason="the limit of the size of files is set as Unix does")
@pytest.mark.parametrize("room", [0, 1000])  # bytes: for nothing, or for the index and not for the code
def test_files_that_cannot_grow_are_done_without_with_one_warning(room: int, tmp_path: Path) -> None:
    full = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))\n"
    (right,) = _run(tmp_path / "room")
    for _ in range(2):  # what the first process leaves behind does not disturb the second
        found, *warned = _run(tmp_path / "none", full)
        assert found == right
        assert len(warned) == 1
        assert "compiled code cannot be cached" in warned[0]
        assert "File too large" in warned[0]
    assert _run(tmp_path / "none") == [right]  # there is room again
    assert any((tmp_path / "none").rglob("*.nbc"))
