"""Workers share the compiled kernels: one compiles, the others wait and then read it from disk.

numba writes the index of what it keeps before the code itself. A worker that reads in between gets the code of an
earlier source, and two that write at once can take the same file for different signatures.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_held: set[str] = set()


@contextmanager
def locked(source: str) -> Iterator[None]:
    """Hold a source file against other processes; a kernel that calls another one of the same file holds it already."""
    if source in _held or not Path(source).is_file():
        yield
        return
    with Path(source).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # closing the file lets it go
        _held.add(source)
        try:
            yield
        finally:
            _held.remove(source)


def take_turns() -> None:
    """From now on this process compiles a kernel, or reads it from disk, only while no other one does."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    alone: Callable[[Any, Any], Any] = Dispatcher.compile

    def compile_in_turn(self: Any, sig: Any) -> Any:
        # the lock of the threads comes first: else one could wait for a source that another holds, and it for numba
        with global_compiler_lock, locked(self.py_func.__code__.co_filename):
            return alone(self, sig)

    Dispatcher.compile = compile_in_turn
