"""The same reports through every way there is: equal bytes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask
import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import arrow
from deniable.engines import duckdb as sql
from deniable.engines.polars import summarized
from deniable.engines.results import table_of
from tests.cli.command import succeed
from tests.engines.samples import NAMES, Sample, sample

FILES = 3


@pytest.fixture(params=NAMES)
def given(request: pytest.FixtureRequest) -> Sample:
    return sample(request.param)


@pytest.fixture
def files(given: Sample, tmp_path: Path) -> list[str]:
    """The reports in some files of several row groups each."""
    step = -(-len(given.table) // FILES)
    for number in range(FILES):
        pq.write_table(given.table.slice(number * step, step), tmp_path / f"{number}.parquet", row_group_size=700)
    return [str(tmp_path / f"{number}.parquet") for number in range(FILES)]


def by_arrow(given: Sample, files: list[str]) -> dn.SummaryTable:
    return dn.summarize_by(given.counted, files, by=["day"], threads=2)


def by_arrow_stream(given: Sample, _: list[str]) -> dn.SummaryTable:
    return dn.summarize_by(given.counted, given.table.to_reader(500), by=["day"])


def by_sql(given: Sample, files: list[str]) -> dn.SummaryTable:
    call = (
        "deniable_summarize(report)" if isinstance(given.reports, dn.Reports) else "deniable_summarize(level, report)"
    )
    with duckdb.connect() as connection:
        sql.register(connection, given.counted, simulated=True)
        return table_of(connection.sql(f"SELECT day, {call} FROM read_parquet({files}) GROUP BY day"), given.counted)


def by_relation(given: Sample, files: list[str]) -> dn.SummaryTable:
    with duckdb.connect() as connection:
        rows = connection.sql(f"FROM read_parquet({files})")
        return dn.summarize_by(given.counted, rows, by=["day"], simulated=True)


def by_polars(given: Sample, files: list[str]) -> dn.SummaryTable:
    column = "report" if isinstance(given.reports, dn.Reports) else pl.struct("level", "report")
    days = pl.scan_parquet(files).group_by("day").agg(summarized(given.counted, column, simulated=True))
    return table_of(days, given.counted)


def by_lazy_frame(given: Sample, files: list[str]) -> dn.SummaryTable:
    return dn.summarize_by(given.counted, pl.scan_parquet(files), by=["day"], simulated=True)


def by_dask(given: Sample, files: list[str]) -> dn.SummaryTable:
    count = partial(arrow.summarize_by, given.counted, by=["day"], threads=1)
    total: Any = dask.delayed(sum)([dask.delayed(count)(file) for file in files]).compute()
    return total


def by_command(given: Sample, files: list[str]) -> dn.SummaryTable:
    spec, made = (Path(files[0]).with_name(name) for name in ("spec.json", "made"))
    own = isinstance(given.reports, dn.Reports)
    spec.write_text(given.counted.spec.to_json() if own else given.counted.to_json())
    asked = [*([] if own else ["heavy-hitters"]), "summarize", *files, "--spec", spec, "-o"]
    succeed(*asked, made.with_suffix(".summary"))
    assert made.with_suffix(".summary").read_bytes() == given.total
    succeed(*asked, made.with_suffix(".table.parquet"), "--by", "day")
    return dn.SummaryTable.from_arrow(pq.read_table(made.with_suffix(".table.parquet")))


WAYS = [by_command, by_arrow, by_arrow_stream, by_sql, by_relation, by_polars, by_lazy_frame, by_dask]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_engine_gives_the_bytes_of_the_plain_api(
    given: Sample, files: list[str], way: Callable[[Sample, list[str]], dn.SummaryTable]
) -> None:
    table, expected = way(given, files), given.days
    found = {group: summary.to_bytes() for group, summary in table.items()}
    assert found == {group: summary.to_bytes() for group, summary in expected.items()}
    assert table.total().to_bytes() == given.total


def test_processes_give_the_bytes_of_the_plain_api(tmp_path: Path) -> None:
    jobs = []
    for name in NAMES:
        path = tmp_path / f"{name}.parquet"
        pq.write_table(sample(name).table, path)
        jobs.append((sample(name).counted, str(path)))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        made = list(pool.map(arrow.summarize, *zip(*jobs, strict=True)))
    assert [summary.to_bytes() for summary in made] == [sample(name).total for name in NAMES]


def test_a_report_more_changes_the_bytes() -> None:
    given = sample("grr")
    twice = dn.summarize_by(given.counted, given.table.take([*range(len(given.table)), 0]), by=["day"])
    assert twice != given.days
