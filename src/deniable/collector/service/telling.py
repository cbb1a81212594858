"""What keys may learn of counts beside what is published: administrators all of it, readers nothing that is not.

A reader who saw how many reports wait or are withheld, again and again, would see every single report arrive.
"""

from __future__ import annotations

from deniable.collector.service.directory import Desk
from deniable.collector.store.protocol import Store
from deniable.collector.store.records import Kept


def told_of(store: Store, desk: Desk, exact: bool) -> list[Kept]:
    """The cells of a collection; those who may not know them exactly learn of what is published alone, cell by cell.

    A cell of which less than the minimum is published, as there may be after it was raised, is left out. So not even
    the first report of a cell shows, and what shows advances by at least the minimum.
    """
    kept = store.kept(desk.number)
    if exact:
        return kept
    return [each._replace(n=each.published) for each in kept if each.published >= desk.settings.minimum]


def told_waiting(store: Store, desk: Desk, exact: bool) -> int:
    """How many stored reports are not counted yet; for readers in whole minimums of each cell."""
    waiting = [n for cell, n in store.waiting() if cell.collection == desk.number]
    minimum = 1 if exact else desk.settings.minimum
    return sum(n // minimum * minimum for n in waiting)
