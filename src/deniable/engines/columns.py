"""Columns of reports as other tools hand them over, as the stable layout has them.

Some tools know no unsigned integers, no lists of a fixed length, or no metadata. What they make of a column of reports
still holds the same numbers: here they become the column that `Reports.to_arrow` wrote.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.errors import MalformedReport, cut
from deniable.core.extras import needed
from deniable.core.reports import COLUMN, Reports
from deniable.grouping.counting import Counted, layout_of, reports_from
from deniable.heavy_hitters.collected import LEVEL_COLUMN, HitterReports
from deniable.mechanisms.base.mechanism import Mechanism


def width_of(counted: Counted) -> int | None:
    """The numbers in a report; None where a report is a plain number."""
    empty = layout_of(counted).empty(0)
    return empty.shape[1] if empty.ndim > 1 else None


def unlabelled(counted: Counted, batch: Any, simulated: bool) -> Reports | HitterReports:
    """Read reports from a record batch of a tool that keeps neither types nor metadata; the caller knows the spec."""
    with needed():
        import pyarrow as pa

    width = width_of(counted)
    empty = Reports(np.empty((0, width) if width else 0, np.uint64), counted.fingerprint, simulated)
    metadata = empty.to_arrow().schema.metadata
    columns = {COLUMN: as_reports(batch.column(COLUMN), width)}
    if not isinstance(counted, Mechanism):
        columns = {LEVEL_COLUMN: batch.column(LEVEL_COLUMN), **columns}
    return reports_from(counted, pa.table(columns).replace_schema_metadata(metadata))


def as_reports(column: Any, width: int | None) -> Any:
    """A column of numbers, or of lists of them, as unsigned numbers, or lists of a fixed length."""
    with needed():
        import pyarrow as pa

    kind = column.type
    if column.null_count:
        raise MalformedReport(f"column {COLUMN!r} holds {column.null_count} nulls")
    if width is None:
        return _unsigned(column)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = np.diff(column.offsets.to_numpy())
        if (lengths != width).any():
            at = int(np.flatnonzero(lengths != width)[0])
            raise MalformedReport(f"report at position {at} must have {width} numbers, got {lengths[at]}")
    elif not (pa.types.is_fixed_size_list(kind) and kind.list_size == width):
        raise MalformedReport(f"column {COLUMN!r} must hold lists of {width} numbers, got {cut(str(kind))}")
    return pa.FixedSizeListArray.from_arrays(_unsigned(column.flatten()), width)


def _unsigned(numbers: Any) -> Any:
    """Whole numbers, which must not be negative, as unsigned ones."""
    with needed():
        import pyarrow as pa

    kind = numbers.type
    if pa.types.is_unsigned_integer(kind):
        return numbers
    if numbers.null_count:
        raise MalformedReport(f"column {COLUMN!r} holds lists with {numbers.null_count} nulls")
    if pa.types.is_decimal128(kind) and kind.scale == 0:  # what Spark makes of unsigned numbers of 64 bits
        halves = np.frombuffer(numbers.buffers()[1], "<u8", 2 * len(numbers), 16 * numbers.offset).reshape(-1, 2)
        if halves[:, 1].any():
            raise MalformedReport("numbers of a report must lie from 0 to 2^64 - 1")
        return pa.array(np.ascontiguousarray(halves[:, 0]))
    if not pa.types.is_signed_integer(kind):
        raise MalformedReport(f"column {COLUMN!r} must hold whole numbers, got {cut(str(kind))}")
    signed = numbers.to_numpy(zero_copy_only=False)
    if len(signed) and signed.min() < 0:
        at = int(np.flatnonzero(signed < 0)[0])
        raise MalformedReport(f"report at position {at} must not be negative")
    return pa.array(signed.astype(np.uint32 if kind.bit_width <= 32 else np.uint64))
