"""The composite likelihood of bits: its maximum is the right one, found in few passes, and named for what it is."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.estimation.methods.composite import most_likely_bits
from tests.naive import unary as naive_bits

CHANNELS = st.sampled_from(
    [dn.mechanism(name, k=5, epsilon=e).channel for name in ("oue", "sue") for e in (1e-3, 0.1, 1.0, 3.0, 8.0)]
)


def violation(theta: np.ndarray, counts: list[int], n: int, channel: PureChannel) -> float:
    """How far a distribution is from optimal, in fifty digits: the spread of the slopes that ought to be equal."""
    with mpmath.workdps(50):
        p, q = (mpmath.mpf(x.numerator) / x.denominator for x in (channel.p, channel.q))
        shares = [q + (p - q) * mpmath.mpf(float(f)) for f in theta]
        slopes = [
            mpmath.mpf(c) / n / a - (1 - mpmath.mpf(c) / n) / (1 - a) for c, a in zip(counts, shares, strict=True)
        ]
        used = [slope for slope, f in zip(slopes, theta, strict=True) if f > 0]
        unused = [slope for slope, f in zip(slopes, theta, strict=True) if f == 0]
        worst = max(max(used) - min(used), max(unused, default=min(used)) - min(used))
        return float(worst / (1 + abs(used[0])))


@given(st.integers(1, 200), CHANNELS, st.data())
@settings(max_examples=200)
def test_the_maximum_is_optimal(n: int, channel: PureChannel, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, n), min_size=2, max_size=12))
    found = most_likely_bits(np.array(counts), n, channel)
    assert found.frequencies.min() >= 0
    assert abs(math.fsum(found.frequencies) - 1) <= 1e-14
    assert violation(found.frequencies, counts, n, channel) <= 1e-10
    assert found.residual <= 1e-10
    assert found.passes <= 20


@given(st.integers(1, 10**6), CHANNELS, st.data())
@settings(max_examples=40)
def test_it_agrees_with_halving_an_interval_in_fifty_digits(n: int, channel: PureChannel, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, n), min_size=2, max_size=8))
    with mpmath.workdps(50):
        p, q = (mpmath.mpf(x.numerator) / x.denominator for x in (channel.p, channel.q))
        reference, _ = naive_bits.most_likely_bits(counts, n, p, q)
        found = most_likely_bits(np.array(counts), n, channel).frequencies
        assert max(abs(f - r) for f, r in zip(found.tolist(), reference, strict=True)) <= 1e-9


def composite_likelihood(theta: np.ndarray, counts: np.ndarray, n: int, channel: PureChannel) -> float:
    a = float(channel.q) + float(channel.gain) * theta
    return float(counts @ np.log(a) + (n - counts) @ np.log1p(-a))


def test_no_other_distribution_is_likelier(rng: np.random.Generator) -> None:
    for _ in range(300):
        k, n = int(rng.integers(2, 30)), int(10 ** rng.uniform(0, 5))
        m = dn.mechanism(str(rng.choice(["oue", "sue"])), k=k, epsilon=float(10 ** rng.uniform(-2, 1)))
        counts = m.simulated_counts(rng.multinomial(n, rng.dirichlet(np.full(k, 0.3))), rng)
        best = most_likely_bits(counts, n, m.channel).frequencies
        top = composite_likelihood(best, counts, n, m.channel)
        for share, other in itertools.product((1e-3, 1.0), rng.dirichlet(np.full(k, 0.5), size=3)):
            mixed = (1 - share) * best + share * other
            assert composite_likelihood(mixed, counts, n, m.channel) <= top + 1e-9 * abs(top)


@pytest.mark.parametrize("name", ["oue", "sue"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 5.0, 15.0])
@pytest.mark.parametrize("n", [1, 2, 1000, 2**53, 2**62])
def test_corner_cases(name: str, epsilon: float, n: int) -> None:
    k = 7
    channel = dn.mechanism(name, k=k, epsilon=epsilon).channel
    for count in (0, n // 2, n):  # nothing to tell values apart
        even = most_likely_bits(np.full(k, count), n, channel)
        np.testing.assert_allclose(even.frequencies, 1 / k, rtol=1e-12)
    for rest in (0, n // 3):
        first = most_likely_bits(np.array([n] + [rest] * (k - 1)), n, channel)
        assert first.frequencies.argmax() == 0
        assert first.frequencies[1:] == pytest.approx(np.full(k - 1, first.frequencies[1]))
        assert abs(first.frequencies.sum() - 1) <= 1e-14
        assert first.passes <= 20


def test_twenty_passes_suffice_for_a_hundred_thousand_values(rng: np.random.Generator) -> None:
    k = 100_000
    shapes = [np.arange(1, k + 1) ** -1.3, np.ones(k), np.eye(1, k)[0], rng.dirichlet(np.full(k, 0.05))]
    for name, epsilon, n in itertools.product(("oue", "sue"), (0.01, 1.0, 4.0, 12.0), (1, 1000, 10**6)):
        m = dn.mechanism(name, k=k, epsilon=epsilon)
        for weights in shapes:
            counts = m.simulated_counts(rng.multinomial(n, weights / weights.sum()), rng)
            found = most_likely_bits(counts, n, m.channel)
            assert found.passes <= 20
            assert found.residual <= 1e-10
            assert abs(math.fsum(found.frequencies) - 1) <= 1e-13


@pytest.mark.parametrize("base", [1.5, 2.0, 10.0])
def test_counts_spread_over_many_magnitudes_need_no_more(base: float) -> None:
    n = 2**60
    counts = (n * base ** -np.arange(400.0)).astype(np.int64)
    for name, epsilon in itertools.product(("oue", "sue"), (0.1, 2.0, 20.0)):
        assert most_likely_bits(counts, n, dn.mechanism(name, k=400, epsilon=epsilon).channel).passes <= 20


def test_it_equals_the_unbiased_estimate_where_that_is_a_distribution() -> None:
    m = dn.mechanism("sue", k=4, epsilon=1.0)
    n = 2**40
    shares = np.array([Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)])
    counts = np.array([round(n * (m.channel.q + m.channel.gain * share)) for share in shares])
    np.testing.assert_allclose(most_likely_bits(counts, n, m.channel).frequencies, shares.astype(float), atol=1e-10)


@pytest.mark.parametrize("name", ["oue", "sue"])
def test_it_is_the_default_and_says_what_it_did(name: str) -> None:
    m = dn.mechanism(name, k=50, epsilon=1.0)
    estimate = m.estimate(dn.simulate(m, np.arange(50) * 100))
    assert estimate.method == "composite"
    assert not estimate.unbiased
    assert estimate.details["passes"] <= 20
    assert estimate.details["residual"] <= 1e-10
    assert "mle" not in m.methods


def test_it_is_not_the_likelihood_of_the_reports() -> None:
    # half of the reports mark value 0 alone, half mark 1 and 2: a third of the marks each, but half of the users
    m = dn.mechanism("oue", k=3, epsilon=3.0)
    reports = np.array([[0b001], [0b110]] * 50, np.uint64)
    composite = m.estimate(m.summarize(reports), "composite").frequencies
    np.testing.assert_allclose(composite, 1 / 3)
    chances = np.array([[float(m.probability((report,), value)) for value in range(3)] for report in (0b001, 0b110)])
    likelihood = {f: 50 * np.log(chances @ [f, (1 - f) / 2, (1 - f) / 2]).sum() for f in (1 / 3, 0.45, 0.5, 0.55)}
    assert max(likelihood, key=likelihood.__getitem__) == 0.5
    assert likelihood[0.5] > likelihood[1 / 3] + 4


@pytest.mark.parametrize("name", ["oue", "sue"])
def test_on_skewed_data_it_is_far_closer_than_the_unbiased_estimate(name: str) -> None:
    m = dn.mechanism(name, k=500, epsilon=1.0)
    true = np.random.default_rng(1).multinomial(20_000, np.arange(1, 501) ** -1.5 / (np.arange(1, 501) ** -1.5).sum())
    errors = {
        method: np.mean(
            [((m.estimate(dn.simulate(m, true, s), method).frequencies - true / 20_000) ** 2).sum() for s in range(20)]
        )
        for method in ("unbiased", "composite", "projected")
    }
    assert errors["composite"] < 0.1 * errors["unbiased"]
    assert errors["composite"] < 1.2 * errors["projected"]
