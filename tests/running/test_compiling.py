"""A source is held by one process at a time, and by all kernels of that process."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from tests.running.compiling import locked


def is_free(source: Path) -> bool:
    """Whether somebody else could hold it now: a lock belongs to the opened file, so another opening is another one."""
    with source.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_a_source_is_held_until_the_outermost_kernel_is_compiled(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.touch()
    with locked(str(source)):
        with locked(str(source)):
            assert not is_free(source)
        assert not is_free(source)
    assert is_free(source)


def test_a_kernel_that_does_not_compile_lets_its_source_go(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.touch()
    with pytest.raises(ZeroDivisionError), locked(str(source)):
        _ = 1 / 0
    assert is_free(source)


def test_what_has_no_source_is_compiled_too() -> None:
    with locked("<string>"):
        pass
