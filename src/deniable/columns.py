"""Reading a batch of values from whatever holds it: a sequence, NumPy, pandas, polars or Arrow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidArgument

Array = npt.NDArray[Any]


def is_missing(value: object) -> bool:
    """None, NaN, and the missing markers of pandas."""
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def is_arrow(values: Any) -> bool:
    """Whether the batch can be read as an Arrow column without copying."""
    return hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")


def arrow_column(values: Any) -> Any:
    """One contiguous Arrow array, dictionaries decoded."""
    import pyarrow as pa

    if not isinstance(values, pa.Array):
        chunked = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array(values)
        values = chunked.combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks)
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def array_and_missing(values: Any, filler: int) -> tuple[Array, npt.NDArray[np.bool_] | None]:
    """A one-dimensional NumPy array and where its values are missing (None: nowhere known).

    Missing entries of Arrow columns and of float arrays (pandas stores whole numbers with gaps so)
    are replaced by the filler; object arrays are left as they are.
    """
    if is_arrow(values):
        column = arrow_column(values)
        if column.null_count == len(column):
            return np.full(len(column), filler), np.ones(len(column), bool)
        if column.null_count:
            return column.fill_null(filler).to_numpy(), column.is_null().to_numpy(zero_copy_only=False)
        return column.to_numpy(zero_copy_only=False), None
    array = one_dimensional(values)
    if array.dtype.kind == "f":
        missing = np.isnan(array)
        return np.where(missing, filler, array), missing if missing.any() else None
    return array, None


def one_dimensional(values: Any) -> Array:
    """A NumPy array of one dimension; Python lists keep their objects unless all are ints."""
    if isinstance(values, np.ndarray):
        array = values
    else:
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise InvalidArgument("values", "be a one-dimensional batch", values)
        column = list(values)
        array = np.empty(len(column), object)
        array[:] = column
        if all(type(value) is int and abs(value) < 2**63 for value in column):
            array = array.astype(np.int64)
    if array.ndim != 1:
        raise InvalidArgument("values", "be a one-dimensional batch", f"{array.ndim} dimensions")
    return array


def item(values: Any, position: int) -> object:
    """One entry of a batch as a plain Python object, for an error message."""
    value = values.iloc[position] if hasattr(values, "iloc") else list(values)[position]
    if hasattr(value, "as_py"):
        return value.as_py()
    return value.item() if isinstance(value, np.generic) else value
