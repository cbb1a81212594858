"""Loops over pages of a Parquet file against their slow twins, also on bytes that nobody wrote."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable.kernels import dictionary_pages as kernel
from tests.naive import dictionary_pages as naive

pytestmark = pytest.mark.twin
MISSING = kernel.MISSING
ROOM = 100  # pages


def number(value: int) -> bytes:
    """A number with 7 bits in each byte."""
    return number_of_one(value) if value < 128 else number_of_one(value & 127 | 128) + number(value >> 7)


def number_of_one(byte: int) -> bytes:
    return bytes([byte])


def runs(places: list[int], lengths: list[int], width: int) -> bytes:
    """Numbers as runs of one number, as long as these, or of packed ones; a packed run is filled up with zeros."""
    out, at = b"", 0
    for each in [*lengths, len(places)]:
        part = places[at : at + each]
        if not part:
            break
        if len(set(part)) == 1:
            out += number(2 * len(part)) + part[0].to_bytes((width + 7) // 8, "little")
        else:
            part = places[at : at + 8 * (-(-each // 8))]
            groups = -(-len(part) // 8)
            packed = sum(place << (width * i) for i, place in enumerate(part))
            out += number(2 * groups + 1) + packed.to_bytes(groups * width, "little")
        at += len(part)
    return out


def found(data: bytes, at: int, width: int, known: int, size: int) -> list[int] | None:
    """What the kernel makes of these bytes; entry i of the dictionary is 7 i + 1."""
    words = np.zeros(len(data) // 8 + 3, np.uint64)
    held = words.view(np.uint8)
    held[: len(data)] = np.frombuffer(data, np.uint8)
    table, out = np.zeros(max(1 << width, known), np.uint32), np.empty(size, np.uint32)
    table[:known] = 7 * np.arange(known) + 1
    code = kernel.entries(words, held, at, len(data), width, known, table, out)
    assert code in (0, kernel.DECLINED)
    return out.tolist() if code == 0 else None


@given(st.data(), st.integers(1, 16))
@settings(max_examples=200)
def test_entries(data: st.DataObject, width: int) -> None:
    known = data.draw(st.integers(1, 2**width))
    number_of_entry = st.integers(0, known - 1)
    places = data.draw(st.lists(number_of_entry, min_size=1, max_size=60))
    for place in data.draw(st.lists(st.integers(0, len(places) - 1), max_size=3)):
        places[place:place] = [places[place]] * 9
    written = runs(places, data.draw(st.lists(st.integers(1, 20), max_size=8)), width)
    before = data.draw(st.binary(max_size=9))
    table = [7 * place + 1 for place in range(known)]
    assert naive.entries(written, width, table, len(places)) == [table[place] for place in places]
    assert found(before + written, len(before), width, known, len(places)) == [table[place] for place in places]
    spoilt = bytearray(written)
    for _ in range(data.draw(st.integers(1, 3))):
        spoilt[data.draw(st.integers(0, len(spoilt) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(spoilt[: data.draw(st.integers(1, len(spoilt)))])
    assert found(before + cut, len(before), width, known, len(places)) == naive.entries(cut, width, table, len(places))


@given(st.binary(max_size=80), st.integers(1, 16), st.integers(1, 300), st.integers(1, 100))
@example(b"\x03" + bytes([255] * 16), 16, 2**16, 8)
@example(b"\x03" + bytes([255] * 16), 16, 2**16 - 1, 8)
@example(b"\xff\xff\xff\xff\xff\xff", 1, 2, 8)
@example(b"\xfe\xff\xff\xff\x7f\x01", 1, 2, 100)
@settings(max_examples=300)
def test_entries_of_any_bytes(data: bytes, width: int, known: int, size: int) -> None:
    table = [7 * place + 1 for place in range(min(known, 2**width))]
    assert found(data, 0, width, len(table), size) == naive.entries(data, width, table, size)


def headers(data: bytes) -> list[list[int]] | None:
    """What the kernel finds."""
    pages = np.empty((ROOM, kernel.FIELDS), np.int64)
    count = kernel.page_headers(np.frombuffer(data, np.uint8), pages, np.empty(kernel.DEPTH, np.int64))
    assert count == kernel.DECLINED or 0 <= count <= ROOM
    return None if count == kernel.DECLINED else pages[:count].tolist()


def expected(data: bytes) -> list[list[int]] | None:
    """What the twin finds, in the same order."""
    pages = naive.page_headers(data)
    if pages is None:
        return None
    rows = []
    for begin, fields in pages:
        kinds = [fields[each] for each in (5, 7) if isinstance(fields.get(each), dict)]
        inner: dict[int, Any] = {key: value for each in kinds for key, value in each.items()}
        own = [fields.get(each, MISSING) for each in (1, 2, 3, 4)]
        own = [value if isinstance(value, int) else MISSING for value in own]
        values = [inner.get(each, MISSING) for each in (1, 2, 3)]
        rows.append(
            [begin, *own, int(4 in fields), *(value if isinstance(value, int) else MISSING for value in values)]
        )
    return rows


def column(rows: int, **options: Any) -> bytes:
    """The pages of a column as Arrow writes them."""
    file = BytesIO()
    table = pa.table({"report": pa.array(np.arange(rows, dtype=np.uint32) * 37 % 101)})
    pq.write_table(table, file, **options)
    chunk = pq.read_metadata(file).row_group(0).column(0)
    return file.getvalue()[chunk.dictionary_page_offset :][: chunk.total_compressed_size]


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_page_headers(checksum: bool, version: str) -> None:
    data = column(
        5000, write_page_checksum=checksum, data_page_version=version, write_batch_size=64, data_page_size=256
    )
    rows = headers(data)
    assert rows is not None
    assert len(rows) > 3
    assert rows == expected(data)
    assert sum(row[kernel.VALUES] for row in rows[1:]) == (5000 if version == "1.0" else MISSING * (len(rows) - 1))
    assert all(row[kernel.HAS_CHECKSUM] == checksum for row in rows)


def test_more_pages_than_there_is_room_for_are_declined() -> None:
    empty_page = bytes([0x15, 0, 0x15, 0, 0x15, 0, 0])
    assert headers(empty_page * ROOM) == expected(empty_page * ROOM)
    assert headers(empty_page * (ROOM + 1)) is None


@given(st.data())
@settings(max_examples=300)
def test_page_headers_of_spoilt_bytes(data: st.DataObject) -> None:
    spoilt = bytearray(column(200, write_page_checksum=True, compression="none")[:120])
    for _ in range(data.draw(st.integers(1, 3))):
        spoilt[data.draw(st.integers(0, 60))] = data.draw(st.integers(0, 255))
    cut = bytes(spoilt[: data.draw(st.integers(0, len(spoilt)))])
    assert headers(cut) == expected(cut)


@given(st.binary(max_size=60))
@settings(max_examples=300)
def test_page_headers_of_any_bytes(data: bytes) -> None:
    assert headers(data) == expected(data)
