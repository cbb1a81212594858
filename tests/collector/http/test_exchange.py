"""Summaries leave a collector and arrive in another, once; reports are kept only where that is asked."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sqlalchemy import func, select

import deniable as dn
from deniable.collector.service.exchange import MOST_ROWS
from deniable.collector.store.opening import open_store
from deniable.collector.store.sql import SqlStore
from deniable.collector.store.tables import reports
from deniable.core.summary import Summary
from tests.collector.http.asking import COUNTRIES, PATH, get
from tests.collector.http.running import DAY, M, Running, frame
from tests.damaged import damaged
from tests.running.figures import Record, pace


def test_summaries_leave_and_arrive_once(countries: Any) -> None:
    collector, sent = countries
    exported = collector.ask("GET", f"{PATH}/summaries", None, collector.admin)
    table = dn.SummaryTable.from_arrow(pa.parquet.read_table(io.BytesIO(exported.body)))
    assert table.by == ("bucket", "country")
    assert table[DAY - 24, "fr"] == sent[1, 1]
    collector.make("elsewhere", **COUNTRIES)
    path, name = "/v1/collections/elsewhere/summaries?id=", "ab" * 16
    for new in (True, False):
        taken = collector.ask("POST", path + name, exported.body, collector.admin)
        assert taken.json == {"new": new, "reports": table.n}
    assert get(collector, "estimate", "elsewhere")["values"] == get(collector, "estimate")["values"]
    for wrong in (
        b"no table",
        exported.body[:-20],
        _parquet(dn.SummaryTable(("day",), {(1,): sent[0, 0]}, M.fingerprint)),
    ):
        assert collector.ask("POST", path + "cd" * 16, wrong, collector.admin).kind == "bad-argument"


def test_a_small_file_of_very_many_rows_is_refused_before_they_are_read(
    countries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector, _ = countries
    exported = collector.ask("GET", f"{PATH}/summaries", None, collector.admin).body
    row, file = pa.parquet.read_table(io.BytesIO(exported)).slice(0, 1), io.BytesIO()
    pa.parquet.write_table(row.take(np.zeros(MOST_ROWS + 1, np.int64)), file, compression="zstd")
    assert len(file.getvalue()) < 2**15
    monkeypatch.setattr(pa.parquet, "read_table", lambda *_, **__: pytest.fail("rows were read"))
    refused = collector.ask("POST", f"{PATH}/summaries?id={'ab' * 16}", file.getvalue(), collector.admin)
    assert refused.kind == "bad-argument"
    assert "must have at most 1,048,576 rows, got 1048577" in refused.json["error"]


def _parquet(table: dn.SummaryTable) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(table.to_arrow(), file)
    return file.getvalue()


def import_damaged(collector: Running, count: int, seed: int) -> None:
    """Import damaged tables: none meets a fault, and what is taken is the table as it was."""
    exported = collector.ask("GET", f"{PATH}/summaries", None, collector.admin).body
    table = dn.SummaryTable.from_arrow(pa.parquet.read_table(io.BytesIO(exported)))
    collector.make("elsewhere", **COUNTRIES)
    path, taken = "/v1/collections/elsewhere/summaries", 0
    for number, data in enumerate(damaged(exported, count, seed)):
        answer = collector.ask("POST", f"{path}?id={number:032x}", data, collector.admin)
        if answer.status == 200:
            assert answer.json == {"new": True, "reports": table.n}
            taken += 1
        else:
            assert 400 <= answer.status < 500, answer
    assert 0 < taken < count
    found = collector.ask("GET", path, None, collector.admin).body
    counted = dn.SummaryTable.from_arrow(pa.parquet.read_table(io.BytesIO(found)))
    assert list(counted) == list(table)
    for group, summary in table.items():
        expected = Summary(taken * summary.counts, taken * summary.n, summary.fingerprint)  # type: ignore[union-attr]
        assert counted[group] == expected
    assert collector.faults == []


def test_a_damaged_table_is_refused_or_changes_nothing(countries: Any) -> None:
    import_damaged(countries[0], 600, seed=7)


@pytest.mark.soak
def test_many_damaged_tables_are_refused_or_change_nothing(countries: Any, seed: int, record_property: Record) -> None:
    start = time.monotonic()
    import_damaged(countries[0], 20_000, seed)
    record_property("figure", f"imports of damaged tables: {pace(20_000, start)}, no fault, nothing changed")


def test_summaries_that_no_reports_could_have_are_refused(collector: Running) -> None:
    wrong = Summary(np.array([5, 5, 5]), 10, M.fingerprint)  # three values, more counts than reports
    table = dn.SummaryTable(("bucket",), {(DAY,): wrong}, M.fingerprint)
    answer = collector.ask("POST", f"{PATH}/summaries?id={'00' * 16}", _parquet(table), collector.admin)
    assert answer.kind == "bad-argument"
    assert get_counted(collector) == 0
    within = dn.SummaryTable(("bucket",), {(DAY + 1,): M.summarize(M.privatize(["a"]))}, M.fingerprint)
    assert (
        collector.ask("POST", f"{PATH}/summaries?id={'00' * 16}", _parquet(within), collector.admin).kind
        == "bad-argument"
    )


def test_summaries_that_retention_would_drop_at_once_are_refused_whole(collector: Running) -> None:
    collector.make("brief", retention_days=2)
    one = M.summarize(M.privatize(["a"]))
    for days, status in ((3, 410), (2, 200)):
        buckets = [(DAY,), (DAY - 24 * days,)]
        table = _parquet(dn.SummaryTable(("bucket",), dict.fromkeys(buckets, one), M.fingerprint))
        answer = collector.ask("POST", f"/v1/collections/brief/summaries?id={days:032}", table, collector.admin)
        assert answer.status == status
        if status == 410:
            assert answer.kind == "too-old"
            assert "keeps counts for 2 days, back to 2026-03-28" in answer.json["error"]
            assert "some of 2026-03-27" in answer.json["error"]
        counted = collector.ask("GET", "/v1/collections/brief", None, collector.admin).json["counted"]
        assert counted == (0 if status == 410 else 2)


def get_counted(collector: Running) -> int:
    return int(collector.ask("GET", PATH, None, collector.admin).json["counted"])


@pytest.mark.parametrize("keep", [True, False])
def test_reports_are_kept_after_counting_only_where_asked(tmp_path: Path, keep: bool) -> None:
    store = open_store(tmp_path / "store")
    collector = Running(store)
    collector.make(keep_reports=keep)
    for _ in range(2):
        assert collector.ask("POST", "/v1/reports", frame(collector).to_bytes()).status == 200
        collector.fold()
    assert kept(store) == (2 if keep else 0)
    assert get_counted(collector) == 2
    collector.close()


def kept(store: SqlStore) -> int:
    """How many reports are stored."""
    return store.database.read(lambda connection: connection.scalar(select(func.sum(reports.c.n)))) or 0


def test_a_kept_report_is_deleted_by_its_id_also_after_the_window(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    collector = Running(store)
    collector.make(keep_reports=True)
    sent = [frame(collector) for _ in range(2)]
    for each in sent:
        assert collector.ask("POST", "/v1/reports", each.to_bytes()).status == 200
    collector.fold()
    collector.now[0] += 10 * 86_400
    collector.service.keeper.round()
    collector.service.refresh()
    path = f"/v1/reports/{sent[0].ids.hex()}?bucket={DAY}"
    assert collector.ask("DELETE", path, None, collector.key("write")).json == {"outcome": "counted"}
    assert collector.ask("DELETE", path, None, collector.key("write")).kind == "too-old"
    assert kept(store) == 1
    assert get_counted(collector) == 2
    collector.close()


def test_what_was_kept_is_deleted_once_the_setting_is_off(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    collector = Running(store)
    collector.make()
    for _ in range(2):
        assert collector.ask("PATCH", PATH, {"keep_reports": True}, collector.admin).status == 200
        assert collector.ask("POST", "/v1/reports", frame(collector).to_bytes()).status == 200
        collector.fold()
        assert collector.ask("PATCH", PATH, {"keep_reports": False}, collector.admin).status == 200
        assert kept(store) == 1
        collector.service.keeper.round()
        assert kept(store) == 0
    assert get_counted(collector) == 2
    collector.close()


def test_specs_are_told_as_they_were_added_and_also_once_they_have_expired(collector: Running) -> None:
    added = dn.mechanism("grr", domain=M.domain, epsilon=1.0).spec
    assert collector.ask("POST", f"{PATH}/specs", {"spec": added.to_dict()}, collector.admin).status == 201
    assert collector.ask("PATCH", PATH, {"expired": [M.fingerprint]}, collector.admin).status == 200
    both = [M.spec.to_dict(), added.to_dict()]
    assert get(collector, "specs") == {"specs": both}
    assert get(collector, f"specs?fingerprint={M.fingerprint}") == {"specs": both[:1]}
    assert get(collector, f"specs?fingerprint={'0' * 64}") == {"specs": []}
