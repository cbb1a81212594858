"""Consistent frequencies: each method against its formula, its properties, and the edges of every mechanism."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.estimation.evidence import Evidence
from deniable.estimation.intervals import BinomialTails
from deniable.estimation.methods import linear as consistency
from deniable.estimation.methods.power_law import FALLBACK, STEEPEST, exponent, posterior_mean
from deniable.estimation.methods.shared import UNBIASED, shared_methods
from deniable.estimation.methods.simplex import nearest_distribution, projected
from deniable.mechanisms.base.server import KEPT
from tests import ROOT
from tests.contract import cases as contract_cases
from tests.naive import response as naive

DISTRIBUTIONS = {"mle", "ibu", "mixture-reduction", "gls", "projected", "mle-apx", "normalized", "norm-cut", "power-ns"}
NOISE = (2.0, 0.5, 0.0)

numbers = st.lists(st.floats(-3, 3), min_size=2, max_size=30)
distributions = st.lists(st.integers(0, 50), min_size=2, max_size=20).filter(any)


def noise_of(channel: PureChannel) -> tuple[float, float, float]:
    return channel.noise("users")


# The formulas ---------------------------------------------------------------------------------------


@given(numbers)
@settings(max_examples=100, deadline=None)
def test_base_pos_and_norm_follow_their_formulas(f: list[float]) -> None:
    assert consistency.positive_part(np.array(f)).tolist() == [max(0.0, x) for x in f]
    wanted = [x + (1 - math.fsum(f)) / len(f) for x in f]
    np.testing.assert_allclose(consistency.shifted(np.array(f)), wanted, atol=1e-14)


@given(numbers, st.integers(1, 10**6))
@settings(max_examples=100, deadline=None)
def test_base_cut_keeps_what_exceeds_the_quantile_of_all_values(f: list[float], n: int) -> None:
    threshold = NormalDist().inv_cdf(1 - 0.05 / len(f)) * math.sqrt(NOISE[0] / n)
    found = consistency.significant(np.array(f), n, NOISE)
    for before, after in zip(f, found, strict=True):
        if abs(before - threshold) > 1e-9:
            assert after == (before if before > threshold else 0.0)


def test_base_cut_keeps_no_absent_value_in_19_of_20_collections(seed: int) -> None:
    m = dn.mechanism("grr", k=50, epsilon=1.0)
    true = np.zeros(50, np.int64)
    true[0] = 100_000
    kept = [m.estimate(dn.simulate(m, true, seed=seed + run), "base-cut").frequencies[1:].any() for run in range(2000)]
    assert np.mean(kept) == pytest.approx(0.05, abs=0.02)


@given(numbers)
@settings(max_examples=200, deadline=None)
def test_norm_cut_follows_its_definition(f: list[float]) -> None:
    kept: list[float] = []
    for value in sorted((x for x in f if x > 0), reverse=True):
        # largest first until the sum exceeds 1; equal values go together
        if math.fsum(kept) > 1 + 1e-12 and value < kept[-1]:
            break
        kept.append(value)
    found = consistency.largest_first(np.array(f))
    wanted = [1 / len(f)] * len(f) if not kept else [x / math.fsum(kept) if x >= kept[-1] else 0.0 for x in f]
    if all(abs(math.fsum(kept[:i]) - 1) > 1e-9 for i in range(len(kept))):  # no rounding decides
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_norm_cut_never_keeps_a_negative_value_and_scales_up_what_is_left() -> None:
    found = consistency.largest_first(np.array([0.3, -0.2, 0.2, 0.0]))
    np.testing.assert_allclose(found, [0.6, 0.0, 0.4, 0.0])
    assert consistency.largest_first(np.array([0.7, 0.6, 0.1])).tolist() == pytest.approx([7 / 13, 6 / 13, 0])
    assert consistency.largest_first(np.full(5, 0.3)).tolist() == pytest.approx([0.2] * 5)
    assert consistency.largest_first(np.array([-1.0, -2.0])).tolist() == [0.5, 0.5]
    assert consistency.rescaled(np.array([-1.0, -2.0])).tolist() == [0.5, 0.5]


@given(st.lists(st.integers(0, 40), min_size=2, max_size=12), st.floats(0.2, 5), st.booleans())
@settings(max_examples=200, deadline=None)
def test_mle_apx_follows_the_published_formula(support: list[int], epsilon: float, unary: bool) -> None:
    n, e = 40, Fraction(math.exp(epsilon))
    channel = PureChannel(Fraction(1, 2), 1 / (e + 1)) if unary else PureChannel(e / (e + 7), 1 / (e + 7))
    p, q = channel.p, channel.q
    shares = [Fraction(count, n) for count in support]
    left = list(range(len(support)))
    while True:
        x = (sum(shares[v] for v in left) - p - (len(left) - 1) * q) / (p * (1 - p) + (len(left) - 1) * q * (1 - q))
        wanted = {v: (shares[v] - q - q * (1 - q) * x) / (p - q + (p * (1 - p) - q * (1 - q)) * x) for v in left}
        if min(wanted.values()) >= 0:
            break
        left = [v for v in left if wanted[v] >= 0]
    unbiased = np.array([float((s - q) / (p - q)) for s in shares])
    found = consistency.gaussian_likelihood(unbiased, noise_of(channel))
    np.testing.assert_allclose(found, [float(wanted.get(v, 0)) for v in range(len(support))], atol=1e-9)


def test_mle_apx_is_near_the_maximum_of_the_likelihood_but_not_it(seed: int) -> None:
    m = dn.mechanism("grr", k=30, epsilon=2.0)
    summary = dn.simulate(m, (np.arange(1, 31) ** -1.5 * 3000).astype(int), seed=seed)
    apart = np.abs(m.estimate(summary, "mle-apx").frequencies - m.estimate(summary, "mle").frequencies).sum()
    assert 1e-5 < apart < 0.02


# The projection -------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.sampled_from([1.0, 1e-3, 1e-6]))
@settings(max_examples=300, deadline=None)
def test_the_projection_agrees_with_the_sorting_one_in_exact_arithmetic(f: list[float], scale: float) -> None:
    f = [scale * x for x in f]
    exact = naive.projected([Fraction(x) for x in f])  # type: ignore[misc]
    found = nearest_distribution(np.array(f))
    rounding = Fraction(max(1.0, max(map(abs, f)))) / 10**15
    assert max(abs(Fraction(x) - y) for x, y in zip(found.tolist(), exact, strict=True)) <= rounding
    assert math.fsum(found) == pytest.approx(1, abs=1e-14)


def test_a_million_frequencies_are_projected_to_the_sum_one(rng: np.random.Generator) -> None:
    f = rng.normal(0, 1e-3, 1_000_000)
    for vector in (f, f * 1e-4, np.full(1_000_000, 3.0), f + 1e9):
        found = nearest_distribution(vector)
        assert abs(math.fsum(found) - 1) <= 1e-12
        assert found.min() >= 0


def test_both_projections_agree_on_counts(rng: np.random.Generator) -> None:
    m = dn.RandomizedResponse(500, 1.0)
    counts = rng.multinomial(10_000, rng.dirichlet(np.full(500, 0.1)))
    exact = projected(counts, 10_000, m.channel)
    floats = nearest_distribution(m.unbiased(dn.Summary(counts, 10_000, m.fingerprint)))
    np.testing.assert_allclose(floats, exact, atol=1e-14)


# The power law --------------------------------------------------------------------------------------


def slow_posterior_mean(x: float, n: int, alpha: float, variance: float) -> float:
    """Integer by integer."""
    c = np.arange(1.0, n + 1)
    logs = -alpha * np.log(c) - (x - c) ** 2 / (2 * variance)
    terms = np.exp(logs - logs.max())
    return float(terms @ c / terms.sum())


@pytest.mark.parametrize("n", [1, 2, 300, 4096, 4097, 60_000])
@pytest.mark.parametrize("v0", [1e-8, 0.3, 40.0, 1e6])
def test_power_is_the_posterior_mean(n: int, v0: float, rng: np.random.Generator) -> None:
    for mean in (0.5, 1.0001, 2.0, n / 50, n / 3):
        spread = math.sqrt(v0 / n)
        f = np.concatenate([rng.normal(0, spread, 6), rng.uniform(0, 1, 3), [1 + 3 * spread, -20 * spread]])
        f += mean / n - f.mean()
        alpha = exponent(float(f.mean()) * n, n)
        wanted = [slow_posterior_mean(n * x, n, alpha, max(n * v0, 1e-200)) / n for x in f]
        np.testing.assert_allclose(posterior_mean(f, n, v0), wanted, rtol=1e-10)


@pytest.mark.parametrize("n", [2, 50, 4096, 5000, 10**6])
def test_the_exponent_gives_the_prior_its_mean(n: int) -> None:
    c = np.arange(1.0, n + 1)
    for mean in (1.0001, 1.3, 1 + 0.4 * (n - 1) / 2, (n + 0.9) / 2):
        weights = c ** -exponent(mean, n)
        assert weights @ c / weights.sum() == pytest.approx(mean, rel=1e-9)


def test_an_exponent_that_does_not_exist_is_replaced_by_the_nearest() -> None:
    assert exponent(0.99, 1000) == exponent(-5.0, 1000) == exponent(1.0, 1000) == FALLBACK
    assert exponent(np.nextafter(1.0, 2), 1000) == pytest.approx(52, abs=1)  # 2^-52 is the next number's distance
    assert exponent(900.0, 1000) == pytest.approx(0, abs=1e-12)  # above the mean of the uniform prior
    assert exponent(1.5, 1) == pytest.approx(0, abs=1e-12)
    assert exponent(2.0, 10**12) < STEEPEST


def test_power_at_huge_n_stays_between_one_report_and_all() -> None:
    for n in (10**9, 10**15, 2**62):
        found = posterior_mean(np.array([-0.5, -1e-9, 0.0, 1e-9, 1e-3, 0.5, 1.0, 3.0]), n, 2.0)
        assert (found >= 1 / n * (1 - 1e-9)).all()
        assert (found <= 1 + 1e-9).all()
        assert (np.diff(found) >= 0).all()
        assert found[5] == pytest.approx(0.5, rel=1e-3)


def test_power_ns_is_best_of_all_on_a_power_law(seed: int) -> None:
    m = dn.mechanism("grr", k=300, epsilon=2.0)
    rng = np.random.default_rng(seed)
    shares = np.arange(1, 301) ** -1.3 / (np.arange(1, 301) ** -1.3).sum()
    errors: dict[str, float] = dict.fromkeys(m.methods, 0.0)
    for run in range(20):
        true = rng.multinomial(100_000, shares)
        summary = dn.simulate(m, true, seed=seed + run)
        for method in errors:
            errors[method] += ((m.estimate(summary, method).frequencies - true / 100_000) ** 2).sum()
    assert min(errors, key=errors.__getitem__) == "power-ns"
    assert errors["power-ns"] < 0.2 * errors["unbiased"]


# What every mechanism's methods promise -------------------------------------------------------------


def cases(m: dn.RandomizedResponse) -> list[dn.Summary]:
    """Summaries at the edges: one report, all reports alike, all cells equal, many users."""
    one, alike, equal = np.zeros((3, m.k), np.int64)
    one[m.k - 1] = 1
    alike[0] = 10**6
    equal[:] = 7
    return [
        *(dn.Summary(counts, int(counts.sum()), m.fingerprint) for counts in (one, alike, equal)),
        dn.simulate(m, np.arange(m.k) * 1000, seed=1),
        dn.simulate(m, np.eye(m.k, dtype=np.int64)[0] * 50, seed=2),
    ]


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 12.0, 50.0])
@pytest.mark.parametrize("k", [2, 3, 40])
def test_no_method_ever_returns_nan_and_distributions_are_distributions(k: int, epsilon: float) -> None:
    m = dn.mechanism("grr", k=k, epsilon=epsilon)
    assert set(m.methods) >= DISTRIBUTIONS
    for summary in cases(m):
        for method in m.methods:
            for target in ("users", "population"):
                estimate = m.estimate(summary, method, target=target)
                low, high = estimate.interval()
                for array in (estimate.frequencies, estimate.std_error, low, high):
                    assert np.isfinite(array).all(), (method, target)
            if method != "unbiased":
                assert (low <= estimate.frequencies).all()
                assert (estimate.frequencies <= high).all()
            if method in DISTRIBUTIONS:
                assert estimate.frequencies.min() >= 0
                assert estimate.frequencies.sum() == pytest.approx(1, abs=1e-9)
            if method in ("base-pos", "base-cut", "power"):
                assert estimate.frequencies.min() >= 0


@given(distributions, st.sampled_from([100, 10**5]))
@settings(max_examples=100, deadline=None)
def test_what_is_a_distribution_already_stays_as_it_is(weights: list[int], n: int) -> None:
    f = np.array(weights) / sum(weights)
    for method in (
        consistency.positive_part,
        consistency.shifted,
        consistency.rescaled,
        consistency.largest_first,
        nearest_distribution,
        lambda f: consistency.gaussian_likelihood(f, NOISE),
    ):
        np.testing.assert_allclose(method(f), f, atol=1e-13)
    cut = consistency.significant(f, n, NOISE)
    assert ((cut == f) | (cut == 0)).all()


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_only_unbiased_and_norm_call_themselves_unbiased(epsilon: float) -> None:
    m = dn.mechanism("grr", k=6, epsilon=epsilon)
    summary = m.summarize(np.arange(6))
    assert {method for method in m.methods if m.estimate(summary, method).unbiased} == UNBIASED == {"unbiased", "norm"}
    assert "widened to hold this estimate" in m.estimate(summary, "norm").interval_note


def test_norm_is_unbiased_and_varies_less_than_what_it_shifts() -> None:
    # all outcomes of 3 users who send one bit per value (p = 3/4, q = 1/4), so that the sum of f^ is not 1
    p, q, users = 0.75, 0.25, [0, 0, 1]
    mean, square, square_before = np.zeros(3), np.zeros(3), np.zeros(3)
    truth = np.array([2, 1, 0]) / 3
    for outcome in range(2**9):
        bits = np.array([outcome >> i & 1 for i in range(9)]).reshape(3, 3)
        own = np.array([[value == user for value in range(3)] for user in users])
        chance = np.where(bits == 1, np.where(own, p, q), np.where(own, 1 - p, 1 - q)).prod()
        before = (bits.mean(axis=0) - q) / (p - q)
        after = consistency.shifted(before)
        mean += chance * after
        square += chance * (after - truth) ** 2
        square_before += chance * (before - truth) ** 2
    np.testing.assert_allclose(mean, truth, atol=1e-12)
    # Var[sum f^] = 3 Var f^ here, and Var[sum f^]/k is what the sum of the variances loses
    assert square.sum() == pytest.approx(square_before.sum() * (1 - 1 / 3))


def test_a_mechanism_need_not_list_the_shared_methods() -> None:
    m = dn.mechanism("grr", k=5, epsilon=1.0)
    assert set(m._methods()) == {"mle", "mixture-reduction"}
    assert len(set(m.methods)) == len(m.methods)
    assert "unbiased" in m.methods


@pytest.mark.parametrize("n", [1, 300])
@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_every_mechanism_offers_them_and_they_give_numbers(name: str, n: int, seed: int) -> None:
    m = contract_cases.of(name).one()
    assert {"projected", "normalized", "norm", "norm-cut", "power", "power-ns", "base-pos", "base-cut"} < set(m.methods)
    assert ("mle" in m.methods) >= (m.operator() is not None)
    labels = m.domain.all_labels()
    values = [labels[i] for i in np.random.default_rng(seed).integers(0, m.k, n)]
    summary = m.summarize(m.privatize(values, seed=seed))
    for method in m.methods:
        estimate = m.estimate(summary, method)
        assert np.isfinite(estimate.frequencies).all(), method
        assert np.isfinite(estimate.std_error).all(), method
        if method in DISTRIBUTIONS:
            assert estimate.frequencies.min() >= 0
            assert estimate.frequencies.sum() == pytest.approx(1, abs=1e-9)


def test_a_summary_that_tells_less_has_fewer_methods() -> None:
    least, pure = shared_methods(pure=False, likelihood=False), shared_methods(pure=True, likelihood=False)
    everything = shared_methods(pure=True, likelihood=True)
    assert set(pure) - set(least) == {"mle-apx"}
    assert set(everything) - set(pure) == {"mle", "ibu", "gls", "mixture-reduction"}
    f = np.array([0.7, 0.4, -0.2])
    evidence = Evidence(dn.Summary(np.array([50, 30, 20]), 100, "0" * 64), f, NOISE, np.array([50, 30, 20]))
    for name, method in least.items():
        found = method(evidence).frequencies
        assert np.isfinite(found).all()
        if name in DISTRIBUTIONS:
            assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(least["projected"](evidence).frequencies, [0.65, 0.35, 0])


def test_counts_too_large_for_the_exact_projection_take_the_other_one() -> None:
    channel = dn.RandomizedResponse(3, 1.0).channel
    counts = np.array([2**61, 2**60, 2**60])
    n = int(counts.sum())
    f = np.array([float((Fraction(int(c), n) - channel.q) / channel.gain) for c in counts])
    evidence = Evidence(dn.Summary(counts, n, "0" * 64), f, NOISE, counts, BinomialTails(counts, n, channel))
    np.testing.assert_allclose(
        shared_methods(pure=True, likelihood=False)["projected"](evidence).frequencies, f, atol=1e-14
    )


def test_every_shared_method_is_described() -> None:
    page = (ROOT / "docs" / "methods.md").read_text()
    rows = "".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert set(re.findall("`(.*?)`", rows)) == {*shared_methods(pure=True, likelihood=True), KEPT}
