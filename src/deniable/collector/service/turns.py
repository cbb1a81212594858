"""Whose turn it is to be counted: collections take turns, and so do the cells of each.

A write key may be public, and whoever has it can send a report to each of many cells. Nobody waits for all of these.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from deniable.collector.store.records import Cell

Waiting = tuple[Cell, int]  # with the number of its reports


class Turns:
    """Remembers who was last: the collections in order, and in each the cell."""

    def __init__(self) -> None:
        self._last: dict[int, Cell] = {}  # the collection that waits the longest comes first

    def order(self, waiting: Iterable[Waiting]) -> Iterator[Waiting]:
        """All that waits, one cell of each collection after the other; what is taken has had its turn."""
        own: dict[int, list[Waiting]] = {}
        for each in waiting:
            own.setdefault(each[0].collection, []).append(each)
        places = {number: place for place, number in enumerate(self._last)}
        queues = [self._from_last(own[number]) for number in sorted(own, key=lambda number: places.get(number, -1))]
        for group in zip_longest(*queues):
            for each in filter(None, group):
                self._last.pop(each[0].collection, None)
                self._last[each[0].collection] = each[0]
                yield each

    def _from_last(self, own: list[Waiting]) -> list[Waiting]:
        """The cells of one collection, from that which comes after the last one."""
        own.sort()
        last = self._last.get(own[0][0].collection)
        start = 0 if last is None else bisect_right(own, last, key=lambda each: each[0])
        return own[start:] + own[:start]
