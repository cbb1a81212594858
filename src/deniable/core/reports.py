"""Reports, which are all that leaves a device: one report, and a frozen batch of them.

Arrow layout 1 (stable; files, DuckDB and Spark read it): one column `report`, either a plain unsigned
integer per report or a fixed-size list of them, and in the schema's metadata `deniable.layout`,
`deniable.fingerprint` and `deniable.simulated` ("true" or "false").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from deniable.core.arrays import Payloads, is_masked
from deniable.core.display import brief
from deniable.core.errors import FingerprintMismatch, MalformedReport, UnsupportedVersion, cut, listed
from deniable.core.extras import needed

LAYOUT = 1
PRIVATIZE_FIRST = "If these are values, privatize them first."
COLUMN = "report"
LAYOUT_KEY = b"deniable.layout"
_METADATA_FINGERPRINT = b"deniable.fingerprint"
_METADATA_SIMULATED = b"deniable.simulated"


@dataclass(frozen=True)
class Report:
    """One report, as a single device sends it."""

    payload: int | tuple[int, ...]
    fingerprint: str
    simulated: bool = False


@dataclass(frozen=True, eq=False)
class Reports:
    """A frozen batch of reports under one spec.

    `simulated` marks reports made with a seed: they protect nobody, and `encode` refuses them.
    """

    data: Payloads
    fingerprint: str
    simulated: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.data, np.ndarray):
            raise MalformedReport(f"a batch of reports must be a NumPy array, got {type(self.data).__name__}")
        refuse_masked(self.data)
        view = self.data.view()
        view.setflags(write=False)
        object.__setattr__(self, "data", view)

    def __len__(self) -> int:
        return len(self.data)

    @overload
    def __getitem__(self, place: int) -> Report: ...
    @overload
    def __getitem__(self, place: slice) -> Reports: ...
    def __getitem__(self, place: int | slice) -> Report | Reports:
        if isinstance(place, slice):
            return Reports(self.data[place], self.fingerprint, self.simulated)
        entry = self.data[place]
        payload = tuple(entry.tolist()) if self.data.ndim > 1 else int(entry)
        return Report(payload, self.fingerprint, self.simulated)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reports):
            return NotImplemented
        same_kind = (self.fingerprint, self.simulated) == (other.fingerprint, other.simulated)
        return same_kind and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        simulated = "simulated" if self.simulated else ""
        return brief(self, simulated, n=f"{len(self):,}", fingerprint=self.fingerprint)

    def _repr_html_(self) -> str:
        from deniable.cards.data import reports_card

        return reports_card(self)

    @staticmethod
    def concatenate(batches: Iterable[Reports]) -> Reports:
        """Join several batches in order; all must have the same fingerprint."""
        parts = list(batches)
        if not parts:
            raise MalformedReport("there are no batches to concatenate")
        for part in parts:
            if part.fingerprint != parts[0].fingerprint:
                raise FingerprintMismatch("a batch of reports", parts[0].fingerprint, part.fingerprint)
        data = np.concatenate([part.data for part in parts])
        return Reports(data, parts[0].fingerprint, any(part.simulated for part in parts))

    def __reduce__(self) -> tuple[object, ...]:
        return Reports, (self.data, self.fingerprint, self.simulated)  # frozen again when unpickled

    def __add__(self, other: Reports) -> Reports:
        if not isinstance(other, Reports):
            return NotImplemented
        return Reports.concatenate([self, other])

    def to_arrow(self) -> Any:
        """Return the batch as an Arrow table in the stable layout."""
        with needed():
            import pyarrow as pa

        column = pa.array(self.data.reshape(-1))
        if self.data.ndim > 1:
            column = pa.FixedSizeListArray.from_arrays(column, self.data.shape[1])
        field = pa.field(COLUMN, column.type, nullable=False)
        return pa.Table.from_arrays([column], schema=pa.schema([field], metadata=self._metadata()))

    @staticmethod
    def from_arrow(table: Any) -> Reports:
        """Read a batch from an Arrow table, record batch or stream, which is read to its end; the layout is checked."""
        with needed():
            import pyarrow as pa

        table = as_table(table)
        fingerprint, simulated = read_metadata(table.schema.metadata)
        column = only_column(table, COLUMN)
        width = column.type.list_size if pa.types.is_fixed_size_list(column.type) else None
        flat = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()  # one chunk is not copied
        flat = pa.concat_arrays(flat.chunks) if isinstance(flat, pa.ChunkedArray) else flat
        flat = flat.flatten() if width else flat
        if not pa.types.is_unsigned_integer(flat.type):
            raise MalformedReport(f"column {COLUMN!r} must hold unsigned integers, got {cut(str(column.type))}")
        if flat.null_count:
            raise MalformedReport(f"column {COLUMN!r} holds lists with {flat.null_count} nulls")
        data = flat.to_numpy()
        return Reports(data.reshape(-1, width) if width else data, fingerprint, simulated)

    def _metadata(self) -> dict[bytes, bytes]:
        return {
            LAYOUT_KEY: str(LAYOUT).encode(),
            _METADATA_FINGERPRINT: self.fingerprint.encode(),
            _METADATA_SIMULATED: b"true" if self.simulated else b"false",
        }


def refuse_masked(reports: object) -> None:
    """Raise MalformedReport for masked entries, which NumPy would count as if they were there."""
    if is_masked(reports) and np.ma.getmaskarray(reports).any():
        raise MalformedReport("reports must not be masked. Select those that are there: reports.compressed().")


def as_table(table: Any) -> Any:
    """Return the Arrow table that a table, a record batch or a stream holds."""
    with needed():
        import pyarrow as pa

    try:
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        elif hasattr(table, "__arrow_c_stream__") and not isinstance(table, (pa.Table, pa.ChunkedArray)):
            table = pa.table(table)
    except pa.ArrowException as error:  # a stream of another kind, or one that is damaged
        raise MalformedReport(f"reports are read from an Arrow table: {cut(str(error), 200)}") from None
    if not isinstance(table, pa.Table):
        raise MalformedReport(f"reports are read from an Arrow table, got {type(table).__name__}")
    return table


def only_column(table: Any, name: str) -> Any:
    """Return the one column of this name, which must hold no nulls."""
    names = table.column_names
    if name not in names:
        raise MalformedReport(f"table has no column {name!r}, only {listed(names)}")
    if names.count(name) > 1:
        raise MalformedReport(f"table must have one column {name!r}, got {names.count(name)}")
    column = table.column(name)
    if column.null_count:
        raise MalformedReport(f"column {name!r} holds {column.null_count} nulls")
    return column


def read_metadata(metadata: dict[bytes, bytes] | None) -> tuple[str, bool]:
    """Return the fingerprint and the simulated flag from an Arrow schema's metadata."""
    found = metadata or {}
    layout = found.get(LAYOUT_KEY, b"").decode(errors="replace")
    if not re.fullmatch("[1-9][0-9]{0,5}", layout) or _METADATA_FINGERPRINT not in found:
        raise MalformedReport("table is not in the layout of reports: its metadata names no fingerprint")
    if int(layout) > LAYOUT:
        raise UnsupportedVersion("layout of reports", layout, LAYOUT)
    return found[_METADATA_FINGERPRINT].decode(errors="replace"), found.get(_METADATA_SIMULATED) != b"false"
