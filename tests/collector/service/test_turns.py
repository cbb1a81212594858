"""Many cells of one collection keep no other waiting, and each has its turn."""

from __future__ import annotations

import pytest

from deniable.collector.service.turns import Turns
from deniable.collector.store.records import Cell


def cell(collection: int, place: int) -> Cell:
    return Cell(collection, "", 0, bytes([place]))


WAITING = [(cell(1, place), 1) for place in range(4)] + [(cell(2, 0), 1), (cell(3, 0), 1), (cell(3, 1), 1)]


def taken(turns: Turns, most: int) -> list[tuple[int, int]]:
    """The first cells whose turn it is, by collection and place."""
    found = []
    for each, _ in turns.order(WAITING):
        found.append((each.collection, each.segments[0]))
        if len(found) == most:
            break
    return found


def test_collections_take_turns() -> None:
    assert taken(Turns(), 7) == [(1, 0), (2, 0), (3, 0), (1, 1), (3, 1), (1, 2), (1, 3)]
    assert list(Turns().order([])) == []


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_whoever_was_left_out_comes_first_the_next_time(most: int) -> None:
    turns = Turns()
    found = [each for _ in range(-(-12 // most)) for each in taken(turns, most)]
    assert {number for number, _ in found[:3]} == {1, 2, 3}
    assert set(found) == {(each.collection, each.segments[0]) for each, _ in WAITING}
