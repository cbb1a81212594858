"""Working sets: the entries channels list are those of their products, and few products find the maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.channel import Listing, Operator, Paired, Sparing, entries
from deniable.estimation.methods import iterative as bayesian_update
from deniable.estimation.methods import listed_channel, working_set
from deniable.estimation.methods.iterative import ConvergenceWarning, iterate
from deniable.estimation.methods.likelihood import log_likelihood
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.methods.working_set import SeenChannel, admitted, foremost
from deniable.estimation.operators import designs
from deniable.estimation.operators.dense import MatrixOperator

LISTING = ("blh", "clh", "csr", "flh", "hcms", "hpgr", "hr", "olh", "orr", "pgr", "rhr")


class Plain:
    """An operator without its list of entries, which counts its products."""

    def __init__(self, operator: Operator) -> None:
        self.operator, self.products = operator, 0

    def forward(self, weights: Any) -> Any:
        self.products += 1
        return self.operator.forward(weights)

    def adjoint(self, scores: Any) -> Any:
        self.products += 1
        return self.operator.adjoint(scores)

    def adjoint_squared(self, scores: Any) -> Any:
        self.products += 1
        return self.operator.adjoint_squared(scores)


def problem(name: str, epsilon: float, k: int = 2000, n: int = 1000) -> tuple[Any, Any, Any]:
    """Counts of reports of Zipf data, their channel, and the projected estimate."""
    m = dn.mechanism(name, k=k, epsilon=epsilon)
    shares = np.arange(1, k + 1) ** -1.3
    true = np.random.default_rng(5).multinomial(n, shares / shares.sum())
    summary = dn.simulate(m, true, seed=5)
    return summary.counts, m.operator(), nearest_distribution(m.unbiased(summary))


@pytest.mark.parametrize("epsilon", [0.7, 2.0, 4.0])
@pytest.mark.parametrize("name", LISTING)
def test_listed_entries_are_those_of_the_products(name: str, epsilon: float) -> None:
    k = 40 if name in ("hpgr", "hr", "rhr") else 300
    operator = dn.mechanism(name, k=k, epsilon=epsilon).operator()
    assert isinstance(operator, Listing)
    values = np.array([0, 1, 7, k // 2, k - 1])
    rows = np.array([operator.forward(np.eye(k)[value]) for value in values])
    reports = np.unique(np.linspace(0, rows.shape[1] - 1, 500).astype(np.int64))
    np.testing.assert_allclose(entries(operator, values, reports), rows[:, reports], rtol=0, atol=1e-14 * rows.max())


@pytest.mark.parametrize("name", ["clh", "csr", "pgr"])
def test_pairs_found_by_the_elements_of_sets_are_the_entries_listed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(designs, "_MANY", 0)
    operator = dn.mechanism(name, k=900, epsilon=4.0).operator()
    assert isinstance(operator, Paired)
    values = np.random.default_rng(1).permutation(900)[:400]
    reports = np.unique(np.random.default_rng(2).integers(0, len(operator.forward(np.ones(900))), 2000))
    found = operator.above(values, reports)
    assert found is not None
    codes = np.zeros((len(values), len(reports)), np.uint8)
    codes[found[0], found[1]] = found[2]
    np.testing.assert_array_equal(codes, operator.codes(values, reports))
    assert len(found[0]) == np.count_nonzero(codes)
    assert operator.above(values[:3], reports) is None


@pytest.mark.parametrize("name", ["csr", "hr", "flh"])
def test_a_working_set_is_the_channel_on_its_values_and_reports(
    name: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    counts, operator, start = problem(name, 3.0)
    monkeypatch.setattr(listed_channel, "_PIECE", 10_000)  # so that they are listed in several pieces
    seen, values = np.flatnonzero(counts), np.flatnonzero(start)
    more = np.setdiff1d(np.arange(2000), values)[::50]
    parts = [
        SeenChannel(each, seen, len(counts), 2000).restricted(values).extended(more[:7]).extended(more[7:])
        for each in (operator, Plain(operator))
    ]
    assert [type(part).__name__ for part in parts] == ["Sparse", "_Embedded"]
    weights, scores = rng.random(len(values) + len(more)), rng.random(len(seen))
    np.testing.assert_array_equal(parts[0].values, parts[1].values)
    for method, vector in (("forward", weights), ("adjoint", scores), ("adjoint_squared", scores)):
        listed, embedded = (getattr(part, method)(vector) for part in parts)
        np.testing.assert_allclose(listed, embedded, rtol=1e-9)


def test_a_list_longer_than_the_channel_is_not_made() -> None:
    counts, operator, _ = problem("blh", 1.0)
    channel = SeenChannel(operator, np.flatnonzero(counts), len(counts), 2000)
    assert type(channel.restricted(np.arange(2000))).__name__ == "_Embedded"
    assert type(channel.restricted(np.arange(0))).__name__ == "_Embedded"


def test_only_the_values_that_gain_most_are_admitted() -> None:
    gradient = np.linspace(0.5, 1.5, 1000)
    found = admitted(gradient, np.arange(900, 1000))
    assert sorted(found) == list(range(850, 900))
    assert len(admitted(gradient, np.arange(600))) == 150
    assert len(admitted(np.full(10, 1.0), np.arange(3))) == 0


def certified_by_few_products(name: str, epsilon: float, given: bool, listed: bool) -> None:
    """Fewer users than values: with all values that gain free at once, most of these take thousands of products."""
    counts, operator, start = problem(name, epsilon)
    counted = Plain(operator)
    found = iterate(counts, operator if listed else counted, start=start if given else None)
    assert found.gap <= 1e-12
    assert found.products <= 500
    assert found.newton_steps <= 15
    assert listed or counted.products <= 2 * found.products + 8 * found.newton_steps + 2 * found.updates + 40
    # the certificate is that of another product with the channel
    scores = counts / counts.sum() / operator.forward(found.frequencies)
    assert operator.adjoint(scores).max() - 1 <= 1e-11


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [("hr", 1.0), ("hr", 4.0), ("hpgr", 4.0), ("rhr", 3.0), ("flh", 5.0), ("clh", 4.0), ("csr", 4.0)],
)
def test_few_products_find_the_maximum_from_the_projected_estimate(name: str, epsilon: float) -> None:
    certified_by_few_products(name, epsilon, given=True, listed=True)


@pytest.mark.parametrize(("name", "epsilon"), [("hr", 4.0), ("hpgr", 4.0), ("rhr", 3.0), ("flh", 5.0)])
def test_few_products_find_the_maximum_from_equal_frequencies(name: str, epsilon: float) -> None:
    certified_by_few_products(name, epsilon, given=False, listed=True)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize(("name", "epsilon"), [("hr", 4.0), ("hpgr", 4.0), ("rhr", 3.0)])
def test_few_products_suffice_for_channels_that_list_no_entries(name: str, epsilon: float, given: bool) -> None:
    certified_by_few_products(name, epsilon, given=given, listed=False)


@pytest.mark.parametrize(("name", "epsilon"), [("hr", 2.0), ("pgr", 2.0), ("flh", 4.0)])
def test_all_ways_lead_to_the_same_maximum(name: str, epsilon: float) -> None:
    counts, operator, start = problem(name, epsilon, k=300, n=2000)
    answers = [
        iterate(counts, way, start=given).frequencies for way in (operator, Plain(operator)) for given in (start, None)
    ]
    for answer in answers[1:]:
        assert np.abs(answer - answers[0]).sum() <= 1e-9
        assert log_likelihood(answer, counts, operator) == pytest.approx(
            log_likelihood(answers[0], counts, operator), abs=1e-12
        )


def test_values_that_alone_explain_a_report_stay_however_rare() -> None:
    # plain updates bring the last value far below an equal frequency, yet it is the only one with the last report
    counts = np.array([1_000_000, 1])
    found = iterate(counts, MatrixOperator(np.array([[1.0, 0.0], [0.0, 1.0]])))
    np.testing.assert_allclose(found.frequencies, counts / counts.sum(), atol=1e-12)


def test_too_much_work_ends_with_the_gap_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayesian_update, "_PRODUCTS", 20)
    counts, operator, start = problem("hr", 4.0)
    with pytest.warns(ConvergenceWarning, match=r"certified gap .* instead of 1e-12, after \d+ products"):
        found = iterate(counts, operator, start=start)
    monkeypatch.setattr(bayesian_update, "_PRODUCTS", 20_000)
    most = log_likelihood(iterate(counts, operator, start=start).frequencies, counts, operator)
    assert 1e-12 < most - log_likelihood(found.frequencies, counts, operator) <= found.gap


@pytest.mark.parametrize("name", ["orr", "hcms"])
def test_listed_entries_of_candidates_include_those_of_unlisted_strings(name: str) -> None:
    words = [f"word {number}" for number in range(30)]
    m: Any = dn.mechanism(name, domain=dn.Domain.open(), epsilon=2.0, cohorts=32, buckets=16, candidates=30)
    operator = m.channel_of(m.functions.design(m.domain.indices(words), complete=False), unlisted=True)
    rows = np.array([operator.forward(row) for row in np.eye(31)])
    reports = np.arange(0, rows.shape[1], 3)
    found = entries(operator, np.array([0, 7, 30]), reports)
    np.testing.assert_allclose(found, rows[[0, 7, 30]][:, reports], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["csr", "clh", "olh"])
def test_a_list_of_many_entries_takes_a_byte_each_and_has_the_same_products(
    name: str, rng: np.random.Generator
) -> None:
    counts, operator, start = problem(name, 1.0, k=3000, n=300)
    seen, values = np.flatnonzero(counts), np.flatnonzero(start)
    parts = [
        SeenChannel(each, seen, len(counts), 3000).restricted(values[:9]).extended(values[9:40])
        for each in (operator, Plain(operator))
    ]
    assert [type(part).__name__ for part in parts] == ["Dense", "_Embedded"]
    weights, scores = rng.random(len(parts[0].values)), rng.random(len(seen))
    for method, vector in (("forward", weights), ("adjoint", scores), ("adjoint_squared", scores)):
        listed, embedded = (getattr(part, method)(vector) for part in parts)
        np.testing.assert_allclose(listed, embedded, rtol=1e-9)


@pytest.mark.parametrize("name", ["csr", "clh", "flh"])
def test_a_large_problem_gets_the_same_maximum_with_gradients_for_all_values_only_at_the_ends(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, operator, start = problem(name, 1.0, k=3000, n=300)
    exact = iterate(counts, operator, start=start)
    assert isinstance(operator, Listing)
    counted = Plain(operator)
    for member in ("codes", "levels", "quick"):
        monkeypatch.setattr(Plain, member, getattr(operator, member), raising=False)
    monkeypatch.setattr(working_set, "_LARGE", 0)
    found = iterate(counts, counted, start=start)
    assert found.gap <= 1e-12
    assert counted.products <= 4
    # sqrt(2 n gap) standard errors, none of which exceeds that of the unbiased estimate
    np.testing.assert_allclose(found.frequencies, exact.frequencies, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["csr", "clh", "pgr", "olh"])
def test_a_guess_of_the_values_saves_a_gradient_and_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, operator, start = problem(name, 3.0)
    plain = iterate(counts, operator, start=start)
    monkeypatch.setattr(working_set, "_LARGE", 0)
    monkeypatch.setattr(working_set, "_SMALL", 2**20)
    gradients = 0
    whole = SeenChannel.gradient

    def counted(self: SeenChannel, scores: Any) -> Any:
        nonlocal gradients
        gradients += 1
        return whole(self, scores)

    monkeypatch.setattr(SeenChannel, "gradient", counted)
    found = iterate(counts, operator, start=start, near=plain.frequencies + 1e-3 * start)
    assert gradients == 1
    assert found.gap <= 1e-12
    scores = counts / counts.sum() / operator.forward(found.frequencies)
    assert operator.adjoint(scores).max() - 1 <= 1e-11
    assert np.isclose(
        log_likelihood(found.frequencies, counts, operator),
        log_likelihood(plain.frequencies, counts, operator),
        rtol=0,
        atol=1e-11,
    )
    misled = iterate(counts, operator, start=start, near=-plain.frequencies)
    assert misled.gap <= 1e-12


@pytest.mark.parametrize(("name", "options"), [("clh", {}), ("csr", {}), ("csr", {"padding": False}), ("pgr", {})])
def test_scores_of_few_reports_need_no_zeros(name: str, options: dict[str, Any], rng: np.random.Generator) -> None:
    operator = dn.mechanism(name, k=50, epsilon=2.0, **options).operator()
    assert isinstance(operator, Sparing)
    everywhere = np.zeros(len(operator.forward(np.full(50, 0.02))))
    reports = np.flatnonzero(rng.random(len(everywhere)) < 0.3)
    everywhere[reports] = rng.random(len(reports))
    np.testing.assert_allclose(
        operator.adjoint_of(reports, everywhere[reports]), operator.adjoint(everywhere), rtol=1e-12
    )


@pytest.mark.parametrize(("share", "left_out"), [(1 / 64, True), (0.5, False), (0.999, False), (1.0, False)])
def test_zeros_are_left_out_only_where_nearly_all_scores_are_zero(
    share: float, left_out: bool, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    operator = dn.mechanism("clh", k=50, epsilon=2.0).operator()
    cells = len(operator.forward(np.full(50, 0.02)))
    seen = np.sort(rng.choice(cells, round(share * cells), replace=False))
    channel, scores, asked = SeenChannel(operator, seen, cells, 50), rng.random(len(seen)), []
    expected = operator.adjoint(channel.embed(scores))
    alone = type(operator).adjoint_of  # type: ignore[attr-defined]
    monkeypatch.setattr(type(operator), "adjoint_of", lambda *given: asked.append(given) or alone(*given))
    np.testing.assert_allclose(channel.gradient(scores), expected, rtol=1e-12)
    assert bool(asked) == left_out


def test_the_foremost_values_are_the_largest_outside_the_set() -> None:
    numbers = np.linspace(0.0, 1.0, 1000)
    assert foremost(numbers, np.arange(940, 1000)).tolist() == list(range(880, 940))
    assert len(foremost(numbers, np.arange(990, 1000))) == 50
    assert len(foremost(numbers[:3], np.arange(3))) == 0
