"""The runner of published experiments: resumable, deterministic, honest verdicts; the report; the commands."""

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
from papers.frame.drawing import draw
from papers.frame.experiment import FAILS, HOLDS, IN_PART, NOT_RUN, Claim, Experiment, Grid, Heat, Lines, Scatter, Table
from papers.frame.judging import (
    alike,
    always_lowest,
    between,
    centred,
    exact,
    never_above,
    never_worst,
    only,
    share_of,
    signed,
)
from papers.frame.report import judged, write
from papers.frame.rows import Rows
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
    assert judged(toy(), cache).kind == HOLDS
    planted = toy(name="planted", quick=Grid({"epsilon": [1.0, 2.0], "shift": [5.0]}, repeats=4))
    run([planted], cache)
    assert judged(planted, cache).kind == FAILS


def _rows(*means: tuple[str, float], spread: float = 0.01, repeats: int = 20) -> Rows:
    draw = np.random.default_rng(0)
    return Rows(
        {"cell": 0, "method": name, "seed": seed, "mse": mean + spread * draw.normal()}
        for name, mean in means
        for seed in range(repeats)
    )


def test_a_difference_that_noise_explains_decides_nothing() -> None:
    verdict = never_above("mse", "a", ["b"], by=["cell"])(_rows(("a", 1.001), ("b", 1.0)))
    assert verdict.kind == HOLDS
    assert "too close to tell in 1" in verdict.numbers


def test_a_claim_that_holds_in_most_cells_holds_in_part() -> None:
    cells = [(1.0, 2.0)] * 3 + [(2.0, 1.0)]
    rows = Rows({**row, "cell": cell} for cell, (a, b) in enumerate(cells) for row in _rows(("a", a), ("b", b)))
    assert never_above("mse", "a", ["b"], by=["cell"])(rows).kind == IN_PART


def test_slack_allows_about_the_same() -> None:
    rows = _rows(("a", 1.05), ("b", 1.0))
    assert never_above("mse", "a", ["b"], by=["cell"])(rows).kind == FAILS
    assert never_above("mse", "a", ["b"], by=["cell"], slack=0.1)(rows).kind == HOLDS


def test_the_largest_ratio_is_told_with_its_cell() -> None:
    rows = Rows({**row, "cell": cell} for cell in (3, 4) for row in _rows(("a", cell), ("b", 2.0), spread=0.0))
    verdict = never_above("mse", "a", ["b"], by=["cell"])(rows)
    assert verdict.numbers.endswith("; at most 2 times that of b at cell=4")


def test_being_alike_looks_at_both_sides() -> None:
    judge = alike("mse", "a", "b", by=["cell"], slack=0.1)
    assert judge(_rows(("a", 1.05), ("b", 1.0))).kind == HOLDS
    assert judge(_rows(("a", 1.2), ("b", 1.0))).kind == FAILS
    assert judge(_rows(("a", 0.8), ("b", 1.0))).kind == FAILS


def test_between_looks_at_both_ends() -> None:
    judge = between("mse", "m", ("a", "b"), by=["cell"])
    assert judge(_rows(("a", 1.0), ("m", 1.5), ("b", 2.0))).kind == HOLDS
    assert judge(_rows(("a", 1.0), ("m", 2.5), ("b", 2.0))).kind == FAILS


def test_the_worst_of_several_is_found_and_the_middle_is_not() -> None:
    judge = never_worst("mse", "m", ["a", "b"], by=["cell"])
    assert judge(_rows(("a", 1.0), ("m", 1.5), ("b", 2.0))).kind == HOLDS
    assert judge(_rows(("a", 1.0), ("m", 2.5), ("b", 2.0))).kind == FAILS
    assert "too close to tell in 1" in judge(_rows(("a", 1.0), ("m", 2.0), ("b", 2.0))).numbers


def test_the_lowest_each_time_is_not_the_lowest_on_average() -> None:
    judge = always_lowest("mse", "a", by=["cell"])
    assert judge(_rows(("a", 1.0), ("b", 2.0))).kind == HOLDS
    assert judge(_rows(("a", 2.0), ("b", 1.0))).kind == FAILS
    assert judge(_rows(("a", 1.0), ("b", 1.01))).kind != HOLDS


def test_a_judge_can_be_shown_some_rows_only() -> None:
    rows = Rows([*_rows(("a", 1.0), ("b", 2.0)), *({**row, "cell": 1} for row in _rows(("a", 2.0), ("b", 1.0)))])
    judge = never_above("mse", "a", ["b"], by=["cell"])
    assert judge(rows).kind == IN_PART
    assert only(judge, cell=0)(rows).kind == HOLDS
    assert only(judge, cell=1)(rows).kind == FAILS


def test_a_mean_of_zero_is_told_from_one_that_is_not() -> None:
    judge = centred("mse", "a", by=["cell"])
    assert judge(_rows(("a", 0.0), ("b", 1.0))).kind == HOLDS
    assert judge(_rows(("a", 0.1), ("b", 0.0))).kind == FAILS
    assert judge(Rows([])).kind == NOT_RUN


def test_a_mean_has_a_sign_only_where_it_is_sure() -> None:
    above, below = signed("mse", "a", 1, by=["cell"]), signed("mse", "a", -1, by=["cell"])
    assert [judge(_rows(("a", 0.1))).kind for judge in (above, below)] == [HOLDS, FAILS]
    assert [judge(_rows(("a", 0.0))).kind for judge in (above, below)] == [FAILS, FAILS]
    both = Rows([*_rows(("a", 0.1)), *({**row, "cell": 1} for row in _rows(("a", 0.0)))])
    assert above(both).kind == IN_PART
    assert above(Rows([])).kind == NOT_RUN


def test_few_seeds_decide_less_than_many() -> None:
    source, wrong = np.random.default_rng(3), 0
    judge = never_above("mse", "a", ["b"], by=["cell"])
    for _ in range(400):
        rows = Rows({"cell": 0, "method": m, "seed": s, "mse": source.normal()} for m in "ab" for s in range(3))
        wrong += judge(rows).kind != HOLDS
    # at the normal distribution's 2.3 standard errors, 7% of three seeds would decide; the bound is 1%
    assert wrong <= 12


def test_keys_depend_on_the_paper_s_own_modules_that_a_measure_uses() -> None:
    from papers.frame.cache import _sources
    from papers.rr_mle.comparison import by_users

    names = [Path(path).name for path in _sources(by_users.__module__)]
    assert names == ["columns.py", "comparison.py"]


def test_two_names_of_panels_make_a_grid() -> None:
    rows = Rows({"a": a, "b": b, "x": x, "y": 1.0, "m": "m"} for a in range(3) for b in range(4) for x in range(2))
    figure = draw(Lines("x", "y", "m", panels=("a", "b")), rows)
    assert figure.axes[0].get_gridspec().ncols == 4


def test_bands_are_drawn_between_two_metrics_and_only_of_the_rows_asked_for() -> None:
    rows = Rows({"part": p, "x": x, "y": 1.0, "low": -5.0, "high": 7.0, "m": "m"} for p in "ab" for x in range(3))
    figure = draw(Lines("x", "y", "m", band=("low", "high"), only={"part": "a"}, panels=("part",)), rows)
    assert len(figure.axes) == 1
    low, high = figure.axes[0].get_ylim()
    assert low < -4
    assert high > 6


def test_without_results_nothing_is_judged() -> None:
    empty = Rows([])
    for judge in (
        never_above("mse", "a", ["b"], by=["cell"]),
        never_worst("mse", "a", ["b"], by=["cell"]),
        always_lowest("mse", "a", by=["cell"]),
        exact(lambda _: True, lambda _: ""),
        share_of(lambda _: True, "all"),
    ):
        assert judge(empty).kind == NOT_RUN


def test_shares_hold_in_part_and_fail() -> None:
    rows = Rows({"good": place < 95} for place in range(100))
    assert share_of(lambda row: row["good"], "good")(rows).kind == IN_PART
    assert share_of(lambda row: not row["good"], "bad")(rows).kind == FAILS


def test_the_report_is_one_page_that_needs_nothing_else(cache: Cache, tmp_path: Path) -> None:
    run([toy()], cache)
    pictures = (Lines("epsilon", "mse", "method"), Table(("epsilon", "method"), ("mse",)))
    page = write([judged(toy(picture=pictures, note="a < b"), cache)], tmp_path / "report")
    text = page.read_text()
    assert "better is better" in text
    assert "holds" in text
    assert "a &lt; b" in text
    assert "python -m papers run toy/figure-1" in text
    assert "http" not in text.replace("data:image", "")
    made = {path.name for path in page.parent.iterdir()}
    assert made == {"index.html", "toy-figure-1.png", "toy-figure-1-2.png", "toy-figure-1.csv"}


@pytest.mark.parametrize(
    "picture",
    [
        Lines("epsilon", "mse", "method", panels=("seed",), log_x=True, log_y=True, median=True),
        Heat("epsilon", "seed", "mse", panels=("method",), diverging=True),
        Scatter("epsilon", "mse", "method", log_y=True),
        Table(("epsilon",), ("mse",)),
    ],
)
def test_every_kind_of_picture_is_drawn(picture: Any, cache: Cache, tmp_path: Path) -> None:
    run([toy()], cache)
    page = write([judged(toy(picture=picture), cache)], tmp_path / "report")
    assert (page.parent / "toy-figure-1.png").read_bytes().startswith(b"\x89PNG")


def test_an_experiment_that_was_not_run_says_so(cache: Cache, tmp_path: Path) -> None:
    entry = judged(toy(), cache)
    assert entry.kind == NOT_RUN
    assert "not run" in write([entry], tmp_path / "report").read_text()


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
