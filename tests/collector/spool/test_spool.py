"""Several collectors write reports to files, some of them several times; what is counted of them is counted once."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.collector.running import opened
from deniable.collector.service import exchange
from deniable.collector.service.service import Service
from deniable.collector.service.settings import Settings
from deniable.collector.spool import counting
from deniable.collector.spool.counting import DamagedFiles, Question, Uncounted, count_files, count_spool
from deniable.collector.spool.layout import Partition, partitions
from deniable.collector.spool.writing import SpoolingStore
from deniable.collector.store.protocol import StorageTrouble
from deniable.collector.store.records import TOO_OLD, Cell, Delivery
from deniable.core.errors import DeniableError, SpecError
from deniable.grouping.table import SummaryTable
from deniable.wire.buckets import Buckets
from deniable.wire.payloads import Payloads
from tests.collector.spool.world import BY, HOURS, NAME, World, files, parts_of

RIPE = HOURS[1] + 24 + 168 + counting.SPARE_HOURS
QUESTIONS = {
    "grr": {"k": 20},
    "oue": {"k": 20},
    "clh": {"k": 20},  # whose reports with ids are classes alone
    "ss": {"k": 20},
}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with opened(tmp_path / "store") as collector:
        yield collector.service


def world_of(service: Service, rng: np.random.Generator, name: str = "grr") -> World:
    return World.of(service, dn.mechanism(name, epsilon=1.0, **QUESTIONS[name]), rng)


def written(world: World, spool: Path, rounds: int = 12) -> None:
    """Three collectors take reports in random order, most of them more than once."""
    stores = [SpoolingStore(world.service.store, spool) for _ in range(3)]
    for _ in range(rounds):
        new = [world.delivery(int(world.rng.integers(1, 40)), bool(world.rng.integers(2))) for _ in range(4)]
        again = [each for each in new if world.rng.random() < 0.5]
        split = [part for each in new if not each.whole and each.n > 1 for part in parts_of(each, 3)]
        for group in (new, again, split):
            if group:
                assert world.rng.choice(stores).commit(group) == [each.n for each in group]


def into(world: World, skip: bool = False) -> counting.Callable[[Partition, bytes, SummaryTable], None]:
    """Add a table to the store, as the collector's import does."""

    def deliver(partition: Partition, name: bytes, table: SummaryTable) -> None:
        file = io.BytesIO()
        pyarrow.parquet.write_table(table.to_arrow(), file)
        desk = world.service.directory.desk(partition.collection)
        exchange.imported(desk, name, file.getvalue(), world.service.store, RIPE)
        if skip:
            raise ConnectionError("the answer was lost")

    return deliver


def counted(world: World) -> SummaryTable:
    desk, store = world.service.directory.desk(NAME), world.service.store
    data = exchange.exported(desk, world.mechanism.fingerprint, store.kept(desk.number), store)
    return SummaryTable.from_arrow(pyarrow.parquet.read_table(io.BytesIO(data)))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_report_is_counted_once_however_often_it_was_written(
    name: str, service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world = world_of(service, rng, name)
    written(world, tmp_path / "spool")
    done = list(count_spool(tmp_path / "spool", RIPE, world.question, into(world)))
    assert counted(world) == world.table()
    assert sum(each.n for each in done) == world.table().n
    assert sum(each.rows for each in done) > 1.3 * world.table().n  # so there was something to leave out
    assert list(count_spool(tmp_path / "spool", RIPE, world.question, into(world))) == []


def test_an_import_whose_answer_is_lost_is_not_made_twice(
    service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            list(count_spool(spool, RIPE, world.question, into(world, skip=True)))
    list(count_spool(spool, RIPE, world.question, into(world)))
    assert counted(world) == world.table()


def test_a_partition_is_not_counted_while_a_collector_may_still_write_to_it(
    service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool)
    assert list(count_spool(spool, RIPE - 25, world.question, into(world))) == []
    first = list(count_spool(spool, RIPE - 24, world.question, into(world)))
    assert [each.partition.hour for each in first] == [HOURS[0]]
    assert not list(spool.rglob(f"hour={HOURS[1]}/*.json"))


@pytest.mark.parametrize("counted_before", [True, False])
def test_files_that_come_too_late_are_told_and_not_left_out_in_silence(
    counted_before: bool, service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool, rounds=3)
    if counted_before:
        list(count_spool(spool, RIPE, world.question, into(world)))
    else:
        with pytest.raises(ConnectionError):
            list(count_spool(spool, RIPE, world.question, into(world, skip=True)))
    folder = next(spool.rglob("sealed.json")).parent
    late = folder / "late.parquet"
    late.write_bytes(files(folder)[0].read_bytes())
    with pytest.raises(Uncounted, match=r"1 files came after it was sealed, such as late\.parquet"):
        list(count_spool(spool, RIPE, world.question, into(world)))


@pytest.mark.parametrize("most", [1, 7, 100, 10**6])
def test_ids_compared_in_slices_give_the_same_counts(
    most: int, service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool, rounds=3)
    tables = []
    for partition in partitions(spool):
        table, _ = count_files(files(partition.folder(spool)), partition, world.question(partition), most_rows=most)
        tables.append(table)
    assert sum(tables) == world.table()


def test_any_other_reader_of_parquet_counts_the_same_once_rows_are_distinct(
    service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    duckdb = pytest.importorskip("duckdb")
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool)
    query = f"""SELECT any_value(report) AS report, any_value(hour)::BIGINT AS bucket, any_value(release) AS release
        FROM read_parquet('{spool}/**/*.parquet', hive_partitioning = true) GROUP BY hour, id, position"""
    table = duckdb.sql(query).arrow()
    table = table.read_all() if hasattr(table, "read_all") else table
    assert dn.summarize_by(world.mechanism, table, by=BY, unlabelled=True) == world.table()


def test_a_bucket_that_is_forgotten_is_refused_as_it_is_by_a_database(
    service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    store = SpoolingStore(service.store, spool)
    delivery = world.delivery(3, whole=True)
    service.store.forget(delivery.cell.collection, delivery.hour + 1)
    assert store.commit([delivery]) == [TOO_OLD]
    assert files(spool) == []


def test_a_spool_that_cannot_be_written_to_is_trouble_and_nothing_is_left_under_its_name(
    service: Service, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    store = SpoolingStore(service.store, spool)

    def full(_number: int) -> None:
        raise OSError(28, "No space left on device")

    delivery = world.delivery(3, whole=True)
    with monkeypatch.context() as broken:
        broken.setattr("os.fsync", full)
        with pytest.raises(StorageTrouble, match="No space left on device"):
            store.commit([delivery])
    assert files(spool) == []
    assert store.commit([delivery]) == [3]  # the same bytes again
    list(count_spool(spool, RIPE, world.question, into(world)))
    assert counted(world) == world.table()


def test_heavy_hitters_are_written_and_counted_beside_other_questions(
    service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    store = SpoolingStore(service.store, spool)
    store.commit([world.delivery(3, whole=False)])
    hitters = dn.HeavyHitters.new(epsilon=2.0, max_bytes=2)
    service.office.add_collection("words", hitters.to_dict(), Settings(minimum=1))
    service.refresh()
    assert store.commit([world.delivery(4, whole=False)]) == [4]
    reports, payloads = hitters.privatize(["ab", "ba", "ab"]), Payloads(hitters, False)
    cell = Cell(service.directory.desk("words").number, hitters.fingerprint, HOURS[0], b"")
    assert store.commit([Delivery(cell, HOURS[0], (bytes(16),), payloads.joined(reports), 3, whole=True)]) == [3]
    (place,) = [each for each in partitions(spool) if each.collection == "words"]
    question = Question(hitters, Buckets.of("day"), (), 168)
    table, rows = count_files(files(place.folder(spool)), place, question)
    assert (rows, table.n) == (3, 3)
    assert table == SummaryTable(("bucket",), {(HOURS[0],): hitters.summarize(reports)}, hitters.fingerprint)


def test_what_cannot_be_counted_is_named_at_the_end_and_keeps_nothing_else_from_it(
    service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool)
    damaged, gone = (spool / f"collection={NAME}" / f"spec={digit * 64}" / f"hour={HOURS[0]}" for digit in "0e")
    for folder in (damaged, gone):
        folder.mkdir(parents=True)
        (folder / "one.parquet").write_bytes(b"no table")

    def question(partition: Partition) -> Question:
        if partition.fingerprint[0] == "e":
            raise SpecError("there is no such spec")
        return world.question(partition)

    for _ in range(2):
        with pytest.raises(Uncounted) as caught:
            list(count_spool(spool, RIPE, question, into(world)))
        first, second = str(caught.value).splitlines()
        assert first.startswith(f"{NAME}, hour {HOURS[0]}: ")
        assert second == f"{NAME}, hour {HOURS[0]}: there is no such spec"
    assert counted(world) == world.table()


def test_a_file_with_any_damage_is_counted_whole_or_named(
    service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool, rounds=2)
    partition = next(partitions(spool))
    file = files(partition.folder(spool))[0]
    whole, named = file.read_bytes(), 0
    question = world.question(partition)
    for _ in range(300):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=4):
            damaged[place] = rng.integers(256)
        file.write_bytes(damaged[: rng.integers(len(whole))] if rng.random() < 0.2 else damaged)
        try:
            count_files([file], partition, question)
        except DeniableError:
            named += 1
    assert named > 100


@pytest.mark.parametrize("wrong", ["missing", "twice", "type", "nulls", "report", "unlike"])
def test_files_that_no_collector_wrote_are_named(
    wrong: str, service: Service, tmp_path: Path, rng: np.random.Generator
) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool, rounds=2)
    partition = next(partitions(spool))
    theirs = files(partition.folder(spool))
    table = pyarrow.parquet.read_table(theirs[0], partitioning=None)
    place, ids = table.column_names.index("id"), table["id"]
    match wrong:
        case "missing":
            table = table.drop_columns(["id"])
        case "twice":
            table = table.append_column("id", ids)
        case "type":
            table = table.set_column(place, "id", ids.cast(pyarrow.binary()))
        case "nulls":
            table = table.set_column(place, "id", pyarrow.nulls(len(table), ids.type))
        case "report":
            table = table.drop_columns(["report"])
        case "unlike":
            table = table.append_column("more", ids)
    pyarrow.parquet.write_table(table, theirs[0])
    with pytest.raises(DamagedFiles, match="column"):
        count_files(theirs, partition, world.question(partition))


def test_a_seal_that_is_damaged_is_named(service: Service, tmp_path: Path, rng: np.random.Generator) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool, rounds=2)
    folder = next(partitions(spool)).folder(spool)
    for text in ("", "[]", "{}", "5", '{"files": 5}', '{"files": [5]}'):
        (folder / "sealed.json").write_text(text)
        with pytest.raises(Uncounted, match=r"sealed\.json is damaged"):
            list(count_spool(spool, RIPE, world.question, into(world)))


def test_nothing_is_asked_about_what_was_counted(service: Service, tmp_path: Path, rng: np.random.Generator) -> None:
    world, spool = world_of(service, rng), tmp_path / "spool"
    written(world, spool, rounds=2)
    list(count_spool(spool, RIPE, world.question, into(world)))

    def question(_: Partition) -> Question:
        raise AssertionError("a question about a partition that is counted")

    assert list(count_spool(spool, RIPE, question, into(world))) == []
