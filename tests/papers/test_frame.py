"""The runner of published experiments: resumable and deterministic; the commands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cli.running import run_program
from papers.__main__ import app
from papers.frame import library
from papers.frame.cache import Cache, CacheError, cell_key
from papers.frame.experiment import FAILS, HOLDS, Claim, Experiment, Grid, Lines
from papers.frame.judging import never_above
from papers.frame.record import judged
from papers.frame.runner import missing, results, run
from tests.cli import command as program

CALLS: list[dict[str, Any]] = []


def measure(seed: int, epsilon: float, shift: float = 0.0) -> Sequence[dict[str, Any]]:
    """Two methods: the second has half the error of the first, or more by the shift."""
    CALLS.append({"seed": seed, "epsilon": epsilon})
    noise = np.random.default_rng(seed).normal()
    return [
        {"method": "plain", "mse": 2 / epsilon + 0.01 * noise},
        {"method": "better", "mse": 1 / epsilon + shift + 0.01 * noise * noise},
    ]


def toy(**changes: Any) -> Experiment:
    given: dict[str, Any] = {
        "paper": "toy",
        "name": "figure-1",
        "title": "Errors of two methods",
        "measure": measure,
        "quick": Grid({"epsilon": [1.0, 2.0]}, repeats=4),
        "full": Grid({"epsilon": [1.0, 2.0, 4.0]}, repeats=8),
        "claims": (Claim("better is better", never_above("mse", "better", ["plain"], by=["epsilon"])),),
        "picture": Lines("epsilon", "mse", "method"),
    }
    return Experiment(**{**given, **changes})


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    CALLS.clear()
    return Cache(tmp_path / "results")


def test_a_second_run_measures_nothing(cache: Cache) -> None:
    run([toy()], cache)
    assert len(CALLS) == 8
    run([toy()], cache)
    assert len(CALLS) == 8
    assert missing(toy(), cache) == []


def test_the_full_grid_measures_only_what_the_quick_one_did_not(cache: Cache) -> None:
    run([toy()], cache)
    run([toy()], cache, full=True)
    assert len(CALLS) == 24


def test_results_come_in_the_order_of_the_grid_whatever_the_order_they_were_made_in(cache: Cache) -> None:
    run([toy(quick=Grid({"epsilon": [2.0, 1.0]}, repeats=4))], cache)
    rows = results(toy(), cache)
    assert [row["epsilon"] for row in rows] == [1.0] * 8 + [2.0] * 8
    assert [row["seed"] for row in rows][:4] == [0, 0, 1, 1]


def test_processes_give_the_same_bytes_as_none(cache: Cache, tmp_path: Path) -> None:
    run([toy()], cache)
    other = Cache(tmp_path / "other")
    run([toy()], other, jobs=2)
    assert results(toy(), other).to_csv() == results(toy(), cache).to_csv()


def test_a_run_that_was_killed_loses_one_cell_and_ends_with_the_same_bytes(cache: Cache) -> None:
    run([toy()], cache)
    whole = results(toy(), cache).to_csv()
    path = cache.path(toy())
    text = path.read_bytes()
    path.write_bytes(text[:-25])  # torn in the middle of the last line
    assert len(missing(toy(), cache)) == 1
    CALLS.clear()
    run([toy()], cache)
    assert len(CALLS) == 1
    assert results(toy(), cache).to_csv() == whole


def test_an_interrupt_keeps_what_was_done(cache: Cache) -> None:
    def stop(_: Experiment, done: int, __: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([toy()], cache, progress=stop)
    assert len(missing(toy(), cache)) == 5


def test_keys_depend_on_parameters_and_on_code(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = {"epsilon": 1.0, "seed": 0}
    key = cell_key(toy(), cell)
    assert key != cell_key(toy(), {**cell, "seed": 1})
    assert key != cell_key(toy(name="figure-2"), cell)
    monkeypatch.setattr("papers.frame.cache.code_digest", lambda: "other code")
    assert key != cell_key(toy(), cell)


def test_results_that_cannot_be_written_are_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="results cannot be kept there"):
        Cache(tmp_path / "file" / "results")


def test_a_full_disk_is_one_clear_error_and_keeps_the_cells_before(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def full(_: int) -> None:
        nonlocal written
        written += 1
        if written == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("papers.frame.cache.os.fsync", full)
    with pytest.raises(CacheError, match="No space left on device; earlier cells are kept"):
        run([toy()], cache)
    monkeypatch.undo()
    assert len(missing(toy(), cache)) <= 6


def test_a_wrong_estimator_turns_the_verdict(cache: Cache) -> None:
    run([toy()], cache)
    assert judged(toy(), cache).verdicts[0][1].kind == HOLDS
    planted = toy(name="planted", quick=Grid({"epsilon": [1.0, 2.0], "shift": [5.0]}, repeats=4))
    run([planted], cache)
    assert judged(planted, cache).verdicts[0][1].kind == FAILS


def test_keys_depend_on_the_paper_s_own_modules_that_a_measure_uses() -> None:
    from papers.frame.cache import _sources
    from papers.rr_mle.comparison import by_users

    names = [Path(path).name for path in _sources(by_users.__module__)]
    assert names == ["columns.py", "comparison.py"]


def test_names_are_found_or_refused() -> None:
    everything = library.experiments()
    assert len({each.id for each in everything}) == len(everything)
    with pytest.raises(dn.InvalidArgument, match="name must be one of rr_mle, kbr, mss, dlap"):
        library.experiments(["nothing"])


def test_every_experiment_is_declared_whole() -> None:
    for each in library.experiments():
        assert len(each.quick) > 0, each.id
        assert len(each.full) >= len(each.quick), each.id
        assert each.claims, each.id
        assert each.title, each.id


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("papers.frame.library.experiments", lambda _names=(): [toy()])

    def go(*arguments: str) -> program.Outcome:
        return program.run(*arguments, program=lambda given: run_program(app, "papers", given))

    return go


def test_the_commands_list_run_and_report(command: Any, tmp_path: Path) -> None:
    assert "not run" in command("list").out
    done = command("run", "--jobs", "1")
    assert done.code == 0
    assert "toy/figure-1: better is better: holds" in done.out
    assert "seeds 0 to 3" in done.err
    assert "holds" in command("list").out
    assert command("report").out.strip().endswith("index.html")
    assert json.loads((tmp_path / "build/papers/results/toy-figure-1.jsonl").read_text().splitlines()[0])["rows"]


def test_a_folder_of_data_that_is_none_is_refused(command: Any) -> None:
    done = command("run", "--data", "nowhere")
    assert done.code == 2
    assert "--data must be a folder" in done.err
