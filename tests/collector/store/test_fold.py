"""Reports become counts, and counts become public."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise

import pytest

from deniable.collector.store.records import Cell, Counted
from deniable.collector.store.sql import SqlStore
from tests.collector.store.helpers import (
    HOUR,
    Sums,
    a_cell,
    a_collection,
    as_bytes,
    batch,
    fold_all,
    identifier,
    reports,
    total,
)


def test_a_summary_is_published_when_it_has_advanced_enough(store: SqlStore) -> None:
    a_collection(store)
    cell, sums = a_cell(), Sums(minimum=10)
    told, versions = [], []
    for start in range(0, 32, 4):
        store.commit([reports(cell, range(start, start + 4))])
        store.fold(cell, sums, keep=False, most=100)
        (kept,) = store.kept(1)
        assert kept.n == total(store.summaries([cell])[0])[1] == start + 4
        told.append(kept.published)
        versions.append(kept.version)
        assert total(store.published([cell])[0]) == (sum(range(kept.published)), kept.published)
    assert told == [0, 0, 12, 12, 12, 24, 24, 24]
    assert [b - a for a, b in pairwise(versions)] == [0, 1, 0, 0, 1, 0, 0]


def test_nothing_waiting_is_not_counted(store: SqlStore) -> None:
    a_collection(store)

    def never(*_: object) -> Counted:
        raise AssertionError("nothing is there to count")

    assert store.fold(a_cell(), never, keep=False, most=100) == 0
    store.commit([reports(a_cell(), [1])])
    fold_all(store)
    assert store.fold(a_cell(), never, keep=False, most=100) == 0


def test_about_as_many_as_asked_are_folded_and_rows_are_never_cut(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    for start in range(0, 30, 3):
        store.commit([reports(cell, range(start, start + 3))])
    assert [store.fold(cell, Sums(), keep=False, most=most) for most in (1, 4, 6, 100)] == [3, 6, 6, 15]
    assert total(store.summaries([cell])[0]) == (sum(range(30)), 30)


def test_counted_reports_are_kept_if_asked_and_never_counted_again(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, range(5)), batch(cell, 77, 10)])
    assert fold_all(store, keep=True) == 15
    store.commit([reports(cell, range(5, 8))])
    assert fold_all(store, keep=True) == 3
    assert total(store.summaries([cell])[0]) == (sum(range(8)) + 770, 18)
    assert store.delete_report(1, HOUR, identifier(3)) == "counted"
    assert total(store.summaries([cell])[0])[1] == 18


def test_a_counting_function_that_fails_changes_nothing(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, range(5))])

    def fails(*_: object) -> Counted:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.fold(cell, fails, keep=False, most=100)
    assert store.waiting() == [(cell, 5)]
    assert fold_all(store) == 5


def test_reports_that_arrive_while_others_are_counted_wait_for_the_next_time(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, range(5))])

    def meanwhile(*arguments: object) -> Counted:
        store.commit([reports(cell, range(5, 9))])
        return Sums()(*arguments)  # type: ignore[arg-type]

    assert store.fold(cell, meanwhile, keep=False, most=100) == 5
    assert store.waiting() == [(cell, 4)]
    fold_all(store)
    assert total(store.summaries([cell])[0]) == (sum(range(9)), 9)


@pytest.mark.parametrize("change", ["fold", "delete", "import", "drop"])
def test_a_cell_that_changes_while_it_is_counted_is_counted_again(store: SqlStore, change: str) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, range(5))])
    calls = 0

    def meanwhile(*arguments: object) -> Counted:
        nonlocal calls
        calls += 1
        if calls == 1:
            match change:
                case "fold":
                    store.fold(cell, Sums(), keep=False, most=100)
                case "delete":
                    assert store.delete_report(1, HOUR, identifier(4)) == "deleted"
                case "import":
                    store.add_summaries(1, identifier(1), {cell: as_bytes(100, 1)}, Sums())
                case _:
                    store.drop(1, HOUR + 1)
        return Sums()(*arguments)  # type: ignore[arg-type]

    done = store.fold(cell, meanwhile, keep=False, most=100)
    expected = {"fold": (0, 10, 5), "delete": (4, 6, 4), "import": (5, 110, 6), "drop": (0, 0, 0)}[change]
    assert (done, *total(store.summaries([cell])[0])) == expected
    assert store.waiting() == []


def test_a_cell_that_changes_as_fast_as_it_is_counted_is_locked_and_counted(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, range(40))])
    deletions: list[Future[str]] = []

    with ThreadPoolExecutor(max_workers=40) as others:

        def meanwhile(*arguments: object) -> Counted:
            deletions.append(others.submit(store.delete_report, 1, HOUR, identifier(len(deletions))))
            wait(deletions, timeout=0.5)
            return Sums()(*arguments)  # type: ignore[arg-type]

        done = store.fold(cell, meanwhile, keep=False, most=100)
    told = [each.result() for each in deletions]
    assert told == ["deleted"] * (len(told) - 1) + ["counted"]
    assert done == 40 - len(told) + 1
    assert total(store.summaries([cell])[0]) == (sum(range(len(told) - 1, 40)), done)
    assert store.waiting() == []


def test_summaries_from_elsewhere_are_added_once_for_each_name(store: SqlStore) -> None:
    a_collection(store)
    a_collection(store, "flavours")
    cell, other = a_cell(), a_cell(segments=b"\1")
    store.commit([reports(cell, range(5))])
    fold_all(store)
    parts: dict[Cell, bytes] = {cell: as_bytes(100, 2), other: as_bytes(7, 1)}
    assert store.add_summaries(1, identifier(1), parts, Sums())
    assert not store.add_summaries(1, identifier(1), parts, Sums())
    assert [total(summary) for summary in store.published([cell, other])] == [(110, 7), (7, 1)]
    assert store.add_summaries(2, identifier(1), {a_cell(2): as_bytes(1, 1)}, Sums())
    assert store.add_summaries(1, identifier(2), {cell: as_bytes(1, 1)}, Sums(minimum=5))
    assert [(kept.n, kept.published) for kept in store.kept(1)] == [(8, 7), (1, 1)]
    assert total(store.published([cell])[0]) == (110, 7)


def test_cells_nobody_has_heard_of_have_no_summary(store: SqlStore) -> None:
    a_collection(store)
    store.commit([reports(a_cell(), [1])])
    assert store.summaries([a_cell(), a_cell(bucket=1)]) == store.published([a_cell(), a_cell(bucket=1)]) == [None] * 2
    assert store.kept(1) == store.kept(2) == []
