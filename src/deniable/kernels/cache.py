"""Compiled code kept in files, which may be damaged or lack room: then this process compiles it for itself."""

from __future__ import annotations

import functools
import warnings
from contextlib import suppress
from typing import Any


class Cache:
    """numba's cache of one function; what goes wrong with its files costs time, never a result.

    It has the methods that numba's dispatcher calls, and passes everything else on.
    """

    def __init__(self, files: Any) -> None:
        self._files = files

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return code compiled before, or None; damaged files are emptied, so that they can be written again."""
        try:
            return self._files.load_overload(signature, context)
        except Exception as error:  # truncated or foreign bytes raise whatever the unpickler meets first
            where = f"a file of compiled code in {self._files.cache_path}"
            _warn(f"{where} is damaged ({type(error).__name__}): it is compiled again, for seconds, and replaced")
            with suppress(Exception):
                self._files.flush()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, if that is possible."""
        try:
            self._files.save_overload(signature, result)
        except Exception as error:  # a full disk, a folder that has gone, or a damaged index
            warn_of_compiling(f"{self._files.cache_path} cannot be written ({type(error).__name__}: {error})")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)


def warn_of_compiling(reason: str) -> None:
    """Warn that what is compiled is lost."""
    _warn(
        f"compiled code cannot be cached, so every process compiles it again, for seconds: {reason}. "
        "Set NUMBA_CACHE_DIR to a folder that can be written, and run `deniable warm-up` once."
    )


def warn_of_half_a_compiler() -> None:
    """Warn that a forked process has no compiler."""
    _warn(
        "this process was forked while another thread compiled, so its loops run in plain Python, which is slow for "
        "large batches: fork earlier, or once no thread compiles"
    )


def _warn(message: str) -> None:
    """Warn once per process: of what follows, most has the same cause."""
    said = _said()
    said.append(message)
    if len(said) == 1:
        warnings.warn(message, RuntimeWarning, stacklevel=4)


@functools.cache
def _said() -> list[str]:
    return []
