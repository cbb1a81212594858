"""The experiments of Kairouz, Bonawitz and Ramage 2016: they measure what they say, and judge it rightly."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.estimate import Estimate
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.planning.tuning import geometric
from papers.frame.cache import Cache
from papers.frame.drawing import table_cells
from papers.frame.experiment import FAILS, HOLDS, NOT_RUN, SLIP, UNDECIDED, Experiment, Grid, Table
from papers.frame.record import judged, pictures
from papers.frame.report import drawn as drawn_picture
from papers.frame.rows import Rows
from papers.frame.runner import run
from papers.kbr import EXPERIMENTS, decoder_figures, hashed, needed, sizes
from papers.kbr.binary import LOSSES, minimax_risk
from papers.kbr.bounds import above, below
from papers.kbr.crossing import PROPOSITION_5
from papers.kbr.decoders import HIGH_PRIVACY, LOW_PRIVACY, best, decoders
from papers.kbr.formulas import absolute_loss, advantage, extra, squared_loss
from papers.kbr.minimax import MINIMAX, SECTION_E_2, asymptotic_bias, risk, shrunk
from papers.kbr.propositions import LOG, approaches, factors, tends_to_one
from papers.kbr.sources import FLAT, K_RAPPOR, K_RR, O_RAPPOR, O_RR, SKEWED, drawn

BY_NAME = {each.name: each for each in EXPERIMENTS}
SMALL: dict[str, dict[str, Any]] = {
    "proposition-1": {"k": 4, "epsilon": 1.0, "n": 100, "draws": 2},
    "theorem-2": {"epsilon": 1.0, "n": 2, "loss": "squared"},
    "proposition-3": {"name": K_RR, "source": "geometric", "k": 4, "epsilon": 1.0, "n": 100, "draws": 3},
    "proposition-4": {"name": K_RAPPOR, "source": "geometric", "k": 4, "epsilon": 1.0, "n": 100, "draws": 3},
    "section-4.3": {"k": 16},
    "proposition-5": {"first": 2, "last": 12},
    "section-e.2": {"k": 4, "n": 100, "draws": 10},
    "section-g": {"size": 32, "design": "2x4"},
    **{
        f"figure-{number}": {"source": "geometric", "n": 100, "k": 8, "epsilon": 1.0, "draws": 2}
        for number in (1, 2, 5, 6)
    },
    "figure-4": {"size": 64},
    **{
        f"figure-{number}": {"size": 16, "n": 10_000, "epsilon": 2.0, "alphabet": alphabet, "sizes": "tuned"}
        for number, alphabet in ((3, "open"), (7, "open"), (8, "closed"), (13, "open"))
    },
    **{
        f"figure-{number}": {
            "size": 16,
            "n": 10**5,
            "alphabet": alphabet,
            "targets": [0.2],
            "epsilons": [0.1, 8.0],
        }
        for number, alphabet in ((9, "open"), (10, "closed"), (14, "open"))
    },
    **{
        f"figure-{number}": {
            "size": 16,
            "n": 10**4,
            "alphabet": alphabet,
            "sizes": "tuned",
            "epsilon": 2.0,
            "fixed": {"k": [4, 8], "C": [1, 16], "h": [1, 2]},
        }
        for number, alphabet in ((11, "open"), (12, "closed"), (15, "open"), (16, "open"))
    },
}


def test_every_figure_and_statement_has_an_entry() -> None:
    assert {f"figure-{number}" for number in range(1, 17)} <= set(BY_NAME)
    assert {"theorem-2", *(f"proposition-{number}" for number in (1, 3, 4, 5)), "section-e.2"} <= set(BY_NAME)
    assert set(SMALL) == set(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_measure_gives_finite_numbers_and_the_same_ones_again(name: str) -> None:
    experiment = BY_NAME[name]
    assert set(SMALL[name]) == set(experiment.quick.parameters) == set(experiment.full.parameters)
    rows = [dict(row) for row in experiment.measure(seed=1, **SMALL[name])]
    assert rows
    for row in rows:
        numbers = [value for value in row.values() if isinstance(value, (int, float))]
        assert numbers
        assert np.isfinite(numbers).all()
    assert rows == [dict(row) for row in experiment.measure(seed=1, **SMALL[name])]


@pytest.mark.parametrize("name", ["figure-1", "figure-4", "figure-11", "section-e.2", "section-g", "proposition-5"])
def test_pictures_can_be_drawn_from_what_is_measured(name: str) -> None:
    experiment, cell = BY_NAME[name], {"seed": 1, **SMALL[name]}
    rows = Rows({**cell, **row} for row in experiment.measure(**cell))
    for picture in pictures(experiment):
        shown = (
            table_cells(picture, rows)[1]
            if isinstance(picture, Table)
            else drawn_picture(picture, rows, experiment.title)
        )
        assert shown


@pytest.mark.parametrize("name", BY_NAME)
def test_without_results_every_claim_is_undecided(name: str, tmp_path: Path) -> None:
    found = judged(BY_NAME[name], Cache(tmp_path))
    assert {verdict.kind for _, verdict in found.verdicts} == {NOT_RUN}


def _verdicts(experiment: Experiment, grid: Grid, folder: Path) -> dict[str, str]:
    small = Experiment(
        experiment.paper,
        experiment.name,
        experiment.title,
        experiment.measure,
        quick=grid,
        full=grid,
        claims=experiment.claims,
        picture=experiment.picture,
    )
    cache = Cache(folder)
    run([small], cache)
    return {claim.text: verdict.kind for claim, verdict in judged(small, cache).verdicts}


def _planted(monkeypatch: pytest.MonkeyPatch, method: str, wrong: Any) -> None:
    """Make one method of all mechanisms give wrong frequencies."""
    right = Mechanism.estimate

    def estimate(self: Any, summary: Any, asked: str | None = None, **others: Any) -> Any:
        found = right(self, summary, asked, **others)
        return wrong(found) if asked == method else found

    monkeypatch.setattr(Mechanism, "estimate", estimate)


class _Moved:
    """An estimate whose frequencies are half uniform."""

    def __init__(self, found: Estimate) -> None:
        self.frequencies = (found.frequencies + 1 / len(found.frequencies)) / 2


def test_a_wrong_projection_turns_the_verdict_on_decoders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    grid = Grid({"source": ["geometric"], "n": [30_000], "k": [64], "epsilon": [3.0], "draws": [5]}, repeats=5)
    text = "projected is the best decoder of k-RR on the geometric distribution"
    assert _verdicts(BY_NAME["figure-1"], grid, tmp_path / "right")[text] == HOLDS
    _planted(monkeypatch, "projected", _Moved)
    assert _verdicts(BY_NAME["figure-1"], grid, tmp_path / "wrong")[text] == FAILS


def test_a_wrong_unbiased_estimate_turns_the_verdicts_on_its_losses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parameters: dict[str, Any] = {
        "name": [K_RR],
        "source": ["zipf 2"],
        "k": [16],
        "epsilon": [3.0],
        "n": [10_000],
        "draws": [50],
    }
    grid = Grid(parameters, repeats=8)
    texts = (
        "the l2 squared loss is that of the formula, for every n",
        "for many users the l1 loss is that of the formula",
    )
    right = _verdicts(BY_NAME["proposition-3"], grid, tmp_path / "right")
    assert [right[text] for text in texts] == [HOLDS, HOLDS]
    _planted(monkeypatch, "unbiased", _Moved)
    wrong = _verdicts(BY_NAME["proposition-3"], grid, tmp_path / "wrong")
    assert [wrong[text] for text in texts] == [FAILS, FAILS]


def test_a_wrong_decoder_of_hashes_turns_the_verdict_of_figure_3(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    right = dn.HashedResponse.estimate
    parameters: dict[str, Any] = {
        "alphabet": ["open", "closed"],
        "size": [64],
        "n": [10**6],
        "sizes": ["tuned"],
        "epsilon": [4.0],
    }
    grid = Grid(parameters, repeats=4)
    texts = (
        "open: O-RR meets or beats O-RAPPOR at every epsilon",
        "closed: O-RR meets or beats all others at every epsilon",
    )
    found = _verdicts(BY_NAME["figure-3"], grid, tmp_path / "right")
    assert [found[text] for text in texts] == [HOLDS, UNDECIDED]
    monkeypatch.setattr(dn.HashedResponse, "estimate", lambda *given, **named: _Moved(right(*given, **named)))
    found = _verdicts(BY_NAME["figure-3"], grid, tmp_path / "wrong")
    assert [found[text] for text in texts] == [FAILS, FAILS]


@pytest.mark.parametrize("source", [*SKEWED, FLAT])
def test_sources_are_distributions(source: str) -> None:
    p = drawn(source, 50, np.random.default_rng(0))
    assert p.shape == (50,)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)


def test_the_binomial_source_is_the_binomial_distribution() -> None:
    p = drawn("binomial 0.3", 4, np.random.default_rng(0))
    assert p == pytest.approx([0.343, 0.441, 0.189, 0.027])


def test_formulas_agree_with_the_variances_of_the_mechanisms() -> None:
    p, n, epsilon = drawn("geometric", 12, np.random.default_rng(0)), 1000, 1.5
    for name, own in ((K_RR, "grr"), (K_RAPPOR, "sue")):
        server = dn.mechanism(own, k=12, epsilon=epsilon)
        total = sum(server.variance(float(f), n, "population") for f in p)
        assert squared_loss(name, p, epsilon, n) == pytest.approx(total, rel=1e-7)
        stds = sum(math.sqrt(2 / math.pi * server.variance(float(f), n, "population")) for f in p)
        assert absolute_loss(name, p, epsilon, n) == pytest.approx(stds, rel=1e-7)


def test_the_function_of_proposition_5_is_the_ratio_of_costs() -> None:
    for k in (2, 7, 100):
        ratio = extra(K_RAPPOR, k, 1.3) / extra(K_RR, k, 1.3)
        assert advantage(1.3, k) == pytest.approx(ratio)


def test_the_slips_of_proposition_5_are_told() -> None:
    rows = Rows({"seed": 0, **row} for row in PROPOSITION_5.measure(seed=0, first=2, last=300))
    kinds = [verdict.kind for _, verdict in PROPOSITION_5.judged(rows)]
    assert kinds == [HOLDS, HOLDS, HOLDS, SLIP, SLIP]
    assert "2.1593" in PROPOSITION_5.judged(rows)[-1][1].numbers


def test_the_region_is_told_by_k_and_epsilon() -> None:
    settings = {"source": "geometric", "n": 50, "k": 4, "draws": 1}
    assert best(0, epsilon=2.0, **settings)[0]["region"] == LOW_PRIVACY  # type: ignore[arg-type]
    assert best(0, epsilon=math.log(4), **settings)[0]["region"] == HIGH_PRIVACY  # type: ignore[arg-type]


def test_the_gain_is_that_over_the_next_best() -> None:
    rows = decoders(0, "geometric", 1000, 16, 1.0, 3)
    own = {row["method"]: row for row in rows if row["mechanism"] == K_RR}
    others = min(own[method]["l1"] for method in ("mle", "normalized"))
    assert own["projected"]["gain l1"] == pytest.approx(own["projected"]["l1"] - others)


def _few(name: str, *_: Any) -> list[tuple[int, int, int]]:
    return [(cohorts, 4, hashes) for cohorts in (16, 64) for hashes in ((1,) if name == O_RR else (1, 2))]


def test_a_search_finds_sizes_about_as_good_as_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashed, "grid", _few)
    searched = hashed.best(O_RR, "closed", 16, 1.0, 10**5, "searched")
    tuned = hashed.best(O_RR, "closed", 16, 1.0, 10**5, "tuned")
    samples = [hashed.sample(16, 10**5, np.random.default_rng(seed)) for seed in range(20)]
    lost = [np.mean([hashed.loss(each, one) for one in samples]) for each in (searched, tuned)]
    assert lost[0] < 1.25 * lost[1]


def test_searched_sizes_have_a_row_for_each_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "grid", _few)
    rows = sizes.varied(0, 8, 10**4, "open", 2.0, "searched", {})
    values = [row["value"] for row in rows if row["varied"].startswith(O_RAPPOR)]
    assert values == ["C=16", "C=64", "k=4", "h=1", "h=2"]


def test_the_grids_of_the_search_are_the_paper_s() -> None:
    assert len(list(hashed.grid(O_RR, "open", 256))) == 12 * 11
    assert len(list(hashed.grid(O_RAPPOR, "open", 256))) == 12 * 11 * 5
    assert len(list(hashed.grid(O_RAPPOR, "open", 4096))) == 14 * 11 * 2
    assert max(buckets for _, buckets, _ in hashed.grid(O_RR, "closed", 256)) == 256


def test_strings_that_share_all_buckets_still_have_a_loss() -> None:
    server = hashed.make(O_RR, "open", 16, 2.0, 1, 8)
    assert server is not None
    assert 0.05 < hashed.loss(server, hashed.sample(16, 10**5, np.random.default_rng(0))) < 2


def test_the_noise_of_reports_has_nothing_to_do_with_the_draw_of_users() -> None:
    """One cohort of all values permuted is k-RR: with the same users their losses are the same on average."""
    plain, permuted = (
        dn.mechanism("grr", k=16, epsilon=5.0),
        dn.mechanism("orr", k=16, epsilon=5.0, cohorts=1, buckets=16),
    )
    samples = [hashed.sample(16, 10**5, np.random.default_rng(seed)) for seed in range(300)]
    lost = [np.array([hashed.loss(each, one) for one in samples]) for each in (plain, permuted)]
    assert abs((lost[0] - lost[1]).mean()) < 4.5 * (lost[0] - lost[1]).std() / math.sqrt(300)


def test_baselines_are_the_expected_losses() -> None:
    random, p, n = np.random.default_rng(0), geometric(32), 20_000
    lost = np.mean([np.abs(random.multinomial(n, p) / n - p).sum() for _ in range(400)])
    found = hashed.baselines(p, n)
    assert found[hashed.RAW] == pytest.approx(lost, rel=0.03)
    assert found[hashed.EVEN] == pytest.approx(np.abs(p - 1 / 32).sum())


def test_a_loss_that_is_not_enclosed_has_no_epsilon() -> None:
    epsilons, found = np.array([1.0, 2.0, 4.0]), np.array([0.4, 0.2, 0.05])
    assert needed.crossing(epsilons, found, 0.1) == pytest.approx(3.0)
    assert needed.crossing(epsilons, found, 0.01) is None
    assert needed.crossing(epsilons, found, 0.5) is None


def test_the_minimax_estimator_has_the_same_loss_everywhere_and_a_bias_that_vanishes() -> None:
    n, k = 100, 5
    least = (1 - 1 / k) / (math.sqrt(n) + 1) ** 2
    assert risk(1 / k, k, n, math.sqrt(n)) == pytest.approx(least)
    assert risk(1.0, k, n, math.sqrt(n)) == pytest.approx(least)
    assert shrunk(np.array([60, 40]), 10.0).sum() == pytest.approx(1)
    parts = {n: SECTION_E_2.measure(seed=0, k=4, n=n, draws=5) for n in (100, 10**4)}
    rows = Rows({"k": 4, "n": n, "seed": 0, **row} for n, part in parts.items() for row in part)
    assert asymptotic_bias(rows).kind == FAILS
    constant = Rows({"part": "at", "method": MINIMAX, "n": n, "bias": 0.1} for n in (10, 1000))
    assert asymptotic_bias(constant).kind == HOLDS


def test_minimax_risk_without_noise_is_that_of_raw_data() -> None:
    clear, blurred = np.eye(2), np.array([[0.7, 0.3], [0.3, 0.7]])
    for loss in LOSSES.values():
        assert minimax_risk(clear, 2, loss) <= minimax_risk(blurred, 2, loss) + 1e-9
    # 3 raw values, squared loss: (1 - 1/2)/(sqrt 3 + 1)^2, halved for one of two frequencies
    assert minimax_risk(clear, 3, np.square) == pytest.approx(0.25 / (math.sqrt(3) + 1) ** 2, rel=0.03)


def test_judges_of_bounds_and_factors() -> None:
    rows = Rows({"k": 2, "epsilon": 1.0, "n": 10, "method": name, "loss": loss} for name, loss in (("a", 9), ("b", 4)))
    assert below("loss")(rows).kind == HOLDS
    assert below("loss")(rows.where(method="a")).kind == FAILS
    assert above("loss", 1.0)(rows).kind == HOLDS
    assert above("loss", 5.0)(rows).kind == FAILS
    exactly = Rows({"k": k, **row} for k in (16, 65_536) for row in factors(0, k))
    assert approaches(K_RR, LOG)(exactly).kind == HOLDS
    twice = Rows({**row, "said": 2 * row["said"]} for row in exactly)
    assert approaches(K_RR, LOG)(twice).kind == FAILS


def test_judges_of_figures() -> None:
    same = {"source": "geometric", "k": 4, "epsilon": 2.0, "region": LOW_PRIVACY}
    gains = Rows({**same, "n": n, "gain l1": gain} for n, gain in ((100, -0.2), (30_000, -0.01)))
    assert decoder_figures.shrinks(gains).kind == HOLDS
    assert decoder_figures.shrinks(Rows({**row, "gain l1": 1 / row["gain l1"]} for row in gains)).kind == FAILS
    rising = Rows(
        {"varied": f"{O_RR} varying k", "epsilon": epsilon, "number": k, "l1": abs(k - round(3 * epsilon))}
        for epsilon in (1.0, 2.0)
        for k in (3, 6)
    )
    assert sizes.grows_with_epsilon(rising).kind == HOLDS
    assert sizes.grows_with_epsilon(rising.where(epsilon=1.0)).kind == FAILS
    lower = Rows({"method": "a", "target": 0.1, "n": n, "needed": 1 / n} for n in (10, 100))
    assert needed.falls_with_users(lower).kind == HOLDS
    assert needed.falls_with_users(Rows({**row, "needed": row["n"]} for row in lower)).kind == FAILS
    ratios = Rows(
        {**same, "mechanism": K_RR, "n": n, "l1 ratio": 1 + 5 / n + noise}
        for n in (10, 10**6)
        for noise in (-1e-3, 1e-3, 0.0)
    )
    assert tends_to_one(K_RR)(ratios).kind == HOLDS
    assert tends_to_one(K_RR)(Rows({**row, "l1 ratio": row["l1 ratio"] + 0.2} for row in ratios)).kind == FAILS
