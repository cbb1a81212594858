"""The loop over a Parquet file's footer against its slow twin and against Arrow, also on bytes that nobody wrote."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.kernels import footers as kernel
from deniable.kernels.dictionary_pages import DECLINED, MISSING
from tests.naive import footers as naive

pytestmark = pytest.mark.twin
KINDS, CODECS = {"INT32": 1, "INT64": 2, "BYTE_ARRAY": 6}, {"UNCOMPRESSED": 0, "SNAPPY": 1, "ZSTD": 6}


def written(groups: int, columns: int = 3, **options: Any) -> tuple[bytes, Any]:
    """The footer of a file as Arrow writes it, and as Arrow reads it."""
    kinds = [pa.uint32(), pa.int64(), pa.string()]
    numbers = pa.array(np.arange(10 * groups) % 7)
    table = pa.table({f"c{place}": numbers.cast(kinds[place % 3]) for place in range(columns)})
    file = BytesIO()
    pq.write_table(table, file, row_group_size=10, **options)
    data = file.getvalue()
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8], pq.read_metadata(file)


def found(data: bytes, groups: int, columns: int) -> list[list[int]] | None:
    """What the kernel finds."""
    rows = np.empty((groups * columns, kernel.FIELDS), np.int64)
    stack = np.empty((kernel.DEPTH, kernel.PLACES), np.int64)
    count = kernel.chunks(np.frombuffer(data, np.uint8), columns, rows, stack)
    assert count == DECLINED or 0 <= count <= len(rows)
    return rows.tolist() if count == len(rows) else None


def expected(data: bytes, groups: int, columns: int) -> list[list[int]] | None:
    """What the twin finds, in the same order."""
    read = naive.chunks(data, groups, columns)
    if read is None:
        return None
    rows = []
    for column in (each for group in read for each in group):
        own = column[3] if isinstance(column.get(3), dict) else {}
        values = [own.get(field) for field in (1, 4, 5, 7, 11)]
        elsewhere = 1 if {1, 8, 9} & set(column) else MISSING
        rows.append([value if isinstance(value, int) else MISSING for value in values] + [elsewhere])
    return rows


@pytest.mark.parametrize(("groups", "columns"), [(1, 1), (3, 3), (40, 20)])
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_columns_are_where_arrow_finds_them(groups: int, columns: int, codec: str) -> None:
    data, metadata = written(groups, columns, compression=codec)
    rows = found(data, groups, columns)
    assert rows == expected(data, groups, columns)
    theirs = [metadata.row_group(group).column(place) for group in range(groups) for place in range(columns)]
    assert rows == [
        [
            KINDS[chunk.physical_type],
            CODECS[chunk.compression],
            chunk.num_values,
            chunk.total_compressed_size,
            chunk.dictionary_page_offset,
            MISSING,
        ]
        for chunk in theirs
    ]


def test_a_column_without_a_dictionary_says_no_place_of_one() -> None:
    rows = found(written(1, 1, use_dictionary=False)[0], 1, 1)
    assert rows is not None
    assert rows[0][kernel.BEGIN] == MISSING


def test_more_columns_or_row_groups_than_expected_are_declined() -> None:
    data, _ = written(3, 2)
    assert found(data, 3, 2) is not None
    for groups, columns in [(2, 2), (4, 2), (3, 1), (3, 3), (2, 3), (6, 1), (0, 2)]:
        assert found(data, groups, columns) is None


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_spoilt_bytes(data: st.DataObject) -> None:
    spoilt = bytearray(written(2, 2, compression="none")[0])
    for _ in range(data.draw(st.integers(1, 3))):
        spoilt[data.draw(st.integers(0, len(spoilt) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(spoilt[: data.draw(st.one_of(st.just(len(spoilt)), st.integers(0, len(spoilt))))])
    ours, twin = found(cut, 2, 2), expected(cut, 2, 2)
    assert ours == twin


@given(st.binary(max_size=60), st.integers(0, 2), st.integers(1, 2))
@settings(max_examples=300, deadline=None)
def test_any_bytes(data: bytes, groups: int, columns: int) -> None:
    assert found(data, groups, columns) == expected(data, groups, columns)
