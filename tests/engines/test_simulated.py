"""Files of simulated reports: the same from a seed on any number of threads, and in the distribution promised."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.core import batches
from deniable.engines import arrow, simulated
from deniable.engines.populations import Population
from deniable.engines.simulated import simulate_files
from tests.engines.samples import MECHANISMS, counted_of

USERS = 20_000


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_seed_gives_the_same_files_on_any_number_of_threads(name: str, tmp_path: Path) -> None:
    m = counted_of(name)
    for place, (seed, threads) in enumerate([(1, 1), (1, 3), (2, 1)]):
        simulate_files(m, tmp_path / str(place), USERS, by={"day": 2}, seed=seed, threads=threads, file_rows=3000)
    first, again, other = (contents(tmp_path / str(place)) for place in range(3))
    assert first == again
    assert len(first) == 2 * 4 + 2
    assert all(first[path] != other[path] for path in first)


def test_the_files_are_marked_simulated_and_are_what_the_engines_read(tmp_path: Path) -> None:
    m = counted_of("grr")
    made = simulate_files(m, tmp_path / "r", 10_001, by={"day": 2, "country": 3}, file_rows=1000)
    table = dn.summarize_by(m, tmp_path / "r", by=["day:date", "country:int"])
    assert list(table) == [(date(2026, 1, day), country) for day in (1, 2) for country in range(3)]
    assert {summary.n for summary in table.summaries.values()} == {1666, 1667}
    assert table.n == made.users == 10_001
    assert table.simulated
    assert all(summary.simulated for summary in table.summaries.values())
    assert made.files == 12
    assert made.bytes == sum(path.stat().st_size for path in (tmp_path / "r").rglob("*.parquet"))


def test_the_truth_beside_the_reports_is_that_behind_them(tmp_path: Path) -> None:
    m = dn.mechanism("grr", labels=["a", "b", "c", "d"], epsilon=35.0)  # which hardly ever lies
    made = simulate_files(m, tmp_path / "r", USERS, by={"day": 3}, zipf=1.0)
    truth = pyarrow.csv.read_csv(tmp_path / "r" / "truth.csv")
    assert truth["value"].to_pylist() == ["a", "b", "c", "d"]
    assert truth["users"].to_pylist() == made.truth.tolist() == arrow.summarize(m, tmp_path / "r").counts.tolist()


def test_no_two_pieces_have_the_same_coins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BYTES", 2**12)  # many row groups
    m = dn.mechanism("oue", k=500, epsilon=0.5)
    simulate_files(m, tmp_path / "r", 2000, by={"day": 2}, file_rows=300, zipf=10.0)
    files = sorted((tmp_path / "r").rglob("*.parquet"))
    assert len(files) == 8
    assert pq.ParquetFile(files[0]).num_row_groups > 3
    rows = np.concatenate([dn.Reports.from_arrow(pq.ParquetFile(path).read()).data for path in files])
    assert len(np.unique(rows, axis=0)) == len(rows) == 2000


@pytest.mark.parametrize(("k", "power"), [(10, 0.0), (10, 1.0), (70, 1.3), (5000, 1.0)])
def test_shares_fall_as_a_power_of_the_rank(k: int, power: float) -> None:
    people = Population.zipf(dn.Domain.of(k), power)
    exact = np.arange(1, k + 1) ** -power
    exact /= exact.sum()
    found = np.bincount(people.table, minlength=k) / len(people.table)
    assert np.abs(found - exact).max() <= 1 / len(people.table)
    assert found.sum() == 1


def test_draws_have_the_shares_of_the_table(tmp_path: Path) -> None:
    made = simulate_files(dn.mechanism("grr", k=8, epsilon=1.0), tmp_path / "r", 10**5, zipf=1.0)
    people = Population.zipf(dn.Domain.of(8), 1.0)
    expected = 10**5 * np.bincount(people.table) / len(people.table)
    # chi-square with 7 degrees of freedom: above 56 with a probability of 1e-9
    assert ((made.truth - expected) ** 2 / expected).sum() < 56
    shifted = np.roll(expected, 1)  # a planted fault
    assert ((made.truth - shifted) ** 2 / shifted).sum() > 56


def test_an_open_domain_has_strings(tmp_path: Path) -> None:
    m = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=3.0)
    made = simulate_files(m, tmp_path / "r", USERS, strings=5)
    assert len(made.truth) == 5
    truth = pyarrow.csv.read_csv(tmp_path / "r" / "truth.csv")["value"].to_pylist()
    assert truth == [f"string-{rank}" for rank in range(1, 6)]
    assert json.loads((tmp_path / "r" / "simulation.json").read_text())["simulation"]["strings"] == 5


def test_only_an_earlier_simulation_is_replaced(tmp_path: Path) -> None:
    m, folder = counted_of("grr"), tmp_path / "r"
    simulate_files(m, folder, 500, by={"day": 3})
    with pytest.raises(dn.InvalidArgument, match="earlier simulation: replace it"):
        simulate_files(m, folder, 100)
    (folder / "day=2026-01-01" / "mine.txt").write_text("kept")
    simulate_files(m, folder, 100, overwrite=True)
    assert set(contents(folder)) == {"part-000000.parquet", "simulation.json", "truth.csv", "day=2026-01-01/mine.txt"}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "part-000000.parquet").write_text("of somebody else")
    with pytest.raises(dn.InvalidArgument, match="be empty, or hold an earlier simulation"):
        simulate_files(m, tmp_path / "other", 100, overwrite=True)
    assert set(contents(tmp_path / "other")) == {"part-000000.parquet"}


def test_a_simulation_that_breaks_off_leaves_no_half_file_and_can_be_replaced(tmp_path: Path) -> None:
    def stop(_rows: int, _of: int) -> None:
        raise KeyboardInterrupt

    m, folder = counted_of("grr"), tmp_path / "r"
    with pytest.raises(KeyboardInterrupt):
        simulate_files(m, folder, 500, threads=1, progress=stop)
    assert set(contents(folder)) == {"simulation.json"}
    assert simulate_files(m, folder, 500, overwrite=True).users == 500


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"users": 0}, "users must be a whole number"),
        ({"by": {"n": 3}}, "not be called 'n'"),
        ({"by": {"report": 2}}, "not be called 'report'"),
        ({"by": {"level": 2}}, "not be called 'level'"),
        ({"by": {"a/b": 3}}, "letters, digits and _"),
        ({"by": {"a": 0}}, "by must be"),
        ({"by": {"a": 1000, "b": 1000}}, "at most 100,000 groups"),
        ({"zipf": -1.0}, "zipf must be"),
        ({"zipf": float("nan")}, "zipf must be"),
        ({"strings": 4}, "This domain lists its values"),
        ({"compression": "rar"}, "compression must be one of"),
        ({"seed": -1}, "seed must be"),
        ({"threads": 0}, "threads must be"),
        ({"file_rows": 0}, "file_rows must be"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_is_written(
    options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    settings = {"users": 100, **options}
    with pytest.raises(dn.InvalidArgument, match=reason):
        simulate_files(counted_of("grr"), tmp_path / "r", settings.pop("users"), **settings)
    assert not (tmp_path / "r").exists()


def test_rows_and_columns_of_the_parquet_files_are_those_of_reports(tmp_path: Path) -> None:
    for compression in simulated.COMPRESSIONS:
        m = counted_of("oue")
        simulate_files(m, tmp_path / compression, 900, compression=compression)
        found = pq.ParquetFile(tmp_path / compression / "part-000000.parquet").schema_arrow
        expected = m.privatize([1], seed=1).to_arrow().schema
        assert found.equals(expected)
        assert found.metadata == expected.metadata
    assert contents(tmp_path / "zstd")["truth.csv"] == contents(tmp_path / "none")["truth.csv"]
    assert arrow.summarize(m, tmp_path / "zstd") == arrow.summarize(m, tmp_path / "none")
