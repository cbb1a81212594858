"""Commands hold a bounded number of bytes at a time, however long a report is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.core import batches
from deniable.core.summary import Summary
from deniable.grouping.counting import GroupAccumulator
from deniable.mechanisms.base import client
from deniable.mechanisms.base.accumulator import Accumulator
from tests.cli.command import succeed

USERS = 300
MOST = 2048  # bytes of a batch in these tests: 16 reports of 1,000 bits


@pytest.fixture
def question(tmp_path: Path) -> tuple[Path, Path]:
    spec, values = tmp_path / "spec.json", tmp_path / "values.csv"
    spec.write_text(dn.mechanism("oue", k=1000, epsilon=1.0).spec.to_json())
    values.write_text("\n".join(["value", *(str(user) for user in range(USERS))]))
    return spec, values


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_batches_are_bounded_in_bytes_when_reports_are_made_written_read_and_counted(
    suffix: str, question: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, values = question
    whole, parts = tmp_path / f"whole.{suffix}", tmp_path / f"parts.{suffix}"
    succeed("privatize", values, "--spec", spec, "--seed", 5, "-o", whole)
    made, counted, add = [], [], Accumulator.add

    def payloads(mechanism: Any, indices: Any, keystream: Any, plain: Any = client.payloads) -> Any:
        found = plain(mechanism, indices, keystream)
        made.append(found.nbytes)
        return found

    def adding(self: Accumulator, reports: Any) -> int:
        counted.append(reports.data.nbytes)
        return add(self, reports)

    monkeypatch.setattr(batches, "BYTES", MOST)
    monkeypatch.setattr(client, "payloads", payloads)

    def adding_groups(self: GroupAccumulator, reports: Any, groups: Any, plain: Any = GroupAccumulator.add) -> None:
        counted.append(reports.data.nbytes)
        plain(self, reports, groups)

    monkeypatch.setattr(Accumulator, "add", adding)
    monkeypatch.setattr(GroupAccumulator, "add", adding_groups)
    succeed("privatize", values, "--spec", spec, "--seed", 5, "-o", parts)
    assert max(made) == MOST
    if suffix == "parquet":
        written = pq.ParquetFile(parts)
        sizes = {written.metadata.row_group(group).num_rows for group in range(written.num_row_groups)}
        assert max(sizes) == MOST // 128
        assert written.read() == pq.read_table(whole)
        # a file of one large row group is read in parts as well
        succeed("summarize", whole, "--spec", spec, "-o", tmp_path / "sum")
        assert max(counted) == MOST
    else:
        assert parts.read_bytes() == whole.read_bytes()
    succeed("summarize", parts, "--spec", spec, "-o", tmp_path / "sum", "--allow-repeats")
    assert Summary.from_bytes((tmp_path / "sum").read_bytes()).n == USERS


def test_heavy_hitters_are_batched_by_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, values, reports = tmp_path / "hh.json", tmp_path / "words.csv", tmp_path / "r.parquet"
    succeed("heavy-hitters", "new", "--epsilon", 4, "-m", "orappor", "-o", spec)
    values.write_text("\n".join(["word", *(f"w{user}" for user in range(USERS))]))
    monkeypatch.setattr(batches, "BYTES", MOST)
    succeed("heavy-hitters", "privatize", values, "--spec", spec, "-o", reports)
    row = dn.HeavyHitters.from_json(spec.read_bytes()).levels[0].layout.row_bytes
    written = pq.ParquetFile(reports)
    sizes = {written.metadata.row_group(group).num_rows for group in range(written.num_row_groups)}
    assert max(sizes) == MOST // row < USERS
    succeed("heavy-hitters", "summarize", reports, "--spec", spec, "-o", tmp_path / "s.summary")
    assert dn.HitterSummary.from_bytes((tmp_path / "s.summary").read_bytes()).n == USERS


def test_counting_a_file_makes_no_summary_for_each_batch(
    question: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, values = question
    succeed("privatize", values, "--spec", spec, "-o", tmp_path / "r.parquet")
    checked, made = Summary.__post_init__, []

    def counting(self: Summary) -> None:
        made.append(self.n)
        checked(self)

    monkeypatch.setattr(Summary, "__post_init__", counting)
    monkeypatch.setattr(batches, "BYTES", MOST)
    succeed("summarize", tmp_path / "r.parquet", "--spec", spec, "-o", tmp_path / "s.summary")
    assert made == [USERS, USERS]  # of the file, and of all files


def test_a_report_longer_than_a_buffer_survives_csv(tmp_path: Path) -> None:
    m = dn.mechanism("oue", k=4_000_000, epsilon=1.0)
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    (tmp_path / "values.txt").write_text("1\n2\n")
    given = ("-", "--spec", tmp_path / "spec.json", "-o", tmp_path / "r.csv")
    succeed("privatize", *given, stdin=(tmp_path / "values.txt").read_bytes())
    succeed("summarize", tmp_path / "r.csv", "--spec", tmp_path / "spec.json", "-o", tmp_path / "s.summary")
    summary = Summary.from_bytes((tmp_path / "s.summary").read_bytes())
    assert summary.n == 2
    assert np.isin(summary.counts, (0, 1, 2)).all()
