"""The end of a Parquet file, which says where the columns of each row group are.

Arrow is never asked for that: it ends the process where what the footer says of a column is damaged or encrypted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Integers
from deniable.kernels import footers as kernel

_MAGIC = b"PAR1"
_END = 8  # bytes: the length of the footer, and the magic
_MOST_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class Footer:
    """The footer of a file: as Arrow reads it, and what Arrow cannot be asked for."""

    path: str
    metadata: Any

    @cached_property
    def chunks(self) -> Integers | None:
        """Where each row group has each column, by the fields of the kernel; None if that is not understood."""
        shape = self.metadata.num_row_groups, self.metadata.num_columns
        found = np.empty((shape[0] * shape[1], kernel.FIELDS), np.int64)
        data = np.frombuffer(self._bytes(), np.uint8)
        number = kernel.chunks(data, shape[1], found, np.empty((kernel.DEPTH, kernel.PLACES), np.int64))
        return found.reshape(*shape, kernel.FIELDS) if number == len(found) else None

    def _bytes(self) -> bytes:
        with open(self.path, "rb") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - _END))
            last = file.read(_END)
            size = int.from_bytes(last[:4], "little")
            if last[4:] != _MAGIC or not 0 < size <= min(_MOST_BYTES, end - _END):
                return b""
            file.seek(end - _END - size)
            return file.read(size)
