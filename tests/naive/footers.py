"""A slow, obvious twin of the loop over the footer of a Parquet file."""

from __future__ import annotations

from typing import Any

from tests.naive.dictionary_pages import number

BYTES = 9  # of a number


def structure(data: bytes, at: int, depth: int = 1) -> tuple[dict[int, Any], int]:
    """The fields of a structure of Thrift's compact protocol, and where it ends."""
    fields: dict[int, Any] = {}
    field = 0
    while data[at] & 15:
        kind, ahead = data[at] & 15, data[at] >> 4
        if not ahead:
            raise ValueError("a field by its number")
        field += ahead
        fields[field], at = value_of(data, at + 1, kind, depth, in_list=False)
    return fields, at + 1


def value_of(data: bytes, at: int, kind: int, depth: int, *, in_list: bool) -> tuple[Any, int]:
    """A value of this kind, and where it ends: a number, a structure, a list, or None for anything else."""
    if kind in (9, 12) and depth == 16:
        raise ValueError("too deep")
    if kind == 12:
        return structure(data, at, depth + 1)
    if kind == 9:
        return elements(data, at, depth + 1)
    if kind in (4, 5, 6):
        value, at = number(data, at, BYTES)
        return (value // 2 if value % 2 == 0 else -(value // 2) - 1), at
    if kind == 8:
        length, at = number(data, at)
        return None, at + length
    if kind in (1, 2, 3, 7):
        return None, at + {1: int(in_list), 2: int(in_list), 3: 1, 7: 8}[kind]
    raise ValueError("a kind that footers do not use")


def elements(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    """The elements of a list, and where it ends."""
    kind, size = data[at] & 15, data[at] >> 4
    at += 1
    if size == 15:
        size, at = number(data, at, BYTES)
    found = []
    for _ in range(size):
        if at >= len(data):
            raise IndexError
        value, at = value_of(data, at, kind, depth, in_list=True)
        found.append(value)
    return found, at


def chunks(data: bytes, groups: int, columns: int) -> list[list[dict[int, Any]]] | None:
    """The columns of each row group, if there are so many; None if this is no such footer."""
    try:
        footer, _ = structure(data, 0)
        listed = footer[4] if isinstance(footer.get(4), list) else []
        found = [group[1] if isinstance(group, dict) else None for group in listed]
        whole = all(isinstance(column, dict) for group in found for column in group)
    except (IndexError, ValueError, KeyError, TypeError):
        return None
    return found if whole and [len(group) for group in found] == [columns] * groups else None
