"""Rows that are no reports: where the first one is, and a batch without them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Indices, Mask
from deniable.core.errors import MalformedReport
from deniable.core.extras import needed
from deniable.core.reports import COLUMN
from deniable.grouping.counting import Counted, layout_of, levels_of, report_columns
from deniable.heavy_hitters.collected import LEVEL_COLUMN
from deniable.mechanisms.layouts.symbols import SymbolLayout

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


def without_bad(
    batch: Any, check: Check, counted: Counted, by: tuple[str, ...], times: Counts | None = None
) -> tuple[Any, Mask, Counter[str]]:
    """The batch without its bad rows, which rows are kept, and how many were left out for each reason.

    With `times`, a row stands for so many.
    """
    keep, reasons = np.ones(len(batch), np.bool_), Counter[str]()

    def leave_out(places: Indices, error: MalformedReport) -> None:
        keep[places] = False
        reasons[reason_of(error)] += len(places) if times is None else int(times[places].sum())

    for fault in faults(batch, counted, by):
        places = np.flatnonzero(fault & keep)
        error = next(bad_rows(batch.slice(int(places[0]), 1), check), None) if len(places) else None
        if error is not None:
            leave_out(places, error[1])
    rest = np.flatnonzero(keep)
    for place, problem in bad_rows(batch.filter(keep), check):
        leave_out(rest[[place]], problem)
    return batch.filter(keep), keep, reasons


def faults(batch: Any, counted: Counted, by: tuple[str, ...]) -> Iterator[Mask]:
    """Which rows have each of the faults that can be seen in all rows at once, in the order of a row's check."""
    levels = levels_of(counted)
    numbers, missing = _numbers(batch.column(COLUMN))
    yield missing
    if numbers is not None:
        yield numbers < 0
    level = np.zeros(len(batch), np.int64)
    if len(levels) > 1 or LEVEL_COLUMN in report_columns(counted):
        found, missing = _numbers(batch.column(LEVEL_COLUMN))
        yield missing
        level = level if found is None else found
    for name in by:
        if name in batch.schema.names:
            yield _numbers(batch.column(name))[1]
    yield (level < 0) | (level >= len(levels))
    if numbers is not None and isinstance(layout_of(counted), SymbolLayout):
        for place, own in enumerate(levels):
            yield (level == place) & (numbers >= own.layout.cells)


def _numbers(column: Any) -> tuple[Any, Mask]:
    """The numbers of a column, if it has numbers, and where there is none."""
    with needed():
        import pyarrow as pa

    missing: Mask = column.is_null().to_numpy(zero_copy_only=False)
    if not pa.types.is_integer(column.type):
        return None, missing
    return column.fill_null(0).to_numpy(zero_copy_only=False), missing


def reason_of(error: MalformedReport) -> str:
    """An error without position and value, the same for all rows that break one rule."""
    return _GOT.sub("", without_position(error))


def without_position(error: MalformedReport) -> str:
    """The message of an error without the position in a batch, for where that means nothing."""
    return _POSITION.sub("", str(error))
