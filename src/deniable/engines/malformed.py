"""Rows that are no reports: where the first one is, and a batch without them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from deniable.core.errors import MalformedReport

Check = Callable[[Any], None]  # of some rows: raises MalformedReport if one of them is bad
_ROW = re.compile("(.*, )?row ([0-9]+)", re.DOTALL)
_POSITION = re.compile(" at position [0-9]+")
_GOT = re.compile(",? got .*", re.DOTALL)


def bad_rows(batch: Any, check: Check, start: int = 0) -> Iterator[tuple[int, MalformedReport]]:
    """Find the bad rows by halving: each costs a few checks of shorter and shorter parts."""
    try:
        check(batch)
    except MalformedReport as error:
        if len(batch) == 1:
            yield start, error
            return
        middle = len(batch) // 2
        yield from bad_rows(batch.slice(0, middle), check, start)
        yield from bad_rows(batch.slice(middle), check, start + middle)


def first_bad(batch: Any, check: Check, where: str, error: MalformedReport) -> MalformedReport:
    """The error of the first bad row, with its place; where no row by itself is bad, the error of them all."""
    found = next(bad_rows(batch, check), None)
    if found is None:
        return MalformedReport(f"{where}: {error}")
    place = _ROW.fullmatch(where)
    if place:
        where = f"{place[1] or ''}row {int(place[2]) + found[0]}"
    return MalformedReport(f"{where}: {without_position(found[1])}")


def without_bad(batch: Any, check: Check) -> tuple[Any, Counter[str]]:
    """The batch without its bad rows, and how many there were for each reason."""
    found = list(bad_rows(batch, check))
    keep = np.ones(len(batch), np.bool_)
    keep[[place for place, _ in found]] = False
    return batch.filter(keep), Counter(reason_of(error) for _, error in found)


def reason_of(error: MalformedReport) -> str:
    """An error without position and value, the same for all rows that break one rule."""
    return _GOT.sub("", without_position(error))


def without_position(error: MalformedReport) -> str:
    """The message of an error without the position in a batch, for where that means nothing."""
    return _POSITION.sub("", str(error))
