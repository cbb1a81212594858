"""Files, folders and streams, on any number of threads: the same bytes as one call, and clear errors."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import arrow, sources

N = 5000
NAMES = ("grr", "oue", "csr", "clh", "cms")


def drawn(name: str) -> tuple[Any, dn.Reports, Any]:
    """A mechanism, reports, and their table with a day and a country beside them."""
    m = dn.mechanism(name, k=40, epsilon=2.0)
    random = np.random.default_rng(1)
    reports = m.privatize(random.integers(0, 40, N), seed=2)
    days = np.array([date(2026, 1, 1 + day) for day in random.integers(0, 3, N)])
    lands = np.array(["de", "fr"])[random.integers(0, 2, N)]
    table = reports.to_arrow().append_column("day", pa.array(days)).append_column("land", pa.array(lands))
    return m, reports, table


@pytest.fixture(scope="module")
def grr() -> tuple[Any, dn.Reports, Any]:
    return drawn("grr")


def partitioned(table: Any, folder: Path) -> None:
    ds.write_dataset(
        table,
        folder,
        format="parquet",
        partitioning=["day", "land"],
        partitioning_flavor="hive",
        max_rows_per_group=500,
    )


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("name", NAMES)
def test_every_source_gives_the_bytes_of_one_call(name: str, threads: int, tmp_path: Path) -> None:
    m, reports, table = drawn(name)
    whole = m.summarize(reports).to_bytes()
    groups = dn.summarize_by(m, table, ["day:date", "land"], threads=1)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=700)
    partitioned(table, tmp_path / "parts")
    halves = [tmp_path / "b.parquet", tmp_path / "c.parquet"]
    for half, part in zip(halves, (table[: N // 3], table[N // 3 :]), strict=True):
        pq.write_table(part, half)
    found = [
        tmp_path / "a.parquet",
        str(tmp_path / "parts"),
        f"{tmp_path}/parts/**/*.parquet",
        halves,
        table,
        table.to_reader(300),
        table.combine_chunks().to_batches()[0],
        ds.dataset(tmp_path / "a.parquet"),
        reports,
    ]
    for source in found:
        assert arrow.summarize(m, source, threads=threads).to_bytes() == whole
    by_group = [*found[:5], table.to_reader(300), ds.dataset(tmp_path / "a.parquet")]
    for source in by_group:
        assert dn.summarize_by(m, source, ["day:date", "land"], threads=threads).to_arrow() == groups.to_arrow()
    assert groups.total().to_bytes() == whole


def test_heavy_hitters_are_counted_from_files_too(tmp_path: Path) -> None:
    protocol = dn.HeavyHitters.new(epsilon=4.0, max_bytes=4)
    reports = protocol.privatize(["ab", "cd", "ab"] * 500, seed=1)
    table = reports.to_arrow().append_column("day", pa.array(np.arange(1500) % 2))
    pq.write_table(table, tmp_path / "r.parquet", row_group_size=400)
    whole = protocol.summarize(reports).to_bytes()
    assert arrow.summarize(protocol, tmp_path / "r.parquet").to_bytes() == whole
    assert dn.summarize_by(protocol, tmp_path / "r.parquet", "day").total().to_bytes() == whole


FOLDERS = [("2026-01-31", "7", "d%2Fe"), ("2026-02-01", "08", "7"), ("2026-02-02", "2.1", "x")]


def in_folders(reports: dn.Reports, home: Path) -> list[Path]:
    """Two reports each in folders with a day, a version and a country."""
    made = []
    for place, (day, version, land) in enumerate(FOLDERS):
        made.append(home / f"day={day}" / f"version={version}" / f"land={land}")
        made[-1].mkdir(parents=True)
        pq.write_table(reports[place : place + 2].to_arrow(), made[-1] / "x.parquet")
    return made


def test_keys_of_folders_are_text_unless_a_type_is_given(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, reports, _ = grr
    folders = in_folders(reports, tmp_path)
    table = dn.summarize_by(m, tmp_path, ["land", "day", "version"])
    assert list(table) == [("7", "2026-02-01", "08"), ("d/e", "2026-01-31", "7"), ("x", "2026-02-02", "2.1")]
    typed = dn.summarize_by(m, folders[:2], ["day:date", "version:int", "land:text"])
    assert list(typed) == [(date(2026, 1, 31), 7, "d/e"), (date(2026, 2, 1), 8, "7")]
    assert typed.by == ("day", "version", "land")


@pytest.mark.parametrize("by", ["day", "version", "day:date", ["land", "version:text"]])
def test_folders_read_apart_add_up_to_those_read_together(
    by: Any, tmp_path: Path, grr: tuple[Any, dn.Reports, Any]
) -> None:
    m, reports, _ = grr
    parts = [dn.summarize_by(m, folder, by) for folder in in_folders(reports, tmp_path)]
    assert sum(parts) == dn.summarize_by(m, tmp_path, by)


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("version:int", "version=2.1/land=x/x.parquet: the key of its folder must be a whole number, got '2.1'"),
        ("land:date", "the key of its folder must be a date such as 2026-01-31, got 'd/e'"),
        ("day:int", "the key of its folder must be a whole number, got '2026-01-31'"),
    ],
)
def test_a_key_that_is_not_of_its_type_is_refused(
    by: str, words: str, tmp_path: Path, grr: tuple[Any, dn.Reports, Any]
) -> None:
    in_folders(grr[1], tmp_path)
    with pytest.raises(dn.InvalidArgument) as raised:
        dn.summarize_by(grr[0], tmp_path, by)
    assert words in str(raised.value)


def test_the_type_of_a_column_must_be_the_one_given(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    pq.write_table(table, tmp_path / "r.parquet")
    for source in (tmp_path, table):
        assert dn.summarize_by(m, source, ["day:date", "land:text"]) == dn.summarize_by(m, source, ["day", "land"])
        with pytest.raises(dn.InvalidArgument, match="by must name columns of the type given, got 'day:int: date32"):
            dn.summarize_by(m, source, "day:int")
    with pytest.raises(dn.InvalidArgument, match="name every column once"):
        dn.summarize_by(m, table, ["day", "day:date"])
    odd = table.append_column("a:b", table["land"])
    assert dn.summarize_by(m, odd, "a:b").by == ("a:b",)


def test_a_folder_without_a_key_is_left_out_and_counted_if_asked(
    tmp_path: Path, grr: tuple[Any, dn.Reports, Any]
) -> None:
    m, reports, _ = grr
    for day, part in (("1", reports[:100]), ("__HIVE_DEFAULT_PARTITION__", reports[100:])):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(part.to_arrow(), tmp_path / f"day={day}" / "r.parquet", row_group_size=1000)
    skipped: Counter[str] = Counter()
    found = dn.summarize_by(m, tmp_path, "day", skipped=skipped)
    assert {group: summary.n for group, summary in found.items()} == {("1",): 100}
    assert skipped == {"the folder has no value of 'day', so its rows are in no group": N - 100}


def test_a_column_goes_before_a_folder_of_the_same_name(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    (tmp_path / "land=xx").mkdir()
    pq.write_table(table, tmp_path / "land=xx" / "r.parquet")
    assert set(dn.summarize_by(m, tmp_path, "land")) == {("de",), ("fr",)}


def test_columns_of_files_and_keys_of_folders_go_together(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    (tmp_path / "version=3").mkdir()
    pq.write_table(table, tmp_path / "version=3" / "r.parquet")
    found = dn.summarize_by(m, tmp_path, ["version", "land"])
    assert set(found) == {("3", "de"), ("3", "fr")}
    assert found.over("land") == dn.summarize_by(m, table, "land")


def test_what_hidden_files_hold_does_not_count(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, reports, table = grr
    folder = tmp_path / "_mine"  # what is given by name is read whatever it is called
    for name in ("r.parquet", "_draft.parquet", ".r.parquet", "_temporary/0/x.parquet", "a/.b/y.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name)
    (folder / "_SUCCESS").touch()
    for source in (folder, f"{folder}/**/*.parquet", f"{folder}/*", f"{tmp_path}/_mine/[r_]*.parquet"):
        assert arrow.summarize(m, source).n == len(reports)
    assert arrow.summarize(m, f"{folder}/_temporary/*/*.parquet").n == len(reports)


def test_folders_and_pipes_with_the_names_of_files_are_no_files(
    tmp_path: Path, grr: tuple[Any, dn.Reports, Any]
) -> None:
    m, reports, table = grr
    (tmp_path / "monday.parquet").mkdir()  # as Spark writes it
    pq.write_table(table, tmp_path / "monday.parquet" / "part-0.parquet")
    os.mkfifo(tmp_path / "pipe.parquet")
    assert arrow.summarize(m, tmp_path).n == len(reports)


def test_a_dataset_keeps_the_mark_of_each_of_its_files(tmp_path: Path) -> None:
    m = dn.mechanism("grr", k=4, epsilon=1.0)
    for day in range(2):
        made = m.privatize([day], seed=1) if day else m.privatize([day])
        pq.write_table(made.to_arrow().append_column("day", pa.array([day])), tmp_path / f"{day}.parquet")
    for source in (tmp_path, ds.dataset(tmp_path)):
        table = dn.summarize_by(m, source, "day")
        assert [table[day].simulated for day in range(2)] == [False, True]


def damaged(table: Any, place: int, number: int) -> Any:
    data = table["report"].to_numpy().copy()
    data[place] = number
    changed = table.set_column(0, table.schema.field("report"), pa.array(data, pa.uint32()))
    return changed.replace_schema_metadata(table.schema.metadata)


def test_a_malformed_row_stops_the_job_with_its_place(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    pq.write_table(damaged(table, 1234, 99), tmp_path / "r.parquet", row_group_size=1000)
    with pytest.raises(dn.MalformedReport) as raised:
        arrow.summarize(m, tmp_path)
    assert str(raised.value) == f"{tmp_path}/r.parquet: row group 1, row 235: report must lie from 0 to 39"
    with pytest.raises(dn.MalformedReport, match=r"^row 1235: report must"):
        arrow.summarize(m, damaged(table, 1234, 99))


def test_malformed_rows_are_left_out_and_counted_by_reason(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, reports, table = grr
    wrong = damaged(damaged(table, 7, 99), 4000, 77)
    pq.write_table(wrong, tmp_path / "r.parquet", row_group_size=1000)
    skipped: Counter[str] = Counter()
    found = arrow.summarize(m, tmp_path, skipped=skipped)
    kept = np.delete(reports.data, [7, 4000])
    assert found == m.summarize(dn.Reports(kept, m.fingerprint, simulated=True))
    assert skipped == {"report must lie from 0 to 39": 2}


def test_rows_without_a_key_or_a_report_can_be_left_out_too(grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    gaps = table["land"].to_pylist()
    gaps[5] = None
    nulls = table["report"].to_pylist()
    nulls[9] = None
    wrong = table.set_column(2, "land", pa.array(gaps)).set_column(0, "report", pa.array(nulls, pa.uint32()))
    wrong = wrong.replace_schema_metadata(table.schema.metadata)
    skipped: Counter[str] = Counter()
    assert dn.summarize_by(m, wrong, "land", skipped=skipped).n == N - 2
    assert sorted(skipped.values()) == [1, 1]
    with pytest.raises(dn.MalformedReport, match="row 6: column 'land' has no value"):
        dn.summarize_by(m, wrong[:8], "land")
    with pytest.raises(dn.MalformedReport, match="row 10: column 'report' holds 1 nulls"):
        arrow.summarize(m, wrong)


def wrong_sources(folder: Path, table: Any) -> Iterator[tuple[Any, type[Exception], str]]:
    def file(name: str, content: bytes | Any) -> Path:
        path = folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(content, path)
        return path

    good = file("good.parquet", table)
    yield file("empty.parquet", b""), dn.MalformedReport, "empty.parquet: this is no Parquet file, or it is damaged"
    yield file("text.parquet", b"report\n1\n"), dn.MalformedReport, "text.parquet: this is no Parquet file"
    cut = good.read_bytes()
    yield file("cut.parquet", cut[: len(cut) // 2]), dn.MalformedReport, "cut.parquet: this is no Parquet file"
    spoilt = bytearray(cut)
    spoilt[100:3000] = bytes(2900)
    yield file("spoilt.parquet", bytes(spoilt)), dn.MalformedReport, "spoilt.parquet: "
    bare = table.replace_schema_metadata(None)
    yield file("bare.parquet", bare), dn.MalformedReport, "bare.parquet: table is not in the layout of reports"
    yield bare, dn.MalformedReport, "unlabelled=True"
    other = dn.mechanism("grr", k=40, epsilon=1.0).privatize([1, 2], seed=1).to_arrow()
    mixed = folder / "mixed"
    mixed.mkdir()
    pq.write_table(table, mixed / "a.parquet")
    pq.write_table(other, mixed / "b.parquet")
    yield mixed, dn.FingerprintMismatch, "b.parquet: a batch of reports belongs to another spec"
    yield ds.dataset(mixed), dn.FingerprintMismatch, "b.parquet: a batch of reports belongs to another spec"
    some = ds.dataset(mixed).filter(ds.field("report") >= 0)
    yield some, dn.FingerprintMismatch, "reports belongs to another spec"
    half = folder / "half"
    half.mkdir()
    pq.write_table(table, half / "a.parquet")
    pq.write_table(bare, half / "b.parquet")
    yield ds.dataset(half), dn.MalformedReport, "b.parquet: the metadata of these reports names no fingerprint"
    yield other, dn.FingerprintMismatch, "a table of reports belongs to another spec"
    (folder / "nothing").mkdir()
    yield folder / "nothing", dn.InvalidArgument, "hold files whose names end in .parquet"
    yield f"{folder}/nothing/*.parquet", dn.InvalidArgument, "source must match a file"
    yield folder / "missing.parquet", dn.MalformedReport, "there is no such file"
    (folder / "lost").mkdir()
    (folder / "lost" / "r.parquet").symlink_to(folder / "missing.parquet")
    yield folder / "lost", dn.MalformedReport, "lost/r.parquet: there is no such file"
    yield f"{folder}/a\0b.parquet", dn.InvalidArgument, "source must be a path, which holds no null character"
    yield [good, good], dn.InvalidArgument, "name every file once"
    yield 5, dn.InvalidArgument, "source must be a path"
    yield [], dn.InvalidArgument, "source must be a path"
    yield table.drop(["report"]), dn.InvalidArgument, "source must have one column 'report'"
    yield (
        file("wide.parquet", dn.mechanism("oue", k=40, epsilon=2.0).privatize([1], seed=1).to_arrow()),
        (dn.FingerprintMismatch),
        "wide.parquet",
    )


def test_a_wrong_source_is_refused_with_one_clear_error(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    for source, kind, words in wrong_sources(tmp_path, table):
        with pytest.raises(kind) as raised:
            arrow.summarize(m, source)
        assert words in str(raised.value), (source, str(raised.value))
        assert "\n" not in str(raised.value)


def test_wrong_groups_are_refused(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, reports, table = grr
    (tmp_path / "day=__HIVE_DEFAULT_PARTITION__").mkdir()
    pq.write_table(reports.to_arrow(), tmp_path / "day=__HIVE_DEFAULT_PARTITION__" / "r.parquet")
    with pytest.raises(dn.MalformedReport, match=r"r\.parquet: the folder has no value of 'day'"):
        dn.summarize_by(m, tmp_path, "day")
    for by in ("nothing", ["day", "nothing"]):
        with pytest.raises(dn.InvalidArgument, match="by must name columns that occur once"):
            dn.summarize_by(m, table, by)
    with pytest.raises(dn.InvalidArgument, match="one key for each of 5000 reports"):
        dn.summarize_by(m, reports, {"day": [1, 2]})
    with pytest.raises(dn.InvalidArgument, match="name columns of the source"):
        dn.summarize_by(m, table, {"day": [1]})
    with pytest.raises(dn.InvalidArgument, match="by must name columns beside those of the reports, got 'report'"):
        dn.summarize_by(m, table, "report")
    with pytest.raises(dn.InvalidArgument, match="by must have one key for each of 5000 reports, got 'd: 5'"):
        dn.summarize_by(m, reports, {"d": 5})
    with pytest.raises(dn.InvalidArgument, match="by must have keys of one kind in each column, got 'd'"):
        dn.summarize_by(m, reports[:2], {"d": ["a", 1]})
    with pytest.raises(dn.InvalidArgument, match="mechanism must be"):
        dn.summarize_by(table, m, "day")  # type: ignore[arg-type]
    with pytest.raises(dn.InvalidArgument, match="threads must"):
        arrow.summarize(m, table, threads=0)


def test_a_file_that_disappears_is_named(
    tmp_path: Path, grr: tuple[Any, dn.Reports, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    m, _, table = grr
    for place in range(4):
        pq.write_table(table, tmp_path / f"{place}.parquet")
    planned = sources.files

    def then_gone(*arguments: Any) -> Any:
        work = planned(*arguments)
        (tmp_path / "2.parquet").unlink()
        return work

    monkeypatch.setattr(sources, "files", then_gone)
    with pytest.raises(dn.MalformedReport, match=r"2\.parquet: there is no such file, or it is gone"):
        arrow.summarize(m, tmp_path)


def test_no_thread_is_left_after_an_error(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    pq.write_table(damaged(table, 0, 99), tmp_path / "r.parquet", row_group_size=50)
    with pytest.raises(dn.MalformedReport):
        arrow.summarize(m, tmp_path, threads=4)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("deniable")]


def test_unlabelled_reports_are_taken_at_their_word(grr: tuple[Any, dn.Reports, Any]) -> None:
    m, reports, table = grr
    bare = table.replace_schema_metadata(None)
    assert arrow.summarize(m, bare, unlabelled=True, simulated=True) == m.summarize(reports)
    assert not arrow.summarize(m, bare, unlabelled=True).simulated
    signed = pa.table({"report": pa.array(reports.data.astype(np.int64))})
    assert arrow.summarize(m, signed, unlabelled=True, simulated=True) == m.summarize(reports)
    with pytest.raises(dn.MalformedReport, match=r"must not be negative$"):
        arrow.summarize(m, pa.table({"report": [3, -1]}), unlabelled=True)
    with pytest.raises(dn.MalformedReport, match="whole numbers, got double"):
        arrow.summarize(m, pa.table({"report": [0.5]}), unlabelled=True)
    with pytest.raises(dn.InvalidArgument, match="simulated must be left out"):
        arrow.summarize(m, table, simulated=True)


def test_lists_of_any_length_and_decimals_become_reports() -> None:
    m = dn.mechanism("oue", k=100, epsilon=1.0)
    reports = m.privatize(np.arange(100), seed=1)
    lists = pa.array(reports.data.tolist(), pa.list_(pa.uint64()))
    assert arrow.summarize(m, pa.table({"report": lists}), unlabelled=True, simulated=True) == m.summarize(reports)
    decimals = lists.cast(pa.list_(pa.decimal128(20, 0)))
    assert arrow.summarize(m, pa.table({"report": decimals}), unlabelled=True, simulated=True) == m.summarize(reports)
    short = pa.array([[1, 2], [3]], pa.list_(pa.uint64()))
    with pytest.raises(dn.MalformedReport, match="row 2: report must have 2 numbers, got 1"):
        arrow.summarize(m, pa.table({"report": short}), unlabelled=True)


def test_progress_is_told_and_ends_at_all_rows(tmp_path: Path, grr: tuple[Any, dn.Reports, Any]) -> None:
    m, _, table = grr
    pq.write_table(table, tmp_path / "r.parquet", row_group_size=500)
    seen: list[tuple[int, int | None]] = []
    arrow.summarize(m, tmp_path, progress=lambda rows, of: seen.append((rows, of)))
    assert seen[-1] == (N, N)


def test_files_are_read_in_parts_however_large_a_row_group_is(
    tmp_path: Path, grr: tuple[Any, dn.Reports, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    m, reports, table = grr
    pq.write_table(table, tmp_path / "r.parquet")
    sizes, read = [], sources.RowGroup.read

    def noticed(self: Any, batch: Any) -> Any:
        sizes.append(len(batch))
        return read(self, batch)

    monkeypatch.setattr(sources.RowGroup, "read", noticed)
    monkeypatch.setattr(sources, "_ROWS", 512)
    assert arrow.summarize(m, tmp_path) == m.summarize(reports)
    assert max(sizes) == 512
    shutil.rmtree(tmp_path)
