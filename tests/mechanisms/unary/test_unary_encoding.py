"""Unary encoding: the papers' numbers, its exact integers, long reports, and its limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.unary.unary_encoding import COIN_BITS, MAX_VALUES, UnaryEncoding
from deniable.randomness.bounds import exponential_below, power_below
from tests.contract.cases import Case, Refused
from tests.contract.vectors import FOUR, Vector, integers
from tests.mechanisms.unary.words import coins, sliced_words

M = 2**COIN_BITS
EPSILONS = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0]
FORMS = [dn.OptimizedUnaryEncoding, dn.SymmetricUnaryEncoding]

Form = type[UnaryEncoding]

INTEGERS = Vector({"domain": integers(96), "epsilon": 3.0}, [-3, 0, 60, 61, 96, 2000, None])
CASES = [
    Case(
        "oue",
        small=[{"k": k, "epsilon": epsilon} for k, epsilon in ((2, 0.5), (2, 1.0), (3, 1.0), (3, 3.0), (4, 3.0))],
        largest=8,
        refused=Refused(0, 3),
        summary_keeps_all=False,
        words=sliced_words,
        draws=coins,
        vectors={"labels": Vector({"labels": FOUR, "epsilon": 1.5}), "integers": INTEGERS},
    ),
    Case(
        "sue",
        small=[{"k": k, "epsilon": epsilon} for k, epsilon in ((2, 1.0), (2, 3.0), (3, 2.0), (3, 3.0), (4, 3.0))],
        largest=8,
        refused=Refused(0, 4),
        summary_keeps_all=False,
        words=sliced_words,
        draws=coins,
        vectors={"labels": Vector({"labels": FOUR, "epsilon": 1.5}), "integers": INTEGERS},
    ),
]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wang_2017_the_variance_of_oue(epsilon: float) -> None:
    e = math.exp(epsilon)
    m = dn.mechanism("oue", k=100, epsilon=epsilon)
    assert m.variance(0.0, n=50) == pytest.approx(4 * e / (50 * (e - 1) ** 2), rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wang_2017_the_variance_of_sue(epsilon: float) -> None:
    root = math.exp(epsilon / 2)
    m = dn.mechanism("sue", k=100, epsilon=epsilon)
    assert m.variance(0.0, n=50) == pytest.approx(root / (50 * (root - 1) ** 2), rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wang_2017_a_fair_coin_for_the_value_is_the_best_one(epsilon: float) -> None:
    # all p, each with the q that spends epsilon: p (1 - q) / ((1 - p) q) = e^epsilon
    p = np.linspace(0.01, 0.99, 981)
    q = p / (p + (1 - p) * math.exp(epsilon))
    variances = q * (1 - q) / (p - q) ** 2
    assert p[variances.argmin()] == pytest.approx(0.5, abs=1e-3)
    oue, sue = (dn.mechanism(name, k=10, epsilon=epsilon).variance() for name in ("oue", "sue"))
    assert variances.min() == pytest.approx(oue, rel=1e-5)
    assert oue < sue


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_wang_2017_oue_beats_randomised_response_from_3_e_plus_2_values_on(epsilon: float) -> None:
    turn = 3 * math.exp(epsilon) + 2
    for k, better in ((math.floor(turn), "grr"), (math.ceil(turn), "oue")):
        variances = {name: dn.mechanism(name, k=k, epsilon=epsilon).variance() for name in ("grr", "oue")}
        assert min(variances, key=variances.__getitem__) == better


SHARES = np.array([0.4, 0.3, 0.2, 0.1, 0.0, 0.0])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_kairouz_2016_proposition_4_the_squared_error_of_k_rappor(epsilon: float) -> None:
    k, n, root = len(SHARES), 1000, math.exp(epsilon / 2)
    m = dn.mechanism("sue", k=k, epsilon=epsilon)
    total = sum(m.variance(share, n, "population") for share in SHARES)
    stated = (1 - (SHARES**2).sum()) / n + k * root / (n * (root - 1) ** 2)
    assert total == pytest.approx(stated, rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_kairouz_2016_proposition_4_the_absolute_error_of_k_rappor(epsilon: float) -> None:
    n, gain = 1000, math.exp(epsilon / 2) - 1
    m = dn.mechanism("sue", k=len(SHARES), epsilon=epsilon)
    total = sum(math.sqrt(2 * m.variance(share, n, "population") / math.pi) for share in SHARES)
    stated = np.sqrt(2 * (gain * SHARES + 1) * (gain * (1 - SHARES) + 1) / (math.pi * n)).sum() / gain
    assert total == pytest.approx(stated, rel=1e-6)


@pytest.mark.parametrize("k", [3, 10, 100, 1000])
def test_kairouz_2016_proposition_5_randomised_response_beats_k_rappor_when_epsilon_is_large(k: int) -> None:
    epsilon = math.log(k)
    even = {
        name: dn.mechanism(name, k=k, epsilon=epsilon).variance(1 / k, target="population") for name in ("grr", "sue")
    }
    assert even["grr"] <= even["sue"]


@pytest.mark.parametrize("epsilon", [1e-6, *EPSILONS, 15.0, 20.0])
def test_one_step_less_noise_would_break_epsilon(epsilon: float) -> None:
    bound = exponential_below(epsilon)
    oue, sue = (dn.mechanism(name, k=3, epsilon=epsilon).thresholds for name in ("oue", "sue"))
    assert {t % 2**32 for t in (*oue.values(), *sue.values())} == {0}
    t = oue["other"] >> 32
    assert Fraction(M - t, t) <= bound < Fraction(M - t + 1, t - 1)
    assert oue["own"] >> 32 == M // 2
    t = sue["other"] >> 32
    assert Fraction(M - t, t) ** 2 <= bound < Fraction(M - t + 1, t - 1) ** 2
    assert sue["own"] >> 32 == M - t


def test_beyond_what_32_bits_can_tell_the_guarantee_stays_that_of_the_coin() -> None:
    assert dn.mechanism("oue", k=5, epsilon=30.0).guarantee().ratio == M - 1
    assert dn.mechanism("sue", k=5, epsilon=50.0).guarantee().ratio == (M - 1) ** 2


@pytest.mark.parametrize("form", FORMS)
def test_an_epsilon_too_small_for_the_coin_is_refused(form: Form) -> None:
    with pytest.raises(dn.InvalidArgument, match="No 32-bit coin is that weak"):
        form(5, 1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_a_domain_whose_reports_would_be_huge_is_refused(form: Form) -> None:
    assert form(MAX_VALUES, 1.0).report_bits == MAX_VALUES
    with pytest.raises(dn.InvalidArgument, match=r"k must be at most 16777216 for .ue.* reports have k bits"):
        form(MAX_VALUES + 1, 1.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("epsilon", [0.5, 5.0, 30.0])
def test_the_attack_rate_of_large_domains_is_rounded_up_by_next_to_nothing(form: Form, epsilon: float) -> None:
    for k in (256, 257, 400, 3000):
        m = form(k, epsilon)
        p, q = m.channel.p, m.channel.q
        # (1/k) [ (p/q) (1 - (1-q)^k) + (1-p) (1-q)^(k-1) ]
        exact = (p / q * (1 - (1 - q) ** k) + (1 - p) * (1 - q) ** (k - 1)) / k
        assert 0 <= m.reconstruction_rate() - exact < Fraction(1, 2**128)
        assert (m.reconstruction_rate() == exact) == (k <= 256)
    assert len(str(m.reconstruction_rate())) < 1000
    assert Fraction(1, MAX_VALUES) < form(MAX_VALUES, epsilon).reconstruction_rate() < 1


@pytest.mark.parametrize(("base", "exponent"), [(Fraction(2, 3), 100), (Fraction(0), 3), (Fraction(1), 9)])
def test_powers_are_rounded_down(base: Fraction, exponent: int) -> None:
    assert 0 <= base**exponent - power_below(base, exponent) < Fraction(1, 2**190)


M70 = dn.mechanism("sue", k=70, epsilon=1.0)

MALFORMED = [
    (np.array([3, 4], np.uint64), "rows of 2 words of 64 bits each, got shape (2,), uint64"),
    (np.zeros((1, 3), np.uint64), "rows of 2 words"),
    (np.zeros((1, 2)), "rows of 2 words of 64 bits each, got shape (1, 2), float64"),
    (np.array([[0, -1]]), "must not be negative, got -1"),
    (np.array([[0, 1], [5, 64]], np.uint64), "report at position 1 must have no bit set beyond bit 69"),
]


@pytest.mark.parametrize(("array", "says"), MALFORMED, ids=[says[:30] for _, says in MALFORMED])
def test_a_malformed_batch_is_refused(array: np.ndarray, says: str) -> None:
    with pytest.raises(dn.MalformedReport) as caught:
        M70.summarize(array)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("payload", "says"), [((0,), "rows of 2"), ((0, 64), "beyond bit 69"), (3, "rows of 2"), ((0, 2**64), "rows of 2")]
)
def test_a_malformed_report_is_not_encoded(payload: object, says: str) -> None:
    with pytest.raises(dn.MalformedReport, match=says):
        M70.encode(dn.Report(payload, M70.fingerprint))  # type: ignore[arg-type]
    with pytest.raises(dn.MalformedReport, match=says):
        M70.probability(payload, 0)  # type: ignore[arg-type]


def test_malformed_bytes_are_refused() -> None:
    with pytest.raises(dn.MalformedReport, match="must have 9 bytes, got 8"):
        M70.decode(bytes(8))
    with pytest.raises(dn.MalformedReport, match="no bit set beyond bit 69"):
        M70.decode(bytes(8) + b"\x40")


@pytest.mark.parametrize("counts", [[1] * 69, [1] * 69 + [3]])
def test_an_impossible_summary_is_refused(counts: list[int]) -> None:
    with pytest.raises(dn.MalformedSummary, match="70 counts of at most n = 2"):
        M70.estimate(dn.Summary(np.array(counts), 2, M70.fingerprint))
