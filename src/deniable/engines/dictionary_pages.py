"""Columns of whole numbers that a Parquet file keeps as entries of a dictionary, read faster than Arrow reads them.

Only what most writers make of such a column is read here, and only if all of it is as it should be: checksums, sizes,
numbers of values. Anything else is declined, and then Arrow reads the column, or says what is wrong with it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from deniable.core.arrays import Bytes, Integers, Numbers
from deniable.core.extras import needed
from deniable.engines.footers import Footer
from deniable.kernels import dictionary_pages as kernel
from deniable.kernels import footers, pay_for

_MOST_ROWS = 2**22  # of a row group, whose column is read at once
_MOST_BYTES = 2**25  # of a column, and of a page
_MOST_PAGES = 2**10
_MOST_WIDTH = 16  # bits of the number of an entry
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN, _OF_DICTIONARY, _RUNS = 0, (2, 8), 3  # encodings; 2 is an older name of 8
_ZSTD = b"\x28\xb5\x2f\xfd"
_FRAME = 18  # bytes of the longest header of a zstd frame
_KINDS = {4: 1, 8: 2}  # of numbers of so many bytes

Expand = Callable[[Any, int], Any]


class _Declined(Exception):
    """A column that is for Arrow to read."""


def columns(footer: Footer, row_group: int, schema: Any, names: Iterable[str]) -> dict[str, Any]:
    """Read those of the columns of a row group that can be read here, as Arrow arrays."""
    with needed():
        import pyarrow as pa

    # a dot may also stand for a column within a column
    wanted = {name: schema.field(name).type for name in names if "." not in name}
    wanted = {name: kind for name, kind in wanted.items() if _as_stored(kind)}
    rows = footer.metadata.row_group(row_group).num_rows
    if not (wanted and 0 < rows <= _MOST_ROWS and pay_for(rows)) or footer.chunks is None:
        return {}
    found = {}
    with open(footer.path, "rb", buffering=0) as file:
        for place, chunk in enumerate(footer.chunks[row_group]):
            stored = footer.metadata.schema.column(place)
            kind = wanted.get(stored.path)
            if kind is None or stored.max_repetition_level or stored.max_definition_level > 1:
                continue
            numbers = pa.allocate_buffer(rows * kind.bit_width // 8)
            out = np.frombuffer(numbers, f"<u{kind.bit_width // 8}")
            try:
                _read(file, chunk, stored.max_definition_level == 1, out)
            except _Declined:
                continue
            found[stored.path] = pa.Array.from_buffers(kind, rows, [None, numbers])
    return found


def _as_stored(kind: Any) -> bool:
    """Whether numbers of an Arrow type are as wide in the file, so that their bits are the same."""
    with needed():
        import pyarrow as pa

    return kind in (pa.uint32(), pa.int32(), pa.date32(), pa.uint64(), pa.int64())


def _require(holds: Any) -> None:
    if not holds:
        raise _Declined


def _read(file: Any, chunk: Integers, nullable: bool, out: Numbers) -> None:
    """Fill `out` with the numbers of a column."""
    codec, begin, size = (int(chunk[each]) for each in (footers.CODEC, footers.BEGIN, footers.SIZE))
    _require(chunk[footers.KIND] == _KINDS[out.itemsize] and chunk[footers.ELSEWHERE] == kernel.MISSING)
    _require(chunk[footers.VALUES] == len(out) and codec in _EXPANDING)
    _require(begin > 0 and 0 < size <= _MOST_BYTES)
    data = np.frombuffer(_bytes_of(file, begin, size), np.uint8)
    pages = np.empty((_MOST_PAGES, kernel.FIELDS), np.int64)
    number = kernel.page_headers(data, pages, np.empty(kernel.DEPTH, np.int64))
    _require(number > 1)
    largest, others = int(pages[:number, kernel.UNCOMPRESSED].max()), pages[1:number]
    _require(largest <= _MOST_BYTES)
    _require((others[:, kernel.KIND] == _DATA_PAGE).all() and np.isin(others[:, kernel.ENCODING], _OF_DICTIONARY).all())
    _require(others[:, kernel.VALUES].min() > 0 and others[:, kernel.VALUES].sum() == len(out))
    expand = _EXPANDING[codec]()
    table = _dictionary(pages[0], _body(pages[0], data, expand), out.dtype)
    known = len(table)
    words, filled = np.zeros(largest // 8 + 3, np.uint64), 0  # of one page, and two more
    held = words.view(np.uint8)
    for page in others:
        body = _body(page, data, expand)
        held[: len(body)] = body
        part = out[filled : filled + int(page[kernel.VALUES])]
        at = _after_levels(page, body) if nullable else 0
        _require(at < len(body) and 1 <= body[at] <= _MOST_WIDTH)
        width = int(body[at])
        if len(table) < 1 << width:  # numbers of so many bits must not lead beyond it
            table = np.concatenate([table, np.zeros((1 << width) - len(table), out.dtype)])
        _require(kernel.entries(words, held, at + 1, len(body), width, known, table, part) == 0)
        filled += len(part)


def _bytes_of(file: Any, begin: int, size: int) -> Any:
    """Some bytes of a file, in memory that Arrow keeps for the next."""
    with needed():
        import pyarrow as pa

    held = pa.allocate_buffer(size)
    file.seek(begin)
    _require(file.readinto(held) == size)
    return held


def _body(page: Integers, data: Bytes, expand: Expand) -> Bytes:
    """The content of a page, whose checksum is compared if it has one."""
    begin, size = int(page[kernel.BEGIN]), int(page[kernel.UNCOMPRESSED])
    stored = data[begin : begin + int(page[kernel.COMPRESSED])].data
    if page[kernel.HAS_CHECKSUM]:
        _require(zlib.crc32(stored) == page[kernel.CHECKSUM] & 0xFFFFFFFF)
    _require(size > 0)
    return np.frombuffer(expand(stored, size), np.uint8)


def _dictionary(page: Integers, body: Bytes, kind: Any) -> Numbers:
    """The entries, as a page of their own has them."""
    _require(page[kernel.KIND] == _DICTIONARY_PAGE and page[kernel.ENCODING] in (_PLAIN, _OF_DICTIONARY[0]))
    _require(page[kernel.VALUES] > 0 and page[kernel.VALUES] * kind.itemsize == len(body))
    table: Numbers = body.view(kind).copy()
    return table


def _after_levels(page: Integers, body: Bytes) -> int:
    """Where the levels end that say which rows of a page have no value, if they say in one run that all have one."""
    _require(page[kernel.LEVELS] == _RUNS and len(body) > 4)
    end = 4 + int.from_bytes(body[:4].tobytes(), "little")
    run, at = kernel.number(body, 4, min(end, len(body)))
    _require(at + 1 == end < len(body) and run == 2 * page[kernel.VALUES] and body[at] == 1)
    return end


def _as_it_is() -> Expand:
    def same(stored: Any, size: int) -> Any:
        _require(len(stored) == size)
        return stored

    return same


def _from_zstd() -> Expand:
    with needed():
        import pyarrow as pa

    codec = pa.Codec("zstd")

    def expanded(stored: Any, size: int) -> Any:
        _require(_frame_size(bytes(stored[:_FRAME])) == size)  # Arrow does not say how much zstd has filled
        try:
            return codec.decompress(stored, size)
        except (OSError, pa.ArrowException):
            raise _Declined from None

    return expanded


def _frame_size(start: bytes) -> int | None:
    """How many bytes a zstd frame expands to, if its header says so: then zstd refuses to make more or fewer."""
    if len(start) < 6 or start[:4] != _ZSTD:
        return None
    one_segment = start[4] >> 5 & 1
    length = (one_segment, 2, 4, 8)[start[4] >> 6]
    begin = 6 - one_segment + (0, 1, 2, 4)[start[4] & 3]
    size = int.from_bytes(start[begin : begin + length], "little") + 256 * (length == 2)
    return size if length and begin + length <= len(start) else None


_EXPANDING: dict[int, Callable[[], Expand]] = {0: _as_it_is, 6: _from_zstd}  # by the number of a compression
