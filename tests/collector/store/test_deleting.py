"""What leaves a store, and what stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from deniable.collector.store.checks import check
from deniable.collector.store.sql import SqlStore
from tests.collector.store.helpers import HOUR, a_cell, a_collection, batch, fold_all, identifier, reports, total


def test_a_report_is_deleted_while_it_is_one_and_its_id_stays_remembered(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, range(10))])
    assert store.delete_report(1, HOUR, identifier(4)) == "deleted"
    assert store.delete_report(1, HOUR, identifier(4)) == "deleted"
    assert store.commit([reports(cell, [4])]) == [0]
    assert store.waiting() == [(cell, 9)]
    fold_all(store)
    assert total(store.summaries([cell])[0]) == (sum(range(10)) - 4, 9)
    assert store.delete_report(1, HOUR, identifier(4)) == "deleted"
    assert store.delete_report(1, HOUR, identifier(5)) == "counted"


def test_an_id_of_another_hour_or_collection_is_unknown(store: SqlStore) -> None:
    a_collection(store)
    store.commit([reports(a_cell(), [1]), reports(a_cell(), [1], HOUR + 1)])
    assert store.delete_report(1, HOUR - 1, identifier(1)) == "unknown"
    assert store.delete_report(2, HOUR, identifier(1)) == "unknown"
    assert store.delete_report(1, HOUR, identifier(2)) == "unknown"
    assert store.delete_report(1, HOUR, identifier(1)) == "deleted"
    assert store.waiting() == [(a_cell(), 1)]
    assert store.delete_report(1, HOUR + 1, identifier(1)) == "deleted"
    assert store.waiting() == []


def test_ids_are_known_until_they_are_forgotten_also_of_reports_that_were_deleted(store: SqlStore) -> None:
    a_collection(store)
    a_collection(store, "flavours")
    store.commit([reports(a_cell(), [1, 2, 3]), batch(a_cell(), 7, 100)])
    store.delete_report(1, HOUR, identifier(2))
    fold_all(store)
    asked = [identifier(number) for number in (1, 2, 4, 7, 1)]
    assert store.known(1, HOUR, asked) == {identifier(number) for number in (1, 2, 7)}
    assert store.known(1, HOUR - 1, asked) == store.known(2, HOUR, asked) == store.known(1, HOUR, []) == set()
    store.forget(1, HOUR + 1)
    assert store.known(1, HOUR, asked) == set()


def test_bytes_of_two_neighbours_are_not_taken_for_an_id(store: SqlStore) -> None:
    a_collection(store)
    left, right = bytes(8) + b"12345678", b"abcdefgh" + bytes(8)
    between = left[8:] + right[:8]
    one = reports(a_cell(), [1])
    for identity in (left, right, between):
        store.commit([type(one)(one.cell, HOUR, (identity,), b"\0\1", 1)])
    both = type(one)(one.cell, HOUR + 1, (left, right, between), b"\0\1\0\2\0\3", 3)
    store.commit([both])
    assert store.delete_report(1, HOUR + 1, between) == "deleted"
    fold_all(store)
    assert total(store.summaries([a_cell()])[0]) == (3 + 1 + 2, 5)


def test_the_last_report_of_a_row_and_whole_batches_are_deleted(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, [1]), batch(cell, 7, 100), batch(cell, 8, 10)])
    assert store.delete_report(1, HOUR, identifier(1)) == "deleted"
    assert store.delete_report(1, HOUR, identifier(7)) == "deleted"
    assert store.waiting() == [(cell, 10)]
    fold_all(store)
    assert total(store.summaries([cell])[0]) == (80, 10)


def test_what_was_kept_of_a_counted_report_is_deleted_but_its_count_stays(store: SqlStore) -> None:
    a_collection(store)
    cell = a_cell()
    store.commit([reports(cell, [258, 772])])
    fold_all(store, keep=True)
    assert kept_bytes(store) == [b"\1\2\3\4"]
    assert store.delete_report(1, HOUR, identifier(258)) == "counted"
    assert kept_bytes(store) == [b"\3\4"]
    assert store.delete_report(1, HOUR, identifier(258)) == "counted"
    assert store.delete_report(1, HOUR, identifier(772)) == "counted"
    assert kept_bytes(store) == []
    assert total(store.summaries([cell])[0]) == (258 + 772, 2)


def test_what_is_kept_of_a_report_is_deleted_also_when_its_id_is_forgotten(store: SqlStore) -> None:
    a_collection(store)
    a_collection(store, "flavours")
    store.commit([reports(a_cell(), [258, 772]), batch(a_cell(), 7, 2), reports(a_cell(2), [258])])
    fold_all(store, keep=True)
    store.commit([reports(a_cell(), [1, 2])])
    for collection in (1, 2):
        store.forget(collection, HOUR + 1)
    assert kept_bytes(store) == [b"\1\2\3\4", b"\0\7\0\7", b"\1\2", b"\0\1\0\2"]
    assert store.delete_report(1, HOUR - 1, identifier(258)) == "forgotten"
    assert store.delete_report(1, HOUR, identifier(258)) == "counted"
    assert store.delete_report(1, HOUR, identifier(258)) == "forgotten"
    assert store.delete_report(1, HOUR, identifier(7)) == "counted"
    assert store.delete_report(1, HOUR, identifier(1)) == "deleted"
    assert kept_bytes(store) == [b"\3\4", b"\1\2", b"\0\2"]
    assert total(store.summaries([a_cell()])[0]) == (258 + 772 + 7 + 7, 4)
    fold_all(store)
    assert total(store.summaries([a_cell()])[0]) == (258 + 772 + 7 + 7 + 2, 5)
    assert check(store) == []


def test_what_is_kept_of_a_collection_is_dropped_while_its_counts_stay(store: SqlStore) -> None:
    a_collection(store)
    a_collection(store, "flavours")
    for number in range(250):  # more rows than one transaction deletes
        store.commit([reports(a_cell(), [number])])
    store.commit([reports(a_cell(2), [258])])
    fold_all(store, keep=True)
    store.commit([reports(a_cell(), [772])])
    store.drop_kept(1)
    assert kept_bytes(store) == [b"\1\2", b"\3\4"]
    assert store.waiting() == [(a_cell(), 1)]
    assert total(store.summaries([a_cell()])[0]) == (sum(range(250)), 250)
    assert store.delete_report(1, HOUR, identifier(4)) == "counted"


def test_an_unknown_id_is_remembered_as_deleted_while_its_report_may_arrive(store: SqlStore) -> None:
    a_collection(store)
    store.forget(1, HOUR)
    assert store.delete_report(1, HOUR, identifier(1)) == "unknown"
    assert store.delete_report(1, HOUR, identifier(2), remember=False) == "unknown"
    assert store.delete_report(1, HOUR - 1, identifier(3)) == "forgotten"
    assert store.commit([reports(a_cell(), [1, 2, 3])]) == [2]
    assert store.delete_report(1, HOUR, identifier(1)) == "deleted"
    assert store.delete_report(1, HOUR - 1, identifier(3)) == "forgotten"
    fold_all(store)
    assert total(store.summaries([a_cell()])[0]) == (2 + 3, 2)
    assert check(store) == []


def test_of_a_deletion_and_an_arrival_at_the_same_time_one_is_first(store: SqlStore) -> None:
    a_collection(store)
    with ThreadPoolExecutor(2) as pool:
        for number in range(20):
            deleted = pool.submit(store.delete_report, 1, HOUR, identifier(number))
            new = pool.submit(store.commit, [reports(a_cell(), [number])])
            assert (deleted.result(), new.result()) in (("unknown", [0]), ("deleted", [1]))
    assert store.waiting() == []


def test_old_buckets_are_dropped_with_all_that_is_stored_for_them(store: SqlStore) -> None:
    a_collection(store)
    a_collection(store, "flavours")
    old, new, elsewhere = a_cell(bucket=HOUR), a_cell(bucket=HOUR + 1), a_cell(2)
    for cell in (old, new, elsewhere):
        store.commit([reports(cell, [cell.collection, cell.bucket % 10 + 10])])
    fold_all(store, keep=True)
    before = store.kept(1)
    store.commit([reports(old, [99]), reports(a_cell(bucket=HOUR - 1), [98])])
    assert store.drop(1, HOUR + 1) == 1
    assert [kept.cell for kept in store.kept(1)] == [new]
    assert [kept.cell for kept in store.kept(2)] == [elsewhere]
    assert store.waiting() == []
    assert store.summaries([old]) == [None]
    assert store.drop(1, HOUR + 1) == 0
    store.commit([reports(old, [50])])
    fold_all(store)
    assert next(kept.version for kept in store.kept(1) if kept.cell == old) > max(kept.version for kept in before)
    assert total(store.summaries([old])[0]) == (50, 1)


def kept_bytes(store: SqlStore) -> list[bytes]:
    """The payloads of all stored reports."""
    return store.database.read(
        lambda connection: list(connection.exec_driver_sql("SELECT payloads FROM reports ORDER BY number").scalars())
    )
