"""Expressions in polars: the same bytes as in Python, fresh coins, one clear error for each mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import deniable as dn
from deniable.engines.polars import privatized, summarized
from tests.engines.samples import NAMES, counted_of, sample

SECRET = "a secret"


@pytest.mark.parametrize("name", NAMES)
def test_reports_made_in_polars_are_counted_in_polars_as_in_python(name: str) -> None:
    counted = counted_of(name)
    values = ["abba", "cede"] * 500 if name == "heavy hitters" else list(range(50)) * 20
    made = pl.DataFrame({"value": values}).lazy().select(privatized(counted, "value", seed=3)).collect()
    assert made["report"].dtype == made.clear()["report"].dtype
    expected = counted.summarize(counted.privatize(values, seed=3)).to_bytes()
    assert made.select(summarized(counted, simulated=True)).item() == expected


def test_fresh_reports_differ_in_every_row_and_every_time() -> None:
    wide = dn.mechanism("oue", k=500, epsilon=0.5)
    frame = pl.DataFrame({"value": [3] * 1000}).lazy().select(privatized(wide, "value"))
    for engine in ("in-memory", "streaming"):
        both = pl.concat([frame.collect(engine=engine), frame.collect(engine=engine)])
        assert both["report"].cast(pl.List(pl.UInt64)).n_unique() == 2000


def test_no_rows_have_the_empty_summary() -> None:
    given = sample("oue")
    frame = pl.DataFrame(given.table).clear()
    assert frame.select(summarized(given.counted)).item() == given.counted.empty_summary().to_bytes()


def test_a_spec_serves_as_well_as_its_mechanism() -> None:
    given = sample("grr")
    frame = pl.DataFrame(given.table)
    assert frame.select(summarized(given.counted.spec, simulated=True)).item() == given.total


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (lambda m: summarized(m, pl.lit(None, pl.UInt32)), "holds 1 nulls"),
        (lambda m: summarized(m, pl.lit("x")), "must hold whole numbers"),
        (lambda m: summarized(m, pl.lit(0.5)), "must hold whole numbers"),
        (lambda m: summarized(m, pl.lit(70)), "report must lie from 0 to 69"),
        (lambda m: summarized(m, pl.lit(-1)), "must not be negative"),
        (lambda m: privatized(m, "value"), "got a value of type str"),
        (lambda m: privatized(m, pl.col("value").cast(pl.Int64, strict=False)), "no answer"),
        (lambda _: summarized(counted_of("heavy hitters"), pl.lit(1)), "pairs of a level and a report"),
    ],
)
def test_a_mistake_has_one_clear_error_that_quotes_no_value(expression: Any, reason: str) -> None:
    with pytest.raises(dn.DeniableError, match=reason) as raised:
        pl.DataFrame({"value": [SECRET]}).select(expression(counted_of("grr")))
    assert SECRET not in str(raised.value)


def test_one_value_for_all_rows_is_refused_where_its_report_would_be_copied() -> None:
    m, frame = counted_of("grr"), pl.DataFrame({"value": [3] * 1000})
    for literal in (pl.lit(3), pl.lit(3).alias("value"), pl.lit(None, pl.Int64)):
        with pytest.raises(dn.InvalidArgument, match="column must have a value in each row, got 'a literal'"):
            privatized(m, literal)
    assert len(pl.select(privatized(m, pl.lit(frame["value"])))) == 1000
    with pytest.raises(pl.exceptions.PolarsError, match="length 1"):
        frame.with_columns(privatized(m, pl.col("value").first()))


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_rows_of_one_value_have_a_fresh_report_each(engine: Any, tmp_path: Path) -> None:
    wide = dn.mechanism("oue", k=100, epsilon=0.5)
    (tmp_path / "land=3").mkdir()
    pl.DataFrame({"value": [3] * 500}).write_parquet(tmp_path / "land=3" / "r.parquet")
    frame = pl.scan_parquet(tmp_path / "**/*.parquet", hive_partitioning=True).with_columns(pl.lit(3).alias("same"))
    for column in ("value", "land", "same", pl.col("same") + 1):
        made = frame.with_columns(privatized(wide, column)).collect(engine=engine)
        assert made["report"].cast(pl.List(pl.UInt64)).n_unique() == 500


def test_each_group_has_fresh_coins_but_not_with_a_seed() -> None:
    m = counted_of("oue")
    frame = pl.DataFrame({"group": [1] * 50 + [2] * 50, "value": [3] * 100})
    for seed, different in ((None, 100), (1, 50)):
        made = frame.group_by("group").agg(privatized(m, "value", seed=seed)).explode("report")
        assert made["report"].cast(pl.List(pl.UInt64)).n_unique() == different
    made = frame.select(privatized(m, "value", seed=1))
    assert made["report"].cast(pl.List(pl.UInt64)).n_unique() == 100


def test_a_seed_is_checked_before_anything_runs() -> None:
    with pytest.raises(dn.InvalidArgument, match="seed"):
        privatized(counted_of("grr"), "value", seed=-1)
