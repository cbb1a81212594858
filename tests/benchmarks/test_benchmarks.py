"""The benchmark is honest: its rivals are right, its verdicts strict, its records kept. No test depends on time."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import deniable as dn
from benchmarks import clock, history, table
from benchmarks.data import DataMissing, histogram, zipf_counts
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, shown, timed
from benchmarks.history import Record
from benchmarks.peer_process import Peers
from benchmarks.peers import JOBS, NOT_INSTALLED
from benchmarks.published import bayesian_update, maximum_likelihood
from benchmarks.registry import Bench, Row, all_rows, outcomes, without_paths
from deniable.estimation.methods.likelihood import most_likely

BENCH = Bench(Peers(None), Path("nowhere"), {})
LIMITS = {"AES-CTR keystream": 1e-9, "np.bincount": 1e-9, "memory copy": 1e-10}


def outcome_of(measured: Measured, *goals):
    (outcome,) = outcomes([Row("a job", lambda _: measured, goals)], BENCH)
    return outcome


def record_of(*found) -> Record:
    return Record.now(LIMITS, found)


def printed(record: Record) -> str:
    console = Console(width=200, file=io.StringIO(), record=True)
    table.show(record, console)
    return console.export_text()


def test_every_row_has_its_own_name_and_at_least_one_goal():
    rows = all_rows()
    assert len({row.job for row in rows}) == len(rows) > 0
    for row in rows:
        assert row.goals
        assert callable(row.measure)


def test_every_goal_of_every_row_is_not_measured_when_nothing_was():
    for row in all_rows():
        assert [goal.judge(Measured()).met for goal in row.goals] == [None] * len(row.goals)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("k", "n"), [(2, 10), (20, 1), (50, 300), (400, 100_000)])
def test_the_published_loop_agrees_with_ours(k, n, epsilon):
    mechanism = dn.mechanism("grr", k=k, epsilon=epsilon)
    counts = dn.simulate(mechanism, zipf_counts(k, n)).counts
    channel = mechanism.channel
    loop = maximum_likelihood(counts / n, float(channel.p), float(channel.q))
    np.testing.assert_allclose(most_likely(counts, channel), loop, atol=1e-10)


def test_published_updates_approach_the_maximum():
    mechanism = dn.mechanism("grr", k=10, epsilon=2.0)
    counts = dn.simulate(mechanism, zipf_counts(10, 50_000)).counts
    channel = mechanism.channel
    updated = bayesian_update(counts / counts.sum(), float(channel.p), float(channel.q), 5_000)
    np.testing.assert_allclose(updated, most_likely(counts, channel), atol=1e-6)


def test_a_missed_goal_is_reported_as_not_met():
    slow = outcome_of(timed({OURS: 9e-9, "peer": 1e-7}), AtMost(8e-9), Faster(20, ("peer",)))
    assert [verdict.met for verdict in slow.verdicts] == [False, False]
    text = printed(record_of(slow))
    assert text.count("NOT MET") == 2
    assert "0 of 2 goals met, 2 not met, 0 not measured" in text


def test_a_reached_goal_is_reported_as_met():
    fast = outcome_of(timed({OURS: 8e-9, "peer": 1.6e-7}), AtMost(8e-9), Faster(20, ("peer",)))
    assert [verdict.met for verdict in fast.verdicts] == [True, True]
    assert fast.verdicts[1].ratio == pytest.approx(20)


def test_a_figure_that_is_no_number_meets_no_goal():
    broken = outcome_of(Measured({OURS: {TIME: float("nan")}, "peer": {TIME: 1.0}}), AtMost(1.0), Faster(1, ("peer",)))
    assert not any(verdict.met for verdict in broken.verdicts)


def test_the_limit_meets_a_goal_only_where_that_is_agreed():
    measured = timed({OURS: 3.0, "limit": 4.0})
    agreed, strict = AtMost(2.0, beside="limit", or_beside=True), AtMost(2.0, beside="limit")
    assert agreed.judge(measured).met is True
    assert strict.judge(measured).met is False
    assert agreed.judge(timed({OURS: 5.0, "limit": 4.0})).met is False


def test_the_best_peer_is_the_one_compared_with():
    verdict = Faster(2, ("one", "two")).judge(timed({OURS: 1.0, "one": 9.0, "two": 3.0}))
    assert (verdict.against, verdict.theirs, verdict.ratio) == ("two", 3.0, 3.0)


def test_a_peer_that_is_not_installed_is_said_loudly():
    (job, peers), *_ = JOBS.items()
    absent = Peers(Path("no-such-python")).run(job, {}).measured
    assert set(absent.missing.values()) == {NOT_INSTALLED}
    found = outcome_of(absent | timed({OURS: 1e-9}), Faster(2, tuple(peers)))
    assert found.verdicts[0].met is None
    text = printed(record_of(found))
    assert "NOT MEASURED" in text
    for peer in peers:
        assert f"{peer}: {NOT_INSTALLED}" in text


def test_the_peers_process_answers_and_names_what_it_lacks():
    vector = np.array([0.5, 0.7, -0.2])
    run = Peers(Path(sys.executable)).run(
        "simplex projection", {"vector": vector}
    )  # pure-ldp is not in this environment
    assert run.measured.missing["pure-ldp"].startswith(NOT_INSTALLED)


def test_a_row_that_fails_is_reported_and_the_next_one_still_runs():
    def fail(_: Bench) -> Measured:
        raise RuntimeError("cannot read /somewhere/private/file.py")

    rows = [Row("bad", fail, (AtMost(1.0),)), Row("good", lambda _: timed({OURS: 1.0}), (AtMost(1.0),))]
    bad, good = outcomes(rows, BENCH)
    assert (bad.error, bad.verdicts[0].met) == ("RuntimeError: cannot read file.py", None)
    assert good.verdicts[0].met is True
    assert "bad: RuntimeError" in printed(record_of(bad, good))


def test_a_command_that_fails_is_an_error():
    with pytest.raises(clock.CommandFailed, match="ZeroDivisionError"):
        clock.command_medians({"bad": (sys.executable, "-c", "1 / 0")})


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("cannot import 'x' from 'y' (/home/me/src/y.py)", "cannot import 'x' from 'y' (y.py)"),
        ("ns/user is 1/2", "ns/user is 1/2"),
    ],
)
def test_messages_keep_no_path(message, kept):
    assert without_paths(message) == kept


def test_a_record_survives_the_history_file(tmp_path):
    path = tmp_path / "history.jsonl"
    assert history.last(path) is None
    measured = timed({OURS: 2e-9, "peer": 1e-7}) | Measured({OURS: {"gap": 0.0}}, {"other": NOT_INSTALLED})
    first = record_of(outcome_of(measured, AtMost(8e-9), Faster(5, ("peer", "other")), AtMost(1e-12, "gap")))
    second = replace(first, date="2030-01-01T00:00:00+00:00")
    history.append(path, first)
    assert history.last(path) == first
    history.append(path, second)
    assert history.last(path) == second
    assert len(path.read_text().splitlines()) == 2
    assert printed(Record.from_json(first.to_json())) == printed(first)


def test_a_missing_histogram_is_named(tmp_path):
    with pytest.raises(DataMissing, match=r"hist\.csv"):
        histogram(tmp_path, "hist.csv", 10)


def test_a_histogram_is_cut_into_bins_of_equal_width(tmp_path):
    (tmp_path / "hist.csv").write_text("value,count\n0,3\n49,1\n51,2\n100,4\n")
    assert histogram(tmp_path, "hist.csv", 2).tolist() == [4, 6]


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5e-9, "2.5 ns"), (0.02, "20 ms"), (4e-5, "40 µs"), (1.5, "1.5 s"), (0.2, "200 ms")]
)
def test_times_are_shown_with_their_unit(seconds, text):
    assert shown(TIME, seconds) == text
