"""What must hold on a Spark cluster; each check is given a session and a folder, and raises if it fails.

They run in a process of their own (spark_cluster.py). Functions that go to the workers are found there by this
module's name.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import arrow, spark
from deniable.grouping.table import SummaryTable
from tests.collector.spool.on_spark import a_spool_is_counted_once
from tests.docs.pages import DOCS, blocks
from tests.engines.spark_cluster import CLASSIC, CONNECT, executors

K, USERS = 12, 3_000
SYMBOLS, OTHERS = ("grr", "csr", "clh", "hitters-orr"), ("oue", "cms")  # counted by Spark, and by tasks
DAYS, COUNTRIES = ("mon", "tue", "wed"), 5


def made(name: str) -> Any:
    """A mechanism, or heavy hitters by one that is named after them."""
    if name.startswith("hitters-"):
        return dn.HeavyHitters.new(epsilon=4.0, max_bytes=3, alphabet="abcd", mechanism=name[8:], cohorts=8)
    extra = {"cohorts": 8, "buckets": 16} if name == "cms" else {}
    return dn.mechanism(name, k=K, epsilon=1.0, **extra)


def answers(name: str, users: int = USERS) -> Any:
    """Values of many people: most have the first."""
    numbers = np.minimum(np.random.default_rng(users).geometric(0.4, users) - 1, K - 1)
    return [("abcd"[number % 4]) * (1 + number % 3) for number in numbers] if "hitters" in name else numbers


def table_of(name: str, users: int = USERS) -> Any:
    """Reports with two columns to group by; almost all rows are in one group."""
    rng = np.random.default_rng(1)
    day = np.where(rng.random(users) < 0.9, 0, rng.integers(len(DAYS), size=users))
    reports = made(name).privatize(answers(name, users), seed=2).to_arrow()
    reports = reports.append_column("da.y", pa.array([DAYS[each] for each in day.tolist()]))
    return reports.append_column("count", pa.array(rng.integers(COUNTRIES, size=users) * (day > 0)))


def read(session: Any, table: Any, folder: Path) -> Any:
    """A DataFrame of a table, by way of three Parquet files, as people have it."""
    folder.mkdir(exist_ok=True)
    part = -(-len(table) // 3)
    for number in range(3):
        pq.write_table(table.slice(number * part, part), folder / f"{number}.parquet")
    return session.read.parquet(str(folder))


def same(found: SummaryTable, table: Any, mechanism: Any) -> bool:
    """Whether a table of summaries has the bytes that the other engine gives."""
    expected = arrow.summarize_by(mechanism, table, by=list(found.by))
    return found.to_arrow().equals(expected.to_arrow(), check_metadata=True)


def all_mechanisms_give_the_serial_bytes(
    session: Any, folder: Path, names: tuple[str, ...] = (*SYMBOLS, *OTHERS)
) -> None:
    for name in names:
        mechanism, table = made(name), table_of(name)
        df = read(session, table, folder / name)
        serial = mechanism.summarize(mechanism.privatize(answers(name), seed=2))
        assert spark.summarize(mechanism, df, simulated=True).to_bytes() == serial.to_bytes(), name
        assert same(spark.summarize_by(mechanism, df, by=["da.y", "count"], simulated=True), table, mechanism), name


def a_few_mechanisms_give_the_serial_bytes(session: Any, folder: Path) -> None:
    all_mechanisms_give_the_serial_bytes(session, folder, ("grr", "oue"))


def through(df: Any, work: Any) -> Any:
    """The same rows, by way of some work on every batch."""
    plain = df.toDF("report", "day", "count")
    return plain.mapInArrow(work, plain.schema).toDF(*df.columns)


def noted(batches: Iterator[Any], folder: str, delay: float) -> Iterator[Any]:
    """Pass rows on; leave a file for each attempt at a task that has begun."""
    from pyspark import TaskContext

    task = TaskContext.get()
    for batch in batches:
        Path(folder, f"{task.partitionId()}-{task.taskAttemptId()}").touch()
        time.sleep(delay)
        yield batch


def an_executor_killed_in_mid_job_changes_nothing(session: Any, folder: Path) -> None:
    mechanism, table = made("oue"), table_of("oue")
    df = read(session, table, folder / "reports").repartition(200)
    notes = folder / "notes"
    notes.mkdir()
    df = through(df, partial(noted, folder=str(notes), delay=0.01))
    before, killed = executors(), []

    def kill() -> None:
        while len(list(notes.iterdir())) < 60:
            time.sleep(0.02)
        killed.extend(executors()[:1])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = spark.summarize_by(mechanism, df, by=["da.y", "count"], simulated=True)
    killer.join(60)
    attempts = Counter(note.name.partition("-")[0] for note in notes.iterdir())
    assert len(before) == 2
    assert killed
    assert killed[0] in before
    assert killed[0] not in executors()
    assert len(attempts) == 200
    assert max(attempts.values()) > 1, "no partition was counted again"
    assert same(found, table, mechanism)


def failing_once(batches: Iterator[Any], folder: str) -> Iterator[Any]:
    """Pass all rows on, then fail, at the first attempt at each partition."""
    from pyspark import TaskContext

    yield from batches
    try:
        Path(folder, str(TaskContext.get().partitionId())).touch(exist_ok=False)
    except FileExistsError:
        return
    raise RuntimeError("a planted fault")


def tasks_that_fail_and_are_retried_count_once(session: Any, folder: Path) -> None:
    for name in ("grr", "cms"):
        mechanism, table = made(name), table_of(name)
        df = read(session, table, folder / name)
        notes = folder / f"notes-{name}"
        notes.mkdir()
        df = through(df, partial(failing_once, folder=str(notes)))
        assert same(spark.summarize_by(mechanism, df, by="da.y", simulated=True), table, mechanism)
        assert len(list(notes.iterdir())) > 1


def rows_that_are_no_reports_are_refused_or_counted(session: Any, folder: Path) -> None:
    wrong = {"grr": "report + 100", "oue": "array(cast(4096 AS decimal(20,0)))"}
    for name in wrong:
        mechanism, table = made(name), table_of(name, 400)
        df = read(session, table, folder / name).withColumnRenamed("da.y", "day").coalesce(2)
        rest = table.filter(pc.not_equal(table["count"], 1))
        rest = rest.rename_columns(["report", "day", "count"]).replace_schema_metadata(table.schema.metadata)
        for bad, key, match in (
            ("null", "day", "the DataFrame: column 'report' holds 1 nulls"),
            (wrong[name], "day", "the DataFrame: report must"),
            ("report", "if(count = 1, null, day)", "column 'day' has no value"),
        ):
            rows = df.selectExpr(f"if(count = 1, {bad}, report) AS report", f"{key} AS day")
            with pytest.raises(dn.MalformedReport, match=match):
                spark.summarize_by(mechanism, rows, by="day")
            skipped: Counter[str] = Counter()
            found = spark.summarize_by(mechanism, rows, by="day", skipped=skipped, simulated=True)
            assert list(skipped.values()) == [table["count"].to_pylist().count(1)]
            assert same(found, rest, mechanism)


def columns_of_other_kinds_are_refused_before_any_work(session: Any, folder: Path) -> None:
    del folder
    mechanism, wide = made("grr"), made("oue")
    df = session.sql("SELECT 1.5D AS half, 'x' AS text, 1 AS report, raise_error('it ran') AS trap")
    for call, match in (
        (lambda: spark.summarize_by(mechanism, df, by="half"), "by must name columns of text.*half: double"),
        (lambda: spark.summarize_by(mechanism, df, by="day"), "by must name columns that occur once.*'day'"),
        (lambda: spark.summarize_by(mechanism, df, by="report"), "by must name columns beside those of the reports"),
        (lambda: spark.summarize(wide, df), "must hold lists of 1 numbers, got int32"),
        (lambda: spark.summarize(mechanism, df.selectExpr("text AS report")), "must hold whole numbers, got string"),
        (lambda: spark.summarize(made("hitters-orr"), df), "df must have one column 'level'"),
        (lambda: spark.privatize(df, "gone", mechanism), "column must name a column that occurs once.*'gone'"),
        (lambda: spark.privatize(df, "half", mechanism), "df must have no other column 'report'"),
        (lambda: spark.privatize(df, "report", mechanism, seed=-1), "seed must"),
    ):
        with pytest.raises(dn.DeniableError, match=match):
            call()


def nothing_has_an_empty_summary(session: Any, folder: Path) -> None:
    del folder
    for name, kind in (("grr", "bigint"), ("oue", "array<decimal(20,0)>")):
        mechanism = made(name)
        df = session.sql(f"SELECT 'a' AS day, cast(null AS {kind}) AS report").where("false")
        assert spark.summarize(mechanism, df).to_bytes() == mechanism.empty_summary().to_bytes()
        assert len(spark.summarize_by(mechanism, df, by="day")) == 0


def keys_keep_their_kinds(session: Any, folder: Path) -> None:
    del folder
    df = session.sql(
        "SELECT date'2026-01-31' AS day, timestamp'2026-01-31 12:00:00Z' AS at, true AS yes, 7Y AS small, "
        "collate('Ä', 'UNICODE_CI') AS text, array(cast(1 AS decimal(20,0))) AS report "
        "UNION ALL SELECT date'2026-01-31', timestamp'2026-01-31 12:00:00Z', true, 7Y, "
        "collate('ä', 'UNICODE_CI'), array(cast(2 AS decimal(20,0)))"
    )
    by = ["day", "at", "yes", "small", "text"]
    found = spark.summarize_by(made("oue"), df, by=by)
    assert found.to_arrow().schema.types[:5] == [
        pa.date32(),
        pa.timestamp("us", "UTC"),
        pa.bool_(),
        pa.int64(),
        pa.string(),
    ]
    assert [group[4] for group in found] == ["Ä", "ä"]
    symbols = df.selectExpr(*by, "element_at(report, 1) AS report")
    assert list(spark.summarize_by(made("grr"), symbols, by=by)) == list(found)


def values_of(session: Any, name: str, folder: Path) -> Any:
    """Values of 600 people, in one partition, between two columns to keep."""
    days = [DAYS[each % 3] for each in range(600)]
    people = pa.table({"day": days, "a.b": answers(name, 600), "z": range(600)})
    return read(session, people, folder / "values").coalesce(1)


def values_become_reports(session: Any, folder: Path) -> None:
    for name in ("oue", "she", "hitters-orr"):
        mechanism, written = made(name), str(folder / f"written-{name}")
        values = values_of(session, name, folder)
        spark.privatize(values, "a.b", mechanism).write.parquet(written)
        kept = session.read.parquet(written)
        assert kept.columns == ["day", *(["level"] if "hitters" in name else []), "report", "z"]
        assert sorted(pq.read_table(written)["z"].to_pylist()) == list(range(600))
        found = spark.summarize_by(mechanism, kept, by="day")
        assert found == arrow.summarize_by(mechanism, ds.dataset(written), by="day", unlabelled=True)
        assert [(group, summary.n) for group, summary in found.items()] == [((day,), 200) for day in DAYS]
        assert not found.simulated


def values_become_the_same_reports_with_a_seed(session: Any, folder: Path) -> None:
    mechanism = made("grr")
    values = values_of(session, "grr", folder)
    first, again, other = (
        spark.summarize_by(mechanism, spark.privatize(values, "a.b", mechanism, seed=seed), by="day", simulated=True)
        for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other
    assert first.simulated
    assert len(first.estimate(mechanism)) == len(DAYS)


def a_value_outside_the_domain_fails_the_job_and_is_not_shown(session: Any, folder: Path) -> None:
    from pyspark.errors import PythonException

    del folder
    secret = 271828
    values = session.sql(f"SELECT {secret} AS answer")
    with pytest.raises(PythonException) as raised:
        spark.privatize(values, "answer", made("grr")).collect()
    assert "value at position 0 must" in str(raised.value)
    assert str(secret) not in str(raised.value)


def the_page_about_spark_runs(session: Any, folder: Path) -> None:
    found = [block.text for block in blocks(DOCS / "spark.md") if block.language == "text"]
    assert len(found) == 3
    namespace: dict[str, Any] = {"session": session}
    for text in found:
        exec(text.replace('"reports"', f'"{folder}/reports"'), namespace)


Check = Callable[[Any, Path], None]
CHECKS: dict[str, tuple[Check, ...]] = {
    CLASSIC: (
        all_mechanisms_give_the_serial_bytes,
        an_executor_killed_in_mid_job_changes_nothing,
        tasks_that_fail_and_are_retried_count_once,
        rows_that_are_no_reports_are_refused_or_counted,
        columns_of_other_kinds_are_refused_before_any_work,
        nothing_has_an_empty_summary,
        keys_keep_their_kinds,
        values_become_reports,
        values_become_the_same_reports_with_a_seed,
        the_page_about_spark_runs,
        a_value_outside_the_domain_fails_the_job_and_is_not_shown,
        a_spool_is_counted_once,
    ),
    CONNECT: (
        a_few_mechanisms_give_the_serial_bytes,
        columns_of_other_kinds_are_refused_before_any_work,
        nothing_has_an_empty_summary,
    ),
}
