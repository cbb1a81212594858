"""A table of summaries: counts by group, addition, files, estimates and comparisons."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import jobs
from deniable.grouping import rows
from deniable.grouping.counting import GroupAccumulator
from deniable.grouping.keys import Coded

NAMES = ("grr", "oue", "csr", "she", "cms", "ss", "mss", "orappor")
N = 3000


def drawn(name: str, k: int = 30) -> tuple[Any, dn.Reports, np.ndarray, np.ndarray]:
    m = dn.mechanism(name, k=k, epsilon=2.0)
    random = np.random.default_rng(3)
    reports = m.privatize(random.integers(0, k, N), seed=4)
    return m, reports, random.integers(0, 4, N), np.array(["de", "fr", "us"])[random.integers(0, 3, N)]


@pytest.mark.parametrize("name", NAMES)
def test_each_group_has_the_summary_of_its_own_reports(name: str) -> None:
    m, reports, days, lands = drawn(name)
    table = dn.summarize_by(m, reports, by={"day": days, "land": lands})
    assert list(table) == [(day, land) for day in range(4) for land in ("de", "fr", "us")]
    for (day, land), summary in table.items():
        own = dn.Reports(reports.data[(days == day) & (lands == land)], m.fingerprint, simulated=True)
        assert summary == m.summarize(own)
    assert table.total() == m.summarize(reports)


def test_groups_of_heavy_hitters() -> None:
    protocol = dn.HeavyHitters.new(epsilon=4.0, max_bytes=4)
    words = ["ab", "cd", "ab", "ef"] * 200
    reports = protocol.privatize(words, seed=1)
    days = np.arange(len(words)) % 3
    table = dn.summarize_by(protocol, reports, by={"day": days})
    for day in range(3):
        chosen = dn.HitterReports(
            reports.levels[days == day], dn.Reports(reports.reports.data[days == day], protocol.fingerprint, True)
        )
        assert table[day] == protocol.summarize(chosen)
    assert table.total() == protocol.summarize(reports)
    assert dn.SummaryTable.from_arrow(table.to_arrow()) == table
    with pytest.raises(dn.InvalidArgument, match="find"):
        table.estimate(protocol.levels[0])


def test_tables_add_group_by_group_and_in_any_order() -> None:
    m, reports, days, lands = drawn("grr")
    parts = [
        dn.summarize_by(m, reports[at : at + 1000], by={"day": days[at : at + 1000], "land": lands[at : at + 1000]})
        for at in (0, 1000, 2000)
    ]
    whole = dn.summarize_by(m, reports, by={"day": days, "land": lands})
    assert sum(parts) == parts[2] + (parts[0] + parts[1]) == whole
    assert whole.over("land") == dn.summarize_by(m, reports, by={"land": lands})
    assert whole.over(["land", "day"])[("de", 2)] == whole[(2, "de")]


def test_codes_that_mean_the_same_key_lose_no_reports() -> None:
    m, reports, _, _ = drawn("oue")
    column = pa.DictionaryArray.from_arrays(pa.array(np.arange(N) % 3), pa.array(["a", "a", "b"]))
    table = dn.summarize_by(m, reports.to_arrow().append_column("day", column), "day")
    assert {group: summary.n for group, summary in table.items()} == {("a",): 2000, ("b",): 1000}
    assert table.total() == m.summarize(reports)


def test_a_group_that_is_listed_twice_keeps_all_its_reports() -> None:
    m, reports, _, _ = drawn("oue")
    running = GroupAccumulator(m, ("day",))
    running.add(reports[:3], Coded([("a",), ("a",)], np.array([0, 1, 0]), np.array([2, 1])))
    assert running.table()["a"] == m.summarize(reports[:3])


def test_what_does_not_belong_together_is_not_added() -> None:
    m, reports, days, lands = drawn("grr")
    table = dn.summarize_by(m, reports, by={"day": days})
    other = dn.mechanism("grr", k=30, epsilon=1.0)
    with pytest.raises(dn.FingerprintMismatch):
        table + dn.summarize_by(other, other.privatize([1], seed=1), by={"day": [1]})
    with pytest.raises(dn.InvalidArgument, match="grouped by day"):
        table + dn.summarize_by(m, reports, by={"land": lands})
    with pytest.raises(dn.FingerprintMismatch):
        dn.SummaryTable(("day",), {(1,): other.empty_summary()}, m.fingerprint)
    with pytest.raises(dn.InvalidArgument, match="group must have 1 keys"):
        dn.SummaryTable(("day",), {(1, 2): m.empty_summary()}, m.fingerprint)
    with pytest.raises(dn.InvalidArgument, match="be summaries"):
        dn.SummaryTable(("day",), {1: 5}, m.fingerprint)  # type: ignore[dict-item]
    with pytest.raises(dn.InvalidArgument, match="be one of the table"):
        table["monday"]
    with pytest.raises(dn.InvalidArgument, match="columns among day"):
        table.over("land")


@pytest.mark.parametrize("change", ["magic", "null", "nobytes", "order", "few"])
def test_damaged_tables_are_refused(change: str) -> None:
    m, reports, days, _ = drawn("grr")
    table = dn.summarize_by(m, reports, by={"day": days}).to_arrow()
    metadata = table.schema.metadata
    data = table["summary"].to_pylist()
    wrong = {
        "magic": table.set_column(2, "summary", pa.array([b"x" * 99, *data[1:]])),
        "null": table.set_column(0, "day", pa.array([0, 1, 2, None])),
        "nobytes": table.set_column(2, "summary", pa.array([1, 2, 3, 4])),
        "order": table.select(["summary", "n", "day"]),
        "few": table.select(["n", "summary"]),
    }[change]
    with pytest.raises(dn.MalformedSummary):
        dn.SummaryTable.from_arrow(wrong.replace_schema_metadata(metadata))


def test_a_table_without_groups_survives_arrow_and_has_no_total() -> None:
    m = dn.mechanism("grr", k=3, epsilon=1.0)
    table = dn.summarize_by(m, m.privatize([], seed=1), by={"day": pa.array([], pa.string())})
    assert len(table) == 0
    assert dn.SummaryTable.from_arrow(table.to_arrow()) == table
    with pytest.raises(dn.EmptySummary):
        table.total()
    with pytest.raises(dn.EmptySummary):
        table.estimate(m)


def test_each_group_is_marked_simulated_by_itself() -> None:
    m = dn.mechanism("grr", k=3, epsilon=1.0)
    seeded, real = m.privatize([0, 1], seed=1), m.privatize([0, 1])
    both = dn.summarize_by(m, seeded, by={"day": [1, 1]}) + dn.summarize_by(m, real, by={"day": [2, 2]})
    assert (both[1].simulated, both[2].simulated, both.simulated) == (True, False, True)


def test_too_many_groups_are_refused_and_nothing_is_lost() -> None:
    m = dn.mechanism("grr", k=10, epsilon=1.0)
    running = GroupAccumulator(m, ("day",), most_bytes=35 * rows.SymbolRows.cell_bytes)
    running.add(m.privatize([1, 2, 3], seed=1), Coded.of([pa.array([1, 2, 3])], ["day"]))
    with pytest.raises(dn.InvalidArgument, match="at most 3 groups"):
        running.add(m.privatize([1], seed=1), Coded.of([pa.array([4])], ["day"]))
    assert (running.n, len(running.table())) == (3, 3)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_the_bytes_of_counts_are_those_that_are_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism(name, k=100, epsilon=1.0)
    reports = m.privatize(np.arange(200) % 100, seed=1)
    running = GroupAccumulator(m, ("day",))
    running.add(reports, Coded.of([pa.array(np.arange(200))], ["day"]))
    (level,) = running._levels
    held = sum(each.nbytes for each in vars(level).values() if isinstance(each, np.ndarray)) - level.n.nbytes
    assert held == 200 * 100 * level.cell_bytes
    assert level.cell_bytes == {"grr": 9, "oue": 8}[name]
    # over all threads together: what one may hold is divided among two
    monkeypatch.setattr(jobs, "MOST_BYTES", 200 * 100 * level.cell_bytes)
    table = reports.to_arrow().append_column("day", pa.array(np.arange(200)))
    assert dn.summarize_by(m, table, "day", threads=1).n == 200
    with pytest.raises(dn.InvalidArgument, match=r"at most 100 groups of this spec.*fewer threads"):
        dn.summarize_by(m, table, "day", threads=2)


def test_counts_are_handed_on_in_parts_that_are_the_whole() -> None:
    m = dn.mechanism("oue", k=20, epsilon=1.0)
    reports, days = m.privatize(np.arange(N) % 20, seed=1), np.arange(N) % 7
    running, other = GroupAccumulator(m, ("day",)), GroupAccumulator(m, ("day",))
    running.add(reports, Coded.of([pa.array(days)], ["day"]))
    parts = list(running.cells(at_once=45))
    assert [len(part.groups) for part in parts] == [2, 2, 2, 1]
    for part in reversed(parts):
        other.add_cells(part, simulated=True)
    assert other.table() == running.table()


def test_bytes_of_counts_carry_over() -> None:
    m = dn.mechanism("grr", k=2, epsilon=1.0)
    data = np.zeros(1000, np.uint32)
    data[:300] = 1
    table = dn.summarize_by(m, dn.Reports(data, m.fingerprint), by={"day": np.arange(1000) % 2})
    assert [table[day].counts.tolist() for day in (0, 1)] == [[350, 150], [350, 150]]


def test_the_estimate_is_one_tidy_table() -> None:
    m, reports, days, lands = drawn("csr")
    table = dn.summarize_by(m, reports, by={"day": days, "land": lands})
    found = table.estimate(m, "unbiased")
    tidy = found.to_arrow(0.9)
    assert tidy.column_names == ["day", "land", "n", "label", "frequency", "std_error", "low", "high", "users"]
    assert len(tidy) == 12 * 30
    one = m.estimate(table[(1, "fr")], "unbiased")
    rows_of_one = tidy.filter((pa.compute.field("day") == 1) & (pa.compute.field("land") == "fr"))
    np.testing.assert_array_equal(rows_of_one["frequency"].to_numpy(), one.frequencies)
    np.testing.assert_array_equal(rows_of_one["low"].to_numpy(), one.interval(0.9).low)
    assert len(found.to_pandas()) == len(found.to_polars()) == 360
    assert "12 groups by day, land" in str(found)
    assert "12" in found._repr_html_()
    assert "3,000" in table._repr_html_()


@pytest.mark.parametrize(
    "by", [("label",), ("label", "group_label"), ("group_label", "label"), ("low", "group_low", "group_group_low")]
)
def test_columns_called_as_those_of_the_estimate_are_kept_apart(by: tuple[str, ...]) -> None:
    m = dn.mechanism("grr", k=3, epsilon=1.0)
    keys = {name: [f"{name} 1", f"{name} 2", f"{name} 1"] for name in by}
    tidy = dn.summarize_by(m, m.privatize([0, 1, 2], seed=1), by=keys).estimate(m).to_arrow()
    assert len(tidy.column_names) == len(set(tidy.column_names)) == len(by) + 7
    for place, name in enumerate(by):
        assert set(tidy.column(place).to_pylist()) == {f"{name} 1", f"{name} 2"}
        assert tidy.column_names[place].endswith(name)


def test_groups_with_commas_in_their_keys_are_compared_each_by_itself() -> None:
    m = dn.mechanism("grr", labels=["yes", "no"], epsilon=2.0)
    groups = [("a, b", "c"), ("a", "b, c"), ("'a'", "b")]
    rows = np.arange(3000) % 3
    keys = {name: [groups[row][at] for row in rows] for at, name in enumerate(("first", "second"))}
    found = dn.summarize_by(m, m.privatize(["yes"] * 3000, seed=1), by=keys).estimate(m).alike()
    assert len(set(found.groups)) == 3
    assert "'a, b', c" in found.groups


@pytest.mark.parametrize("other", [[True, False], ["1", "0"], [date(2026, 1, 1), date(2026, 1, 2)]], ids=str)
def test_keys_of_several_kinds_are_never_one_group(other: list[Any], tmp_path: Path) -> None:
    m = dn.mechanism("grr", k=3, epsilon=1.0)
    tables = [m.privatize([0, 1], seed=1).to_arrow().append_column("v", pa.array(keys)) for keys in ([1, 0], other)]
    for place, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{place}.parquet")
    for threads in (1, 2):
        with pytest.raises(dn.InvalidArgument, match="by must name columns with one kind of key, got 'v: "):
            dn.summarize_by(m, tmp_path, "v", threads=threads)
    first, second = (dn.summarize_by(m, table, "v") for table in tables)
    with pytest.raises(dn.InvalidArgument, match="table must have the kinds of keys that the first has, got 'v: "):
        first + second
    with pytest.raises(dn.InvalidArgument, match="groups must have one kind of key in column 'v'"):
        dn.SummaryTable(("v",), {(1,): first[1], (other[1],): second[other[1]]}, m.fingerprint)
    for wrong in (True, 1.0, "1"):
        with pytest.raises(dn.InvalidArgument, match="be one of the table"):
            first[wrong]


def test_groups_are_compared_as_their_estimates_are() -> None:
    m = dn.mechanism("grr", labels=["yes", "no"], epsilon=2.0)
    reports = m.privatize((["yes"] * 3 + ["no"]) * 500 + (["yes"] + ["no"] * 3) * 500, seed=1)
    table = dn.summarize_by(m, reports, by={"day": ["mon"] * 2000 + ["tue"] * 2000})
    found = table.estimate(m)
    assert found.difference("mon", "tue")["yes"].value == pytest.approx(
        (m.estimate(table["mon"]) - m.estimate(table["tue"]))["yes"].value
    )
    test = found.alike(0.01)
    assert (test.differ, test.exact, test.target, test.groups) == (True, True, "population", ("mon", "tue"))
    assert found.alike(target="users").target == "users"


def test_groups_that_are_alike_are_found_to_differ_no_more_often_than_stated() -> None:
    m, found = dn.mechanism("grr", k=4, epsilon=1.0), 0
    runs, rate = 300, 0.2
    random = np.random.default_rng(5)
    for run in range(runs):
        reports = m.privatize(random.choice(4, 400, p=[0.7, 0.1, 0.1, 0.1]), seed=run)
        found += dn.summarize_by(m, reports, by={"day": np.arange(400) % 3}).estimate(m).alike(rate).differ
    # Pr[Binomial(300, .2) > 105] < 1e-9
    assert found <= 105
