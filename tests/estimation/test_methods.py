"""What the methods of every mechanism promise, at the edges too."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.estimation.evidence import Evidence
from deniable.estimation.methods import linear as consistency
from deniable.estimation.methods.shared import UNBIASED, shared_methods
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.tails import BinomialTails
from deniable.mechanisms.base.server import KEPT
from tests import ROOT
from tests.contract import cases as contract_cases

DISTRIBUTIONS = {"mle", "ibu", "mixture-reduction", "gls", "projected", "mle-apx", "normalized", "norm-cut", "power-ns"}

NOISE = (2.0, 0.5, 0.0)

distributions = st.lists(st.integers(0, 50), min_size=2, max_size=20).filter(any)


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
@settings(max_examples=100)
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
