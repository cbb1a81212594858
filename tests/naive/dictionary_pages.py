"""Slow, obvious twins of the loops over pages of a Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def number(data: bytes, at: int, most: int = 5) -> tuple[int, int]:
    """A number with 7 bits in each byte, and where it ends."""
    value = 0
    for place in range(most):
        value += (data[at + place] & 127) << (7 * place)
        if data[at + place] < 128:
            return value, at + place + 1
    raise ValueError("too many bytes")


def entries(data: bytes, width: int, table: Sequence[int], size: int) -> list[int] | None:
    """The entries of the table whose numbers are packed in runs; None if they are not all there."""
    found: list[int] = []
    at = 0
    while len(found) < size:
        try:
            head, at = number(data, at)
        except (IndexError, ValueError):
            return None
        length = (head >> 1) * width if head & 1 else (width + 7) // 8
        part = data[at : at + length]
        if len(part) < length or head < 2:
            return None
        at += length
        whole = int.from_bytes(part, "little")
        if head & 1:
            count = min(8 * (head >> 1), size - len(found))
            places = [whole >> (width * place) & (2**width - 1) for place in range(count)]
        else:
            places = [whole] * min(head >> 1, size - len(found))
        if any(place >= len(table) for place in places):
            return None
        found += [table[place] for place in places]
    return found


def structure(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """The fields of a structure of Thrift's compact protocol, and where it ends."""
    fields: dict[int, Any] = {}
    field = 0
    while data[at] & 15:
        kind, ahead = data[at] & 15, data[at] >> 4
        if not ahead:
            raise ValueError("a field by its number")
        at += 1
        field += ahead
        if kind == 12:
            fields[field], at = structure(data, at)
        elif kind in (4, 5, 6):
            value, at = number(data, at)
            fields[field] = value // 2 if value % 2 == 0 else -(value // 2) - 1
        elif kind == 8:
            length, at = number(data, at)
            at += length
        elif kind in (1, 2, 3, 7):
            at += {1: 0, 2: 0, 3: 1, 7: 8}[kind]
        else:
            raise ValueError("a kind that pages do not use")
    return fields, at + 1


def page_headers(data: bytes) -> list[tuple[int, dict[int, Any]]] | None:
    """Where the body of each page begins, and the fields of its header; None if it is no list of pages."""
    pages = []
    at = 0
    while at < len(data):
        try:
            fields, at = structure(data, at)
        except (IndexError, ValueError):
            return None
        size = fields.get(3, -1)
        if not (isinstance(size, int) and 0 <= size <= len(data) - at):
            return None
        pages.append((at, fields))
        at += size
    return pages
