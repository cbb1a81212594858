"""Reading a batch of values from any container: a sequence, NumPy, pandas, polars or Arrow.

A batch is read once, into a column: an Arrow array of strings, integers or floats, or a one-dimensional
NumPy array. Other Arrow types become plain Python objects, so that whether a value is found does not
depend on the container it came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from deniable.core.arrays import Numbers, is_masked
from deniable.core.errors import InvalidArgument, kind_of, listed
from deniable.core.extras import needed

Column = Any  # a NumPy array or an Arrow array; pyarrow is not imported for its name

_CAN_BE_NAN = (float, np.floating, np.datetime64, np.timedelta64)
_NO_MAPPINGS = (
    "Counts per value are not reports of people: give one value per person, such as list(counter.elements()); "
    "dn.simulate(mechanism, counts) draws a summary of simulated people."
)
_MARKERS = ("NAType", "NaTType", "MaskedConstant")


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or a missing marker of pandas or NumPy."""
    return value is None or (isinstance(value, _CAN_BE_NAN) and value != value) or type(value).__name__ in _MARKERS


def read(values: Any) -> Column:
    """Read a batch into a column that can be searched and indexed; a generator or a stream is consumed."""
    if isinstance(values, Mapping):
        raise InvalidArgument("values", "be one value per person", f"a {type(values).__name__}", _NO_MAPPINGS)
    if not is_arrow(values):
        return one_dimensional(values)
    if hasattr(values, "columns"):
        hint = "Give one of its columns, such as table['name']."
        raise InvalidArgument("values", "be a one-dimensional batch", f"a {type(values).__name__}", hint)
    if not hasattr(values, "__len__"):
        values = _streamed(values)
    # pandas columns of objects may mix types, which Arrow would unify
    column = None if str(getattr(values, "dtype", "")) == "object" else _flat_arrow(values)
    return one_dimensional(entries(values)) if column is None else column


def _streamed(values: Any) -> Any:
    """Read an Arrow stream to its end: of values, or of record batches with one column."""
    with needed():
        import pyarrow as pa

    column = pa.chunked_array(values)
    if not pa.types.is_struct(column.type):
        return column
    if column.type.num_fields != 1:
        names = listed(field.name for field in column.type)
        hint = "Select one column before you pass the stream on."
        raise InvalidArgument("values", "be a stream with one column", f"the columns {names}", hint)
    return pa.chunked_array([chunk.field(0) for chunk in column.chunks], type=column.type.field(0).type)


def is_arrow(values: Any) -> bool:
    """Whether the batch has an Arrow interface."""
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


def entries(column: Any) -> list[Any]:
    """Return the values of a column as Python objects."""
    try:
        if hasattr(column, "to_pylist"):
            return list(column.to_pylist())
        return list(column.tolist() if isinstance(column, np.ndarray) else column)
    except (ValueError, OverflowError, NotImplementedError):  # such as dates that Python cannot represent
        kind = getattr(column, "type", type(column).__name__)
        raise InvalidArgument("values", "be text or numbers", str(kind)) from None


def one_dimensional(values: Any) -> Numbers:
    """Return a one-dimensional NumPy array; Python lists keep their objects unless all are ints."""
    if not isinstance(values, np.ndarray):
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise InvalidArgument("values", "be a one-dimensional batch", kind_of(values))
        column = list(values)
        if all(type(value) is int and abs(value) < 2**63 for value in column):
            return np.array(column, np.int64)
        return _objects(column)
    if values.ndim != 1:
        raise InvalidArgument("values", "be a one-dimensional batch", f"{values.ndim} dimensions")
    if is_masked(values):
        array = _objects(values.data)
        array[np.ma.getmaskarray(values)] = None
        return array
    return _objects(values) if values.dtype.kind in "mM" else values  # tolist would turn times into numbers


def item(column: Column, position: int) -> object:
    """Return one entry of a column, for an error message."""
    return plain(column[position])


def plain(value: Any) -> Any:
    """Convert a NumPy or Arrow scalar to a Python object; return any other object as it is."""
    if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
        return value.item()
    if not hasattr(value, "as_py"):
        return value
    try:
        return value.as_py()
    except ValueError:  # such as text that is not UTF-8
        return value


def _objects(values: Any) -> Numbers:
    # not array[:] = values, which would unpack lists of lists
    return np.fromiter(values, object, len(values))


def _flat_arrow(values: Any) -> Any | None:
    """Return one contiguous Arrow array of strings, integers or floats; None for any other type."""
    with needed():
        import pyarrow as pa
        import pyarrow.types as kinds

    try:
        column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.chunked_array(values)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if kinds.is_dictionary(column.type):
            column = column.dictionary_decode()
        if kinds.is_string_view(column.type):
            column = column.cast(pa.large_string())
    except pa.ArrowException:  # such as columns of mixed types
        return None
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_integer, kinds.is_floating)
    return column if isinstance(column, pa.Array) and any(test(column.type) for test in tests) else None
