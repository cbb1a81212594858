"""Encoded reports: all reports of a spec have the same number of bytes, so that many are the rows of one array."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deniable.core.arrays import Bytes
from deniable.core.errors import MalformedReport


def as_bytes(data: object) -> bytes:
    """Return bytes as they came over the wire; bytes(5) would be five zeros."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise MalformedReport(f"an encoded report must be bytes, got {type(data).__name__}")
    return bytes(data)


def stacked(data: Iterable[bytes], size: int) -> Bytes:
    """Lay encoded reports in the rows of an array; refuse any that is not `size` bytes."""
    reports = list(data)
    try:
        lengths = list(map(bytes.__len__, reports))
    except TypeError:  # one of them is not bytes
        reports = [as_bytes(each) for each in reports]
        lengths = list(map(len, reports))
    if lengths.count(size) != len(lengths):
        at = next(place for place, length in enumerate(lengths) if length != size)
        raise MalformedReport(f"report at position {at} must have {size} bytes, got {lengths[at]}")
    return np.array(reports, f"S{size}").view(np.uint8).reshape(len(reports), size)


def cut(data: bytes, size: int) -> Bytes:
    """Divide reports that lie end to end; refuse a length that is no multiple of theirs."""
    codes: Bytes = np.frombuffer(as_bytes(data), np.uint8)
    if len(codes) % size:
        raise MalformedReport(f"reports must have {size} bytes each, got {len(codes)} bytes in all")
    return codes.reshape(-1, size)


def listed(codes: Bytes) -> list[bytes]:
    """Each row as bytes."""
    found: list[bytes] = np.ascontiguousarray(codes).reshape(-1).view(f"V{codes.shape[1]}").tolist()
    return found


def check_size(data: bytes, size: int) -> None:
    """Refuse one encoded report of another length."""
    if len(data) != size:
        raise MalformedReport(f"report must have {size} bytes, got {len(data)}")
