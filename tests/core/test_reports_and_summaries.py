"""Batches of reports and the summaries they become: frozen, mergeable, and hard to mix up."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable.core.summary import MAX_COUNT

M = dn.mechanism("grr", k=4, epsilon=1.0)
PRINT = M.fingerprint
cells = st.lists(st.integers(0, 2**40), min_size=4, max_size=4)


def summary(counts: list[int], fingerprint: str = PRINT) -> dn.Summary:
    return dn.Summary(np.array(counts), sum(counts), fingerprint)


@given(cells, cells, cells)
def test_addition_is_commutative_associative_and_has_an_identity(a: list[int], b: list[int], c: list[int]) -> None:
    x, y, z = summary(a), summary(b), summary(c)
    assert x + y == y + x
    assert (x + y) + z == x + (y + z)
    assert x + M.empty_summary() == x
    assert sum([x, y, z]) == x + y + z


@given(cells, st.booleans())
def test_a_summary_survives_its_bytes(counts: list[int], simulated: bool) -> None:
    whole = dn.Summary(np.array(counts), sum(counts), PRINT, simulated)
    assert dn.Summary.from_bytes(whole.to_bytes()) == whole
    assert dn.Summary.from_bytes(memoryview(whole.to_bytes())) == whole


def test_two_halves_summarised_apart_and_added_give_the_bytes_of_the_whole() -> None:
    reports = M.privatize(np.arange(100_001) % 4)
    halves = M.summarize(reports[:40_000]) + M.summarize(reports[40_000:])
    assert halves.to_bytes() == M.summarize(reports).to_bytes()


@given(st.data())
def test_damaged_bytes_are_refused(data: st.DataObject) -> None:
    good = summary([1, 2, 3, 4]).to_bytes()
    place = data.draw(st.integers(0, len(good) - 1))
    flipped = bytearray(good)
    flipped[place] ^= data.draw(st.integers(1, 255))
    for bad in (bytes(flipped), good[:place], good + b"\0", data.draw(st.binary(max_size=200))):
        with pytest.raises((dn.MalformedSummary, dn.UnsupportedVersion)):
            dn.Summary.from_bytes(bad)


def test_a_newer_summary_is_refused_by_name() -> None:
    newer = bytearray(summary([1, 2, 3, 4]).to_bytes())
    newer[5] = 2
    with pytest.raises(dn.UnsupportedVersion, match="version 2"):
        dn.Summary.from_bytes(newer)


def test_counts_near_two_to_the_62_do_not_wrap() -> None:
    large = dn.Summary(np.array([MAX_COUNT - 1, 0, 0, 0]), MAX_COUNT - 1, PRINT)
    assert (large + summary([1, 0, 0, 0])).counts[0] == MAX_COUNT
    with pytest.raises(dn.CountOverflow):
        _ = large + summary([2, 0, 0, 0])
    with pytest.raises(dn.CountOverflow):
        _ = large + large
    estimate = M.estimate(large + summary([0, 1, 0, 0]))
    assert estimate.frequencies[0] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: dn.Summary(np.array([-1, 1]), 0, PRINT),
        lambda: dn.Summary(np.array([0.5, 1]), 1, PRINT),
        lambda: dn.Summary(np.array([[1]]), 1, PRINT),
        lambda: dn.Summary(np.array([1]), -1, PRINT),
        lambda: dn.Summary(np.array([2**63], np.uint64), 1, PRINT),
    ],
)
def test_an_impossible_summary_is_refused(make: object) -> None:
    with pytest.raises(dn.InvalidArgument):
        make()  # type: ignore[operator]


def test_a_summary_whose_counts_do_not_add_up_is_not_estimated() -> None:
    with pytest.raises(dn.MalformedSummary, match="add up to n"):
        M.estimate(dn.Summary(np.array([1, 1, 1, 1]), 5, PRINT))
    with pytest.raises(dn.MalformedSummary, match="4 counts"):
        M.estimate(dn.Summary(np.array([1, 1]), 2, PRINT))
    with pytest.raises(dn.MalformedSummary):
        _ = summary([1, 1, 1, 1]) + dn.Summary(np.array([1, 1]), 2, PRINT)


def test_nothing_can_be_changed_afterwards() -> None:
    reports = M.privatize([0, 1, 2])
    whole = M.summarize(reports)
    estimate = M.estimate(whole)
    for array in (reports.data, whole.counts, estimate.frequencies, estimate.std_error):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_reports_slice_concatenate_and_keep_their_marks() -> None:
    reports = M.privatize([0, 1, 2, 3], seed=3)
    assert len(reports) == 4
    assert reports[:2] + reports[2:] == reports
    assert reports[0] == dn.Report(int(reports.data[0]), PRINT, simulated=True)
    assert dn.Reports.concatenate([M.privatize([0]), reports]).simulated
    with pytest.raises(dn.FingerprintMismatch):
        _ = reports + dn.mechanism("grr", k=5, epsilon=1.0).privatize([0])
    with pytest.raises(dn.MalformedReport):
        dn.Reports.concatenate([])


def test_reports_survive_arrow_parquet_and_pickle(tmp_path: Path) -> None:
    for reports in (M.privatize(np.arange(1000) % 4), M.privatize([1, 2], seed=1), M.privatize([])):
        assert dn.Reports.from_arrow(reports.to_arrow()) == reports
        pq.write_table(reports.to_arrow(), tmp_path / "reports.parquet")
        assert dn.Reports.from_arrow(pq.read_table(tmp_path / "reports.parquet")) == reports
        assert pickle.loads(pickle.dumps(reports)) == reports
    assert pickle.loads(pickle.dumps(M)) == M
    assert pickle.loads(pickle.dumps(M.estimate(summary([1, 2, 3, 4])))).interval().low.shape == (4,)


def test_the_arrow_layout_is_the_stable_one() -> None:
    table = M.privatize([0, 1], seed=1).to_arrow()
    assert table.schema.names == ["report"]
    assert table.schema.field("report").type == pa.uint32()
    assert table.schema.metadata == {
        b"deniable.layout": b"1",
        b"deniable.fingerprint": PRINT.encode(),
        b"deniable.simulated": b"true",
    }


def test_rows_of_several_numbers_are_fixed_size_lists() -> None:
    reports = dn.Reports(np.arange(6, dtype=np.uint32).reshape(3, 2), PRINT)
    assert dn.Reports.from_arrow(reports.to_arrow()) == reports
    assert reports[1].payload == (2, 3)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"report": pa.array([1], pa.uint32())}),
        M.privatize([0]).to_arrow().rename_columns(["answer"]),
        M.privatize([0]).to_arrow().set_column(0, "report", pa.array([None], pa.uint32())),
        M.privatize([0]).to_arrow().set_column(0, "report", pa.array(["0"])),
        M.privatize([0]).to_arrow().replace_schema_metadata({"deniable.layout": "x", "deniable.fingerprint": "y"}),
        M.privatize([0]).to_arrow().replace_schema_metadata({"deniable.layout": "2", "deniable.fingerprint": "y"}),
    ],
)
def test_a_table_in_another_layout_is_refused(table: pa.Table) -> None:
    with pytest.raises((dn.MalformedReport, dn.UnsupportedVersion)):
        dn.Reports.from_arrow(table)


@pytest.mark.parametrize("raw", [[4], [-1], [0.5], ["0"], [[0, 1]], [2**40]], ids=repr)
def test_a_raw_array_that_no_client_could_send_is_refused(raw: list[object]) -> None:
    with pytest.raises(dn.MalformedReport):
        M.summarize(np.array(raw))


def test_a_raw_array_is_counted() -> None:
    assert M.summarize([0, 0, 3]).counts.tolist() == [2, 0, 0, 1]


def test_single_reports_as_a_server_decodes_them_are_counted_and_checked() -> None:
    sent = [M.encode(M.privatize_one(value)) for value in (0, 1, 2, 3)]
    assert M.summarize([M.decode(data) for data in sent]).n == 4
    foreign = dn.mechanism("grr", k=4, epsilon=2.0).privatize_one(0)
    with pytest.raises(dn.FingerprintMismatch):
        M.summarize([M.decode(sent[0]), foreign])
    assert M.summarize([M.privatize([0], seed=1)[0]]).simulated


def test_a_count_of_zero_has_a_standard_error_and_not_a_nan() -> None:
    estimate = M.estimate(summary([3, 0, 0, 0]), "unbiased", target="population")
    assert np.isfinite(estimate.std_error).all()
