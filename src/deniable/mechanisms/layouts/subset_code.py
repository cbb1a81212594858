"""A subset of w of k values as bytes, at the information bound.

All C(k, w) subsets are equally likely, so their codes are numbers of a fixed length. An arithmetic coder finds
them without large numbers: it goes through the values in order and narrows an interval of integers, whose
upper part, a share of (elements lacking) / (values left), stands for a value that is in the set. In the end the
interval's width is a share 1/C(k, w) of the whole, but for rounding, and the code is the least number of whole
bytes in it. Every number is an integer, so that any language makes the same bytes:

    chance = floor(lacking floor(2^52 / left) / 2^20),  inside = floor(width chance / 2^32)
    in the set: low += width - inside, width = inside;   not in it: width -= inside
    while width < 2^48: low and width are multiplied by 2^16
    from low = 0 and width = 2^64 - 1, until no element is lacking or all values left are elements

Rounding favours values outside the set. One inside loses at most left/2^52 + left (1 + 2^-16)/(lacking 2^32) of its
share; a whole subset loses less than w k/2^52 + k (1 + ln w) (1 + 2^-16)/2^32 < 1/256 for k <= 2^20. Hence codes of
B bytes suffice if C(k, w) (1 + 1/128) < 2^(8 B).

Reference: Cover 1973 (enumerative coding, which this approaches); Rissanen and Langdon 1979 (arithmetic coding).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable import kernels
from deniable.core.arrays import Bytes, Payloads
from deniable.mechanisms.numbers import binomial_bits

MAX_VALUES = 2**20
_WHOLE = 2**64 - 1
_LEAST = 2**48


def code_bits(number: int) -> int:
    """Bits per code of `number` subsets."""
    return _with_room(number).bit_length()


def code_bits_of(k: int, w: int) -> int:
    """Bits per code of a subset of w of k values."""
    return binomial_bits(k, w, _with_room, 129 / 128)


def _with_room(number: int) -> int:
    return number + number // 128


def code_bytes(number: int) -> int:
    """Bytes per code of `number` subsets."""
    return (code_bits(number) + 7) // 8


def encode_rows(rows: Payloads, k: int, w: int, size: int, unused: int = 0) -> Bytes:
    """Write the code of each row, a bitmap of 64-bit words, in `size` bytes that end in `unused` zero bits."""
    out = np.empty((len(rows), size), np.uint8)
    if kernels.pay_for(len(rows) * k):
        from deniable.kernels.subsets import encode_subsets

        encode_subsets(np.ascontiguousarray(rows), k, w, unused, out)
    else:
        for place, row in enumerate(rows.tolist()):
            number = subset_number(row, k, w, 8 * size - unused) << unused
            out[place] = np.frombuffer(number.to_bytes(size, "big"), np.uint8)
    return out


def decode_rows(codes: Bytes, k: int, w: int, out: Payloads, unused: int = 0) -> int:
    """Write the bitmap of each code; return the position of the first row that is not a code, or -1."""
    if kernels.pay_for(len(codes) * k):
        from deniable.kernels.subsets import decode_subsets

        return int(decode_subsets(np.ascontiguousarray(codes), k, w, unused, out))
    for place, code in enumerate(codes):
        row = decode_subset(code.tobytes(), k, w, unused)
        if row is None:
            return place
        out[place] = row
    return -1


def subset_number(row: Sequence[int], k: int, w: int, bits: int) -> int:
    """The code of a subset as a number of `bits` bits."""
    low, width, lacking, shifts = 0, _WHOLE, w, 64
    for value in range(k):
        if lacking == 0 or lacking == k - value:
            break
        inside = _inside(width, lacking, k - value)
        if row[value >> 6] >> (value & 63) & 1:
            low += width - inside
            width = inside
            lacking -= 1
        else:
            width -= inside
        while width < _LEAST:
            low <<= 16
            width <<= 16
            shifts += 16
    # rounded up: the least code in the interval
    return -(-low >> shifts - bits)


def decode_subset(data: bytes, k: int, w: int, unused: int = 0) -> list[int] | None:
    """The bitmap of the subset with this code, which ends in `unused` bits; None if no subset has this code."""
    row = [0] * -(-k // 64)
    padded = data + bytes(16)
    offset, read, width, lacking = int.from_bytes(padded[:8], "big"), 8, _WHOLE, w
    if offset >= width:
        return None
    value = 0
    while 0 < lacking < k - value:
        inside = _inside(width, lacking, k - value)
        if offset >= width - inside:
            row[value >> 6] |= 1 << (value & 63)
            offset -= width - inside
            width = inside
            lacking -= 1
        else:
            width -= inside
        value += 1
        while width < _LEAST:
            offset = offset << 16 | int.from_bytes(padded[read : read + 2], "big")
            width <<= 16
            read += 2
    for rest in range(value, value + lacking):
        row[rest >> 6] |= 1 << (rest & 63)
    # another code of the same subset is refused: only the least is sent
    return row if offset >> 8 * (read - len(data)) + unused == 0 else None


def _inside(width: int, lacking: int, left: int) -> int:
    """The part of the width that stands for a value in the set."""
    return width * (lacking * (2**52 // left) >> 20) >> 32
