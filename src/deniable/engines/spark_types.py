"""Types of Spark, which knows neither unsigned numbers nor lists of a fixed length, for reports and partial counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.core.arrays import Payloads
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.reports import COLUMN
from deniable.grouping.counting import Counted, levels_of
from deniable.heavy_hitters.collected import LEVEL_COLUMN
from deniable.mechanisms.base.mechanism import Mechanism


def columns_of(df: Any) -> list[str]:
    """The names of a DataFrame's columns, or refuse what is no DataFrame."""
    with needed():
        from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise InvalidArgument("df", "be a Spark DataFrame", df)
    return list(df.columns)


def numbered(columns: int) -> list[str]:
    """Names that mean nothing to Spark, which reads a dot in a name as a part of a column."""
    return [f"column_{place}" for place in range(columns)]


def plain_key(df: Any, name: str) -> str:
    """The expression for a column of any name; texts are equal only if their bytes are."""
    quoted = f"`{name.replace('`', '``')}`"
    collation = getattr(df.schema[name].dataType, "collation", "UTF8_BINARY")
    return quoted if collation == "UTF8_BINARY" else f"collate({quoted}, 'UTF8_BINARY')"


def schema_of(fields: Sequence[Any]) -> Any:
    """A schema with these fields under numbered names; a field may be given as its type."""
    with needed():
        from pyspark.sql import types

    named = types.StructType()
    for name, field in zip(numbered(len(fields)), fields, strict=True):
        own = field if isinstance(field, types.StructField) else types.StructField(name, field)
        named = named.add(name, own.dataType, own.nullable, own.metadata)
    return named


def count_types(keys: Sequence[Any]) -> Any:
    """The schema of partial counts: keys, level, cell, count, and the reason why rows are no reports."""
    with needed():
        from pyspark.sql import types

    own = [types.IntegerType(), types.LongType(), types.LongType(), types.StringType()]
    return schema_of([*(key.dataType for key in keys), *own])


def report_fields(counted: Counted) -> list[Any]:
    """The fields of reports, as Spark reads them from a file that `Reports.to_arrow` gave."""
    with needed():
        from pyspark.sql import types

    empty = levels_of(counted)[0].layout.empty(0)
    number = {
        1: types.ShortType(),
        2: types.IntegerType(),
        4: types.LongType(),
        8: types.DecimalType(20, 0),
    }[empty.itemsize]
    kind = number if empty.ndim == 1 else types.ArrayType(number, containsNull=False)
    level = [] if isinstance(counted, Mechanism) else [types.StructField(LEVEL_COLUMN, types.IntegerType(), False)]
    return [*level, types.StructField(COLUMN, kind, False)]


def as_column(data: Payloads) -> Any:
    """Reports in Arrow, with the types of `report_fields`."""
    with needed():
        import pyarrow as pa

    flat = np.ascontiguousarray(data).reshape(-1)
    if flat.itemsize == 8:  # a decimal is a signed number of 128 bits
        halves = np.zeros((len(flat), 2), "<u8")
        halves[:, 0] = flat
        column = pa.Array.from_buffers(pa.decimal128(20, 0), len(flat), [None, pa.py_buffer(halves)])
    else:
        column = pa.array(flat.astype({1: np.int16, 2: np.int32, 4: np.int64}[flat.itemsize]))
    if data.ndim == 1:
        return column
    return pa.ListArray.from_arrays(np.arange(len(data) + 1, dtype=np.int32) * np.int32(data.shape[1]), column)
