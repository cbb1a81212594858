"""Loops over a column of a Parquet file whose pages hold numbers of entries of a dictionary, packed bit by bit.

Nothing is read or written outside the arrays, whatever the bytes say: what is not understood is declined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bitmaps, Bytes, Integers, Numbers
from deniable.kernels import SMALL, compiled, part

DECLINED = MISSING = -1
# what `page_headers` finds of each page: where its body begins, and fields of its header
BEGIN, KIND, UNCOMPRESSED, COMPRESSED, CHECKSUM, HAS_CHECKSUM, VALUES, ENCODING, LEVELS = range(9)
FIELDS = 9
_DATA, _DICTIONARY = 5, 7  # fields of a page's header that are headers of a kind of page
DEPTH = 6  # of structures within structures, at most
_BITS = 35  # of a number of 5 bytes, enough for one of 32 bits
_NONE, _ONE, _LAST = np.uint64(0), np.uint64(1), np.uint64(63)


@part
def number(data: Bytes, at: int, end: int, bits: int = _BITS) -> tuple[int, int]:
    """A whole number of so many bits, 7 of them in each byte, and where it ends; declined if it does not."""
    value = 0
    for shift in range(0, bits, 7):
        if at >= end:
            break
        byte = int(data[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    return 0, DECLINED


@part
def skipped(data: Bytes, at: int, kind: int) -> int:
    """Where a field that is no number and no structure ends (Thrift, compact protocol)."""
    if kind in (1, 2):  # true, false
        return at
    if kind == 3:  # a byte
        return at + 1
    if kind == 7:  # a double
        return at + 8
    if kind == 8:  # bytes
        length, at = number(data, at, data.shape[0])
        return at + length if at >= 0 else DECLINED
    return DECLINED


@part
def _header(data: Bytes, at: int, found: Integers, fields: Integers) -> int:
    """Read the header of one page; return where it ends. `fields` has room for a field at each depth."""
    depth = 0
    fields[0] = 0
    found[HAS_CHECKSUM] = 0
    while 0 <= at < data.shape[0]:
        kind, ahead = int(data[at]) & 15, int(data[at]) >> 4
        at += 1
        if kind == 0:
            if depth == 0:
                return at
            depth -= 1
            continue
        if ahead == 0:
            return DECLINED
        fields[depth] += ahead
        field = fields[depth]
        if kind == 12:
            if depth + 1 == DEPTH:
                return DECLINED
            depth += 1
            fields[depth] = 0
        elif kind in (4, 5, 6):
            value, at = number(data, at, data.shape[0])
            value = (value >> 1) ^ -(value & 1)
            if depth == 0 and field in (1, 2, 3, 4):
                found[field] = value
                if field == CHECKSUM:
                    found[HAS_CHECKSUM] = 1
            elif depth == 1 and fields[0] in (_DATA, _DICTIONARY) and field <= 3:
                found[VALUES + field - 1] = value
        else:
            at = skipped(data, at, kind)
    return DECLINED


@compiled(small=SMALL)
def page_headers(data: Bytes, found: Integers, fields: Integers) -> int:
    """Find all pages of a column: a row of `found` for each. Return how many there are."""
    at, page = 0, 0
    while at < data.shape[0]:
        if page == found.shape[0]:
            return DECLINED
        found[page] = MISSING
        at = _header(data, at, found[page], fields)
        if at < 0 or found[page, COMPRESSED] < 0 or found[page, COMPRESSED] > data.shape[0] - at:
            return DECLINED
        found[page, BEGIN] = at
        at += found[page, COMPRESSED]
        page += 1
    return page


@part
def _word(words: Bitmaps, bit: int) -> Any:
    """The 64 bits that begin at this one."""
    place, shift = bit >> 6, np.uint64(bit & 63)
    return (words[place] >> shift) | ((words[place + 1] << _ONE) << (_LAST - shift))


@part
def _unpacked(words: Bitmaps, bit: int, width: int, largest: Any, table: Numbers, out: Numbers) -> Any:
    """out = table[entry] for the entries that begin at this bit. The first bit returned is set if one is too large."""
    one = np.uint64(width)
    two, three = one + one, one + one + one
    mask, over = (_ONE << one) - _ONE, _NONE
    place, size, bounded = 0, out.shape[0], largest < mask
    while place + 4 <= size:  # four are in one word, wherever it begins
        packed = _word(words, bit)
        first, second = packed & mask, (packed >> one) & mask
        third, fourth = (packed >> two) & mask, (packed >> three) & mask
        if bounded:  # else all numbers of so many bits are of entries
            over |= (largest - first) | (largest - second) | (largest - third) | (largest - fourth)
        out[place], out[place + 1] = table[first], table[second]
        out[place + 2], out[place + 3] = table[third], table[fourth]
        place += 4
        bit += 4 * width
    while place < size:
        entry = _word(words, bit) & mask
        over |= largest - entry  # negative, so that its first bit is set, if the entry is larger
        out[place] = table[entry]
        place += 1
        bit += width
    return over


@compiled(small=SMALL)
def entries(
    words: Bitmaps, data: Bytes, at: int, end: int, width: int, known: Any, table: Numbers, out: Numbers
) -> int:
    """out = table[entry] for the numbers of entries in data[at:end]; 0, if all of them are below `known`.

    The numbers have `width` bits, from 1 to 16, and the table 2^width entries or more. `words` is the memory of `data`
    as words, of which there are two more than `end` needs. Runs of one number and runs of packed ones alternate.
    """
    filled, size = 0, out.shape[0]
    largest, over = np.uint64(known) - _ONE, _NONE
    while filled < size:
        head, at = number(data, at, end)
        count = min(head >> 1, size) * (8 if head & 1 else 1)
        if at < 0 or count == 0:
            return DECLINED
        stop = filled + min(count, size - filled)
        if head & 1:
            length = (head >> 1) * width
            if length > end - at:
                return DECLINED
            over |= _unpacked(words[at >> 3 :], 8 * (at & 7), width, largest, table, out[filled:stop])
            at += length
        else:
            entry = _NONE
            for byte in range((width + 7) // 8):
                if at >= end:
                    return DECLINED
                entry |= np.uint64(data[at]) << np.uint64(8 * byte)
                at += 1
            if entry > largest:
                return DECLINED
            out[filled:stop] = table[entry]
        filled = stop
    return DECLINED if over >> _LAST else 0
