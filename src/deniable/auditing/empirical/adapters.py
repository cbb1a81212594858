"""Anybody's code as a black box: two functions, one that makes reports and one that may read them.

    sample(value, n)        n reports of the value (a number from 0 to VALUES - 1): rows of whole numbers
    supports(rows, value)   optional: whether each row supports the value, which hashes need

They stand in a Python file, with VALUES and, as far as they are known, EPSILON (what is promised) and NAME.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.auditing.foreign import foreign
from deniable.core.arrays import Integers, Mask
from deniable.core.errors import InvalidArgument, kind_of
from deniable.core.validate import whole


@dataclass(frozen=True)
class Adapter:
    """Code to be audited, by what it sends."""

    sample: Callable[[int, int], Any]
    values: int
    supports: Callable[[Any, int], Any] | None = None
    epsilon: float | None = None  # what is promised of it
    name: str = "black box"

    def rows(self, value: int, n: int) -> Integers:
        """Make n reports of a value, as rows of integers; refuse anything else."""
        with foreign("sample(value, n)"):
            made = np.asarray(self.sample(value, n))
        if made.dtype.kind not in "iub" or made.ndim not in (1, 2) or len(made) != n or not made.size:
            got = f"{made.dtype} of shape {made.shape}"
            hint = "Floats can be audited by their bits: return numpy.asarray(reports).view(numpy.uint8)."
            raise InvalidArgument("sample", f"return {n} rows of whole numbers", got, hint)
        return made.reshape(n, -1).astype(np.int64, copy=False)

    def marks(self, rows: Integers, values: Sequence[int]) -> Mask | None:
        """Which of these values each row supports, if the adapter can tell."""
        if self.supports is None:
            return None
        with foreign("supports(rows, value)"):
            marks = [np.asarray(self.supports(rows, value), np.bool_) for value in values]
        if any(each.shape != (len(rows),) for each in marks):
            raise InvalidArgument("supports", f"return {len(rows)} truth values", f"{marks[0].shape} of them")
        return np.stack(marks, axis=1)


def load(path: Path) -> Adapter:
    """Read an adapter from a Python file, which is run."""
    spec = importlib.util.spec_from_file_location(f"adapter_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidArgument("adapter", "be a Python file", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # where dataclasses look for their module
    with foreign("the adapter"):
        spec.loader.exec_module(module)
    sample, values = getattr(module, "sample", None), getattr(module, "VALUES", None)
    if not callable(sample):
        raise InvalidArgument("adapter", "have a function sample(value, n)", kind_of(sample))
    return Adapter(
        sample,
        whole(2, **{"VALUES of the adapter": values}),
        getattr(module, "supports", None),
        getattr(module, "EPSILON", None),
        str(getattr(module, "NAME", path.stem)),
    )
