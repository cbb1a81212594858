"""Reports arrive: each id once, however it is sent."""

from __future__ import annotations

import dataclasses

import pytest

from deniable.collector.store.records import TOO_OLD
from deniable.collector.store.sql import SqlStore
from deniable.core.errors import InvalidArgument
from tests.collector.store.helpers import HOUR, Sums, a_cell, a_collection, batch, fold_all, identifier, reports, total


def test_reports_are_stored_once_and_replays_are_left_out(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    assert store.commit([reports(cell, range(5))]) == [5]
    assert store.commit([reports(cell, range(5))]) == [0]
    assert store.commit([reports(cell, range(3, 8)), reports(cell, range(7, 10))]) == [3, 2]
    assert store.waiting() == [(cell, 10)]
    assert fold_all(store) == 10
    assert total(store.published([cell])[0]) == (sum(range(10)), 10)


def test_duplicates_inside_one_commit_count_once(store: SqlStore) -> None:
    a_collection(store)
    cell, other = a_cell(), a_cell(segments=b"\1")
    assert store.commit([reports(cell, [1, 2, 1]), reports(other, [2, 3]), reports(cell, [3, 4])]) == [2, 1, 1]
    fold_all(store)
    assert [total(summary) for summary in store.summaries([cell, other])] == [(1 + 2 + 4, 3), (3, 1)]


def test_a_replay_of_some_ids_keeps_the_payloads_of_the_others(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, [10, 30, 50])])
    assert store.commit([reports(cell, [20, 30, 40, 50, 60])]) == [3]
    fold_all(store)
    assert total(store.summaries([cell])[0]) == (10 + 20 + 30 + 40 + 50 + 60, 6)


def test_a_batch_without_ids_counts_once_by_its_own_id(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    assert store.commit([batch(cell, 7, 100), batch(cell, 8, 50), batch(cell, 7, 100)]) == [100, 50, 0]
    assert store.commit([batch(cell, 8, 50)]) == [0]
    fold_all(store)
    assert total(store.published([cell])[0]) == (7 * 100 + 8 * 50, 150)


def test_an_id_is_remembered_for_its_collection_and_hour_alone(store: SqlStore) -> None:
    a_collection(store)
    a_collection(store, "flavours")
    first, second = a_cell(), a_cell(2)
    sent = [reports(first, [1]), reports(second, [1]), reports(first, [1], HOUR + 1)]
    assert store.commit(sent) == [1, 1, 1]
    assert store.commit(sent) == [0, 0, 0]


def test_payloads_of_different_widths_share_a_cell(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    assert store.commit(
        [reports(cell, [1, 2], width=1), reports(cell, [300], width=2), reports(cell, [3], width=1)]
    ) == [
        2,
        1,
        1,
    ]
    fold_all(store)
    assert total(store.summaries([cell])[0]) == (306, 4)


def test_nothing_to_commit_is_no_transaction(store: SqlStore) -> None:
    a_collection(store)
    assert store.commit([]) == []
    assert store.commit([reports(a_cell(), [])]) == [0]
    assert store.waiting() == []


def test_reports_of_forgotten_hours_are_told_apart_from_replays(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, range(4), HOUR), reports(cell, range(4, 6), HOUR + 1)])
    assert store.forget(1, HOUR + 1) == 4
    assert store.collections()[0].remembered_from == HOUR + 1
    assert store.commit([reports(cell, range(4), HOUR), reports(cell, range(4, 7), HOUR + 1)]) == [TOO_OLD, 1]
    assert store.forget(1, HOUR - 5) == 0
    assert store.commit([reports(cell, range(4), HOUR)]) == [TOO_OLD]
    fold_all(store)
    assert total(store.summaries([cell])[0]) == (sum(range(7)), 7)


def test_many_ids_are_forgotten_in_pieces(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.store.deleting._IDS_AT_ONCE", 3)
    a_collection(store)
    a_collection(store, "flavours")
    for hour in range(HOUR, HOUR + 4):
        store.commit([reports(a_cell(1), range(5), hour), reports(a_cell(2), range(5), hour)])
    assert store.forget(1, HOUR + 3) == 15
    assert store.commit([reports(a_cell(1), range(5), HOUR + 3), reports(a_cell(2), range(5), HOUR)]) == [0, 0]


@pytest.mark.parametrize(
    "fault",
    [
        {"ids": (identifier(1), b"short")},
        {"ids": (identifier(1),)},
        {"payloads": b"123"},
        {"cell": a_cell(9)},
    ],
    ids=["short id", "too few ids", "payloads of no width", "unknown collection"],
)
def test_a_delivery_that_does_not_fit_together_is_refused_and_nothing_is_stored(
    store: SqlStore, fault: dict[str, object]
) -> None:
    a_collection(store)
    good, bad = reports(a_cell(), [5]), dataclasses.replace(reports(a_cell(), [1, 2]), **fault)
    with pytest.raises(InvalidArgument):
        store.commit([good, bad])
    assert store.waiting() == []
    assert store.commit([good]) == [1]


def test_many_cells_arrive_in_one_commit(store: SqlStore) -> None:
    a_collection(store)
    cells = [a_cell(bucket=HOUR + i // 256, segments=bytes([i % 256])) for i in range(450)]
    assert store.commit([reports(cell, [i]) for i, cell in enumerate(cells)]) == [1] * 450
    assert store.waiting() == [(cell, 1) for cell in cells]
    fold_all(store, Sums())
    assert [total(summary)[0] for summary in store.published(cells)] == list(range(450))
