"""Modular Subset Selection: the paper's numbers, its kernels and their twins."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations
from math import comb, exp, gcd, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.estimation.operators.residue_noise import EVERY, ResidueNoise
from deniable.estimation.operators.residues import ResidueSystem, identifies
from deniable.kernels import residues as kernels
from deniable.mechanisms import numbers
from deniable.mechanisms.subsets import moduli as search
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import WEEK, Vector
from tests.naive import residues as naive_residues

SEED = 3
words = st.integers(0, 2**64 - 1)
tuples = st.sampled_from([(2, 3), (3, 4, 5), (7,), (5, 7, 8), (2, 9, 11, 13)])

CASE = Case(
    "mss",
    small=[
        {"k": 3, "epsilon": 1.0},
        {"k": 5, "epsilon": 1.0, "moduli": [3, 4]},
        {"k": 7, "epsilon": 2.0, "moduli": [4, 5], "sizes": [2, 1]},
        {"k": 5, "epsilon": 1.0, "moduli": [3, 4], "sizes": [1, 2]},
        {"k": 6, "epsilon": 1.0, "moduli": [2, 3, 5]},
    ],
    refused=Refused(0, 11),  # 2^24 values
    summary_keeps_all=False,
    kind=lambda payload: payload[0],
    vectors={
        "labels": Vector({"labels": WEEK, "epsilon": 1.0, "moduli": [4, 5]}, as_strings=False),
        "primes": Vector(
            {"k": 100, "epsilon": 0.5, "moduli": [31, 37, 41, 67]}, [0, 1, 50, 98, 99] * 3, as_strings=False
        ),
    },
)


def small(k: int = 5, epsilon: float = 1.0) -> dn.ModularSubsetSelection:
    return dn.ModularSubsetSelection(k, epsilon, moduli=(3, 4))


def test_bits_are_those_of_the_cohort_and_of_the_largest_subset() -> None:
    m = dn.ModularSubsetSelection(1000, 1.0, moduli=(499, 503, 509))
    assert m.sizes == (134, 135, 137)
    assert m.report_bits == 2 + max(int(np.ceil(log2(comb(a, w)))) for a, w in zip(m.moduli, m.sizes, strict=True))


def test_the_channel_on_residues_is_the_papers() -> None:
    # p = e w/(e w + m - w), q = p (w - 1)/(m - 1) + (1 - p) w/(m - 1)
    e, m = exp(1.0), dn.ModularSubsetSelection(1000, 1.0, moduli=(499, 503, 509))
    for channel, a, w in zip(m.channels, m.moduli, m.sizes, strict=True):
        p = e * w / (e * w + a - w)
        assert float(channel.p) == pytest.approx(p, rel=1e-15)
        assert float(channel.q) == pytest.approx((p * (w - 1) + (1 - p) * w) / (a - 1), rel=1e-13)


def test_one_modulus_of_k_is_subset_selection() -> None:
    m, ss = dn.ModularSubsetSelection(6, 1.0, moduli=(6,)), dn.mechanism("ss", k=6, epsilon=1.0)
    assert m.channels == (ss.channel,)
    assert m.report_bits == ss.report_bits
    assert m.guarantee() == ss.guarantee()
    assert m.variance(0.3) == pytest.approx(ss.variance(0.3), rel=1e-12)


def test_moduli_identify_exactly_when_their_matrix_has_full_rank() -> None:
    for k in range(2, 12):
        for number in (1, 2, 3):
            for moduli in combinations(range(2, k + 1), number):
                if all(gcd(a, b) == 1 for a, b in combinations(moduli, 2)):
                    rank = np.linalg.matrix_rank(naive_residues.incidence(k, moduli))
                    assert identifies(k, moduli) == (rank == k)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_default_for_22000_values_has_a_small_error_for_half_the_bits(epsilon: float) -> None:
    m = dn.ModularSubsetSelection(22_000, epsilon)
    optimum = 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2
    assert m.variance(0.0) <= 1.2 * optimum
    assert m.report_bits <= 0.55 * dn.mechanism("ss", k=22_000, epsilon=epsilon).report_bits
    assert m.noise_accuracy() < 0.005


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"moduli": [3, 6]}, "3 and 6 are not"),
    ({"moduli": [2, 3]}, "identify 8 values"),
    ({"moduli": []}, "identify 8 values"),
    ({"moduli": [3, 11]}, "from 2 to 8"),
    ({"moduli": [1, 8]}, "from 2 to 8"),
    ({"moduli": "57"}, "list of whole numbers"),
    ({"moduli": 7}, "list of whole numbers"),
    ({"moduli": [7, 8], "sizes": [1]}, "one size for each of 2 moduli"),
    ({"moduli": [7, 8], "sizes": [7, 1]}, "from 1 to 6"),
    ({"moduli": [7, 8], "sizes": 1}, "list of whole numbers"),
    ({"max_bits": 1}, "max_bits must be larger"),
    ({"max_bits": 0}, "max_bits must be a whole number"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=str)
def test_moduli_that_do_not_serve_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.mechanism("mss", k=8, epsilon=1.0, **arguments)


def test_domains_too_large_for_its_reports_are_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="those of csr do not"):
        dn.mechanism("mss", k=2**20 + 1, epsilon=1.0)


def test_a_budget_of_bits_is_kept_and_more_bits_mean_less_error() -> None:
    bound = exponential_below(1.0)
    errors = []
    for bits in (300, 400, 600):
        m = dn.mechanism("mss", k=1000, epsilon=1.0, max_bits=bits)
        assert m.report_bits <= bits
        errors.append(search.error(1000, m.moduli, bound))
    assert errors == sorted(errors, reverse=True)


@pytest.mark.twin
@given(st.integers(2, 40), tuples, st.integers(0, 2**32))
@settings(max_examples=60)
def test_fold_tile_and_gram(k: int, moduli: tuple[int, ...], seed: int) -> None:
    k = max(k, *moduli)
    rng = np.random.default_rng(seed)
    system = ResidueSystem(k, moduli, tuple(rng.random(len(moduli)) + 0.1))
    matrix, weights = naive_residues.incidence(k, moduli), np.repeat(system.weights, moduli)
    vector, residues = rng.standard_normal(k), rng.standard_normal(sum(moduli))
    np.testing.assert_allclose(system.fold(vector), matrix @ vector, atol=1e-12)
    np.testing.assert_allclose(system.tile(residues), matrix.T @ (weights * residues), atol=1e-12)
    np.testing.assert_allclose(system.matrix(), matrix.T @ (weights[:, np.newaxis] * matrix), atol=1e-12)
    np.testing.assert_allclose(system.gram(vector, 0.5), system.matrix() @ vector + 0.5 * vector, atol=1e-11)


@pytest.mark.twin
@given(tuples, st.integers(0, 2**32), st.sampled_from([0.0, 0.3]))
@settings(max_examples=40)
def test_solve_gram(moduli: tuple[int, ...], seed: int, ridge: float) -> None:
    k = max(moduli)  # which they identify
    rng = np.random.default_rng(seed)
    system = ResidueSystem(k, moduli, tuple(rng.random(len(moduli)) + 0.5))
    wanted = rng.standard_normal(k)
    found, steps = system.solve(wanted, ridge)
    np.testing.assert_allclose(found, np.linalg.solve(system.matrix() + ridge * np.eye(k), wanted), atol=1e-9)
    assert steps <= 4 * k + 10


def test_the_mean_inverse_of_a_large_system_is_that_of_its_matrix() -> None:
    system = ResidueSystem(400, (199, 211, 223, 227), (1.0, 1.0, 0.9, 1.1))
    values = np.linalg.eigvalsh(system.matrix())
    assert system.mean_inverse() == pytest.approx(float((1 / values).mean()), rel=0.1)


def test_a_sample_of_values_states_the_average_variance() -> None:
    m = dn.ModularSubsetSelection(EVERY + 100, 2.0)
    own, others = ResidueNoise(m.system, m._residue_channels).of_values(np.arange(m.k))
    stated = m.noise("users")
    assert stated[0] == pytest.approx(others.mean(), rel=5 * m.noise_accuracy() + 1e-6)
    assert stated[0] + stated[1] == pytest.approx(own.mean(), rel=5 * m.noise_accuracy() + 1e-6)
    assert 0 < m.noise_accuracy() < 0.01


def test_values_at_equal_distances_from_both_ends_have_the_same_variance() -> None:
    m = dn.ModularSubsetSelection(EVERY + 61, 1.0)
    own, others = m._noise.of_values(np.array([3, 200, m.k - 201, m.k - 4]))
    np.testing.assert_allclose(own[:2], own[:1:-1], rtol=1e-4)
    np.testing.assert_allclose(others[:2], others[:1:-1], rtol=1e-4)


def test_estimates_of_many_values_end_within_a_hundredth_of_their_standard_errors_of_least_squares() -> None:
    m = dn.ModularSubsetSelection(3000, 1.0)
    summary = m.summarize(m.privatize(np.arange(3000) % 1000, seed=SEED))
    exact, _ = m.system.solve(m.system.tile(m.residue_frequencies(summary)))
    moved = (m.unbiased(summary) - exact) / np.sqrt(m.variance(n=3000))
    assert 0 < np.sqrt((moved**2).mean()) < 0.01
    assert np.abs(moved).max() < 0.03


def test_the_frequencies_of_the_residues_of_each_modulus_sum_to_one() -> None:
    m = dn.ModularSubsetSelection(100, 1.0)
    residues = m.residue_frequencies(m.summarize(m.privatize(np.arange(100), seed=SEED)))
    assert [part.sum() for part in m.system.blocks(residues)] == pytest.approx([1.0] * m.cohorts, abs=1e-12)


def test_the_large_simulation_has_the_summarys_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["deniable.mechanisms.subsets.modular_subset"], "_FEW_WORDS", 0)
    contract.check_simulation_follows_channel(small(), SEED)
    m = dn.ModularSubsetSelection(50, 1.0)
    m.check_summary(dn.simulate(m, np.full(50, 1000), seed=SEED))


@pytest.mark.twin
@given(st.data(), tuples)
@settings(max_examples=60)
def test_select_residues(data: st.DataObject, moduli: tuple[int, ...]) -> None:
    sizes = tuple(data.draw(st.integers(1, m - 1)) for m in moduli)
    truths = [data.draw(words) for _ in moduli]
    values = data.draw(st.lists(st.integers(0, 60), min_size=1, max_size=12))
    stride = 2 + max(sizes)
    drawn = data.draw(st.lists(words, min_size=stride * len(values), max_size=stride * len(values)))
    bound = data.draw(st.sampled_from([0, 5, 2**61]))
    rejections = np.full((len(moduli), max(sizes)), bound, np.uint64)
    again, out = np.empty(len(values), np.bool_), np.empty((len(values), 2), np.uint64)
    arrays = np.array(moduli), np.array(sizes), np.array(truths, np.uint64)
    with np.errstate(over="ignore"):  # without the compiler, NumPy reports products that wrap around on purpose
        given_words = np.array(drawn, np.uint64)
        count = kernels.select_residues(
            np.array(values), given_words, stride, *arrays, np.uint64(bound), rejections, again, out
        )
    wanted = naive_residues.select_residues(values, drawn, moduli, sizes, truths, bound, rejections.tolist())
    found = [(int(row[0]), {r for r in range(64) if int(row[1]) >> r & 1}) for row in out]
    assert (found, again.tolist()) == wanted
    assert count == again.sum()


@pytest.mark.twin
def test_cohorts_are_uniform_over_all_words_of_the_cohort() -> None:
    m = contract.coarse(dn.ModularSubsetSelection(6, 1.0, moduli=(2, 3, 5)), 8)
    first = np.arange(256, dtype=np.uint64) << np.uint64(56)
    rows = np.full((256, m.stride), 2**64 - 2**56, np.uint64)  # the last word is never rejected
    rows[:, 0] = first
    out = m.layout.empty(256)
    with np.errstate(over="ignore"):
        again = m.randomize(np.zeros(256, np.int64), rows.reshape(-1), out)
    assert np.bincount(np.delete(out, again, axis=0)[:, 0].astype(int)).tolist() == [85, 85, 85]


@pytest.mark.parametrize("row", [[2, 1], [0, 0b1000], [0, 0b11], [0, 0], [1, 0b10000], [-1, 1]], ids=str)
def test_a_report_no_client_makes_is_refused(row: list[int]) -> None:
    with pytest.raises(dn.MalformedReport):
        small().summarize(np.array([row]))


@pytest.mark.parametrize("place", range(9))
def test_a_summary_that_does_not_add_up_is_refused(place: int) -> None:
    m = small()
    summary = m.summarize(m.privatize([0, 1, 2, 3, 4] * 10, seed=SEED))
    counts = summary.counts.copy()
    counts[place] += 1
    with pytest.raises(dn.MalformedSummary):
        m.estimate(dn.Summary(counts, summary.n, m.fingerprint))


def test_moduli_for_many_values_are_found_without_large_binomials(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = numbers.binomial

    def recording(k: int, w: int) -> int:
        made.append(w)
        return real(k, w)

    monkeypatch.setattr(numbers, "binomial", recording)
    monkeypatch.setattr(search, "binomial", recording, raising=False)  # where it is imported by name
    search.search.cache_clear()
    assert search.search(2**17, Fraction(3)) is not None
    assert sum(w > 1000 for w in made) <= 3  # a logarithm tells the bits of nearly all; each would take long
