"""Functions in SQL: fresh coins in every row, summaries as bytes, one clear error for each mistake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import deniable as dn
from deniable.engines import duckdb as sql
from deniable.engines.results import table_of
from tests.engines.samples import MECHANISMS, counted_of, sample

SECRET = "a secret"
LABELS = ["yes", "no", "perhaps"]


@pytest.fixture
def connection() -> Iterator[Any]:
    with duckdb.connect() as made:
        yield made


@pytest.fixture
def m() -> Any:
    return dn.mechanism("grr", labels=LABELS, epsilon=1.0)


def one(connection: Any, query: str) -> Any:
    return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_made_in_sql_are_counted_in_sql_as_in_python(connection: Any, name: str) -> None:
    m = counted_of(name)
    sql.register(connection, m)
    connection.execute("CREATE TABLE r AS SELECT deniable_privatize(i % 70) AS report FROM range(3000) t(i)")
    reports = connection.execute("SELECT report FROM r").fetchall()
    expected = m.summarize(np.array([report for (report,) in reports], np.uint64))
    assert one(connection, "SELECT deniable_summarize(report) FROM r") == expected.to_bytes()
    assert expected.n == 3000


def test_heavy_hitters_are_pairs_of_a_level_and_a_report(connection: Any) -> None:
    protocol = counted_of("heavy hitters")
    sql.register(connection, protocol)
    connection.execute("CREATE TABLE r AS SELECT unnest(deniable_privatize('abba')) FROM range(500)")
    table = connection.sql("FROM r").to_arrow_table()
    assert table.column_names == ["level", "report"]
    data = one(connection, "SELECT deniable_summarize(level, report) FROM r")
    assert dn.HitterSummary.from_bytes(data).n == 500
    with pytest.raises(duckdb.Error, match="values must not be missing"):
        connection.execute("SELECT deniable_privatize(NULL)").fetchall()


@pytest.mark.parametrize(
    "source",
    ["(SELECT 'q' AS v FROM range(5000))", "stored", "'stored.parquet'", "(SELECT coalesce(v, 'z') AS v FROM stored)"],
)
def test_equal_values_get_coins_of_their_own(connection: Any, source: str, tmp_path: Path) -> None:
    # 500 random bits: no two reports are equal, unless their coins are
    wide = dn.mechanism("oue", k=500, epsilon=0.5)
    sql.register(connection, wide)
    connection.execute(f"SET file_search_path = '{tmp_path}'")
    connection.execute("CREATE TABLE stored AS SELECT 'q' AS v FROM range(5000)")
    connection.execute("CHECKPOINT")
    connection.execute(f"COPY stored TO '{tmp_path}/stored.parquet'")
    assert one(connection, f"SELECT count(DISTINCT deniable_privatize(length(v))) FROM {source}") == 5000
    assert one(connection, f"SELECT count(DISTINCT deniable_privatize(3)) FROM {source}") == 5000


def test_two_calls_in_a_row_and_two_queries_give_different_reports(connection: Any) -> None:
    sql.register(connection, dn.mechanism("oue", k=500, epsilon=0.5))
    assert one(connection, "SELECT count(*) FROM range(100) WHERE deniable_privatize(3) = deniable_privatize(3)") == 0
    query = "SELECT deniable_privatize(3) FROM range(100)"
    assert not set(map(str, connection.execute(query).fetchall())) & set(map(str, connection.execute(query).fetchall()))


def test_seeded_reports_can_be_repeated_and_are_marked_simulated(connection: Any, m: Any) -> None:
    made = []
    connection.execute("SET threads = 1")
    for seed in (7, 7, 8):
        sql.register(connection, m, seed=seed)
        made.append(connection.execute("SELECT deniable_privatize('yes') FROM range(5000)").fetchall())
    assert made[0] == made[1] != made[2]
    data = one(connection, "SELECT deniable_summarize(deniable_privatize('yes')) FROM range(9)")
    assert dn.Summary.from_bytes(data).simulated


def test_a_seed_needs_one_thread_since_the_order_of_rows_counts(connection: Any, m: Any) -> None:
    connection.execute("SET threads = 2")
    with pytest.raises(dn.InvalidArgument, match=r"one thread, .*SET threads = 1"):
        sql.register(connection, m, seed=7)


def test_no_rows_have_the_empty_summary(connection: Any, m: Any) -> None:
    sql.register(connection, m)
    data = one(connection, "SELECT deniable_summarize(i::UINTEGER) FROM range(3) t(i) WHERE false")
    assert data == m.empty_summary().to_bytes()


def test_a_list_may_be_filtered(connection: Any, m: Any) -> None:
    sql.register(connection, m.spec)
    query = "SELECT deniable_summarize_list(list(i::UINTEGER) FILTER (WHERE i > 0)) FROM range(3) t(i)"
    assert one(connection, query) == m.summarize([1, 2]).to_bytes()


def test_narrow_and_wide_unsigned_numbers_are_the_same_reports(connection: Any, m: Any) -> None:
    sql.register(connection, m)
    for kind in ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"):
        query = f"SELECT deniable_summarize(i::{kind}) FROM range(3) t(i)"
        assert one(connection, query) == m.summarize([0, 1, 2]).to_bytes()


def test_a_connection_has_several_specs_and_a_prefix_can_be_taken_again(connection: Any, m: Any) -> None:
    other = dn.mechanism("grr", k=9, epsilon=2.0)
    sql.register(connection, other)
    sql.register(connection, m)
    sql.register(connection, other, prefix="other")
    for prefix, counted in (("deniable", m), ("other", other)):
        data = one(connection, f"SELECT {prefix}_summarize(0::UTINYINT)")
        assert dn.Summary.from_bytes(data).fingerprint == counted.fingerprint
    with pytest.raises(dn.InvalidArgument, match=r"new, got 'other_summarize_list'\. Another connection"):
        sql.register(connection.cursor(), m, prefix="other")


def test_nothing_is_left_in_the_database(m: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "kept.duckdb")
    with duckdb.connect(path) as connection:
        sql.register(connection, m)
    with duckdb.connect(path) as connection, pytest.raises(duckdb.CatalogException):
        connection.execute("SELECT deniable_summarize(1::UTINYINT)")


def test_a_missing_value_has_a_report_where_the_domain_has_a_category_for_it(connection: Any) -> None:
    domain = dn.Domain.categories(LABELS, no_answer=True)
    sql.register(connection, dn.mechanism("grr", domain=domain, epsilon=30.0))
    query = "SELECT DISTINCT deniable_privatize(v) FROM (VALUES (NULL), ('no')) t(v) ORDER BY 1"
    assert connection.execute(query).fetchall() == [(1,), (3,)]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT deniable_privatize(NULL)", 'got None. The domain has no "no answer" category'),
        (f"SELECT deniable_privatize('{SECRET}' || i) FROM range(3) t(i)", "got a value of type str"),
        ("SELECT deniable_privatize(3)", "No function matches"),
        ("SELECT deniable_summarize(NULL::UINTEGER)", "column 'report' holds 1 nulls"),
        ("SELECT deniable_summarize(3::UINTEGER)", "report must lie from 0 to 2"),
        ("SELECT deniable_summarize('yes')", "No function matches"),
        ("SELECT deniable_summarize(0.5)", "No function matches"),
        ("SELECT deniable_summarize((-1)::INTEGER)", "No function matches"),
        ("SELECT deniable_summarize([1]::UINTEGER[])", "No function matches"),
        ("SELECT deniable_sumarize(1::UINTEGER)", 'Did you mean "deniable_summarize"'),
    ],
)
def test_a_mistake_has_one_clear_error_that_quotes_no_value(connection: Any, m: Any, query: str, reason: str) -> None:
    sql.register(connection, m)
    with pytest.raises(duckdb.Error) as raised:
        connection.execute(query).fetchall()
    assert reason in str(raised.value)
    assert SECRET not in str(raised.value)
    assert "position" not in str(raised.value)


def test_an_error_of_duckdb_quotes_what_a_cast_was_given_unless_it_is_tried(connection: Any) -> None:
    sql.register(connection, dn.mechanism("grr", k=3, epsilon=1.0))
    query = f"SELECT deniable_privatize({{}}(age AS BIGINT)) FROM (VALUES ('{SECRET}'), ('2')) t(age)"
    for cast, quoted in (("CAST", True), ("TRY_CAST", False)):
        with pytest.raises(duckdb.Error) as raised:
            connection.execute(query.format(cast)).fetchall()
        assert (SECRET in str(raised.value)) == quoted


def test_lists_of_another_length_are_refused(connection: Any) -> None:
    sql.register(connection, counted_of("oue"))
    with pytest.raises(duckdb.Error, match="must have 2 numbers, got 1"):
        connection.execute("SELECT deniable_summarize([1]::UBIGINT[])").fetchall()


@pytest.mark.parametrize("prefix", ["", "Upper", "a b", "x; DROP TABLE t", "1a", 3])
def test_a_prefix_is_a_plain_name(connection: Any, m: Any, prefix: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match="prefix must be lower-case"):
        sql.register(connection, m, prefix=prefix)


def test_what_register_needs_is_checked_at_once(connection: Any, m: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match="connection must be a DuckDB connection, got 1"):
        sql.register(1, m)
    connection.execute("SET threads = 1")
    for seed in (-1, 0.5, "x"):
        with pytest.raises(dn.InvalidArgument, match="seed must"):
            sql.register(connection, m, seed=seed)
    with pytest.raises(duckdb.Error):
        connection.execute("SELECT deniable_privatize('yes')")


def test_a_result_that_is_no_table_of_summaries_is_refused(connection: Any, m: Any) -> None:
    sql.register(connection, m)
    rows = "FROM (VALUES (1, 0::UINTEGER), (2, 1::UINTEGER)) t(day, report)"
    good = connection.sql(f"SELECT day, count(*) AS n, deniable_summarize(report) AS s {rows} GROUP BY day")
    assert table_of(good, m).n == 2
    for query, reason in (
        (f"SELECT day {rows}", "one column of bytes"),
        (f"SELECT deniable_summarize(report) AS s {rows}", "by must be the name of a column"),
        (f"SELECT day, 5 AS n, deniable_summarize(report) AS s {rows} GROUP BY day", "n must be 1"),
        ("SELECT 1 AS day, NULL::BLOB AS s", "holds 1 nulls"),
        ("SELECT 1 AS day, 'x'::BLOB AS s", "summary"),
    ):
        with pytest.raises(dn.DeniableError, match=reason):
            table_of(connection.sql(query), m)
    with pytest.raises(dn.FingerprintMismatch):
        table_of(good, sample("grr").counted)
    with pytest.raises(dn.InvalidArgument, match="DuckDB relation"):
        table_of([1], m)
