"""What keys may learn of counts beside what is published: administrators all of it, readers nothing below the minimum.

A reader who saw how many reports wait or are withheld, again and again, would see every single report arrive.
"""

from __future__ import annotations

from deniable.collector.service.directory import Desk
from deniable.collector.store.protocol import Store
from deniable.collector.store.records import Kept


def told_of(store: Store, desk: Desk, exact: bool) -> list[Kept]:
    """The cells of a collection; those who may not know them exactly learn of whole minimums alone, cell by cell.

    A cell of which there is nothing to tell is left out, so that not even its first report shows.
    """
    kept = store.kept(desk.number)
    if exact:
        return kept
    minimum = desk.settings.minimum
    rounded = [each._replace(n=each.published + _down(each.n - each.published, minimum)) for each in kept]
    return [each for each in rounded if each.n]


def told_waiting(store: Store, desk: Desk, exact: bool) -> int:
    """How many stored reports are not counted yet, rounded in the same way."""
    waiting = [n for cell, n in store.waiting() if cell.collection == desk.number]
    return sum(waiting if exact else (_down(n, desk.settings.minimum) for n in waiting))


def _down(n: int, minimum: int) -> int:
    return n // minimum * minimum
