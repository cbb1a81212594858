"""What a Spark task computes, without Spark: its input and its output are Arrow batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.engines import spark_tasks
from deniable.engines.columns import as_reports, width_of
from deniable.engines.sources import coded
from deniable.engines.spark_tasks import Count, Privatize, spec_of
from deniable.engines.spark_types import as_column
from deniable.grouping.counting import Cells, GroupAccumulator
from deniable.grouping.table import SummaryTable

K, USERS, BY = 12, 2_000, ("day", "country")
GROUPS = {"day": [f"day {number % 7}" for number in range(USERS)], "country": [n % 5 for n in range(USERS)]}


def batches_of(reports: dn.Reports, rows: int = 300) -> list[Any]:
    """Reports and their groups as Spark hands them to a task."""
    columns = [pa.array(keys) for keys in GROUPS.values()]
    return pa.table([*columns, as_column(reports.data)], ["a", "b", "c"]).to_batches(rows)


def added(mechanism: Any, parts: Iterable[Any]) -> tuple[SummaryTable, Counter[str]]:
    """The table of all partial counts, as Spark would add them, and what was no report."""
    total, bad = GroupAccumulator(mechanism, BY), Counter[str]()
    for part in parts:
        count, reason = part.columns[-2:]
        for why, number in zip(reason.to_pylist(), count.to_pylist(), strict=True):
            bad.update({why: number} if why else {})
        sound = part.filter(reason.is_null()).rename_columns([*BY, "level", "cell", "count", "reason"])
        numbers = [sound.column(name).to_numpy() for name in ("level", "cell", "count")]
        total.add_cells(Cells.of(coded(sound, BY, {}), *numbers), simulated=True)
    return total.table(), bad


@pytest.mark.parametrize("groups", [1, 4, 100])
def test_counts_are_handed_on_when_there_are_too_many_and_are_the_same(
    groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = dn.mechanism("oue", k=K, epsilon=1.0)
    reports = mechanism.privatize(np.arange(USERS) % K, seed=1)
    monkeypatch.setattr(spark_tasks, "MOST_BYTES", 8 * groups * K)
    parts = list(Count(spec_of(mechanism), BY, skipping=False)(iter(batches_of(reports))))
    assert (len(parts) == 1) == (groups == 100)
    assert added(mechanism, parts) == (dn.summarize_by(mechanism, reports, by=GROUPS), Counter())


@pytest.mark.parametrize("skipping", [False, True])
def test_what_is_no_report_comes_back_as_a_row(skipping: bool) -> None:
    mechanism = dn.mechanism("oue", k=K, epsilon=1.0)
    reports = mechanism.privatize(np.arange(USERS) % K, seed=1)
    data = reports.data.copy()
    data[::100] = 1 << K
    parts = Count(spec_of(mechanism), BY, skipping)(iter(batches_of(dn.Reports(data, reports.fingerprint))))
    found, bad = added(mechanism, parts)
    assert len(bad) == 1
    assert bad.total() == (USERS // 100 if skipping else 1)
    assert found.n == (USERS - USERS // 100 if skipping else 0)


def test_a_partition_without_rows_has_no_counts() -> None:
    mechanism = dn.mechanism("oue", k=K, epsilon=1.0)
    assert list(Count(spec_of(mechanism), BY, skipping=False)(iter([]))) == []
    assert list(Privatize(spec_of(mechanism), 0, None)(iter([]))) == []


@pytest.mark.parametrize("name", ["grr", "oue", "cms", "she"])
def test_reports_come_back_from_the_types_of_spark(name: str) -> None:
    mechanism = dn.mechanism(name, k=K, epsilon=1.0)
    reports = mechanism.privatize(np.arange(500) % K, seed=1)
    column = as_reports(as_column(reports.data), width_of(mechanism))
    flat = column.flatten() if reports.data.ndim > 1 else column
    assert np.array_equal(flat.to_numpy().reshape(reports.data.shape), reports.data)


def test_words_on_both_sides_of_the_sign_come_back() -> None:
    words = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    assert as_reports(as_column(words), None).to_pylist() == words.tolist()
    assert [int(word) for word in as_column(words).to_pylist()] == words.tolist()
