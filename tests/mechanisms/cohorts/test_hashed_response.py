"""Hashed randomised response: the paper's channel and errors, plain randomised response as a special case."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.kernels.cohorts import replace_hashed
from deniable.mechanisms.cohorts import errors
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import FOUR, OPEN, STRINGS, Vector
from tests.naive import cohorts as naive

SEED = 5
DESIGNS = [(6, 7, 2, 2), (5, 4, 3, 0), (7, 8, 3, 0), (12, 16, 5, 0), (20, 12, 4, 0)]  # k, cohorts, buckets, seed

MORE_STRINGS = [*STRINGS[:7], "e\u0301", "\u00e9", *STRINGS[7:]]
CASE = Case(
    "orr",
    small=[
        {"k": 3, "epsilon": 0.5, "cohorts": 1, "buckets": 3},
        {"k": 2, "epsilon": 3.0, "cohorts": 3, "buckets": 2},
        {"k": 6, "epsilon": 2.0, "cohorts": 7, "buckets": 2, "seed": 2},
        {"k": 5, "epsilon": 1.0, "cohorts": 4, "buckets": 3},
        {"k": 7, "epsilon": 1.0, "cohorts": 8, "buckets": 3},
    ],
    few=lambda _: {"cohorts": 16},
    refused=Refused(0, 3),
    vectors={
        "labels": Vector({"labels": FOUR, "epsilon": 1.5, "cohorts": 6, "buckets": 3}),
        "integers": Vector(
            {"k": 100, "epsilon": 3.0, "cohorts": 16, "buckets": 11, "seed": 2**32 - 1},
            [0, 1, 2, 7, 49, 50, 98, 99] * 3,
        ),
        "open": Vector(
            {"domain": OPEN, "epsilon": 2.0, "cohorts": 8, "buckets": 5, "candidates": 8, "seed": 3},
            (MORE_STRINGS * 2)[:22],
        ),
    },
)


def hashed(k: int, cohorts: int, buckets: int, seed: int = 0, epsilon: float = 1.5) -> dn.HashedResponse:
    return dn.HashedResponse(dn.Domain.of(k), epsilon, cohorts=cohorts, buckets=buckets, seed=seed)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_small_designs_are_exact_and_unbiased(design: tuple[int, int, int, int]) -> None:
    contract.check_exact_and_unbiased(hashed(*design), SEED)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_channel_is_the_paper_s(epsilon: float) -> None:
    # equation 15, up to the rounding of the threshold
    m, e = hashed(12, 16, 5, epsilon=epsilon), math.exp(epsilon)
    for value in range(12):
        for payload in m.layout.all():
            cohort, sent = divmod(payload, m.buckets)
            wanted = (e if m.functions.bucket(value, cohort) == sent else 1) / (m.cohorts * (e + m.buckets - 1))
            assert float(m.probability(payload, value)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_operator_is_the_channel(design: tuple[int, int, int, int], seed: int) -> None:
    contract.check_operator_is_the_channel(hashed(*design), seed)


def test_one_cohort_with_a_bucket_for_each_value_is_randomized_response(seed: int) -> None:
    # section 5.4: the same mechanism with permuted output symbols
    k = 9
    one, plain = hashed(k, 1, k, epsilon=1.2), dn.RandomizedResponse(k, 1.2)
    # the threshold of grr is lower by less than k, so that the other words fall into k equal shares
    assert 0 <= one.thresholds["truth"] - plain.thresholds["truth"] < k
    assert one.guarantee().epsilon == pytest.approx(plain.guarantee().epsilon, abs=1e-15)
    assert one.reconstruction_rate() == pytest.approx(plain.reconstruction_rate(), rel=1e-15)
    assert one.noise("users") == pytest.approx(plain.noise("users"), rel=1e-9)
    counts = np.random.default_rng(seed).integers(0, 1000, k)
    renamed = np.zeros_like(counts)
    renamed[[one.functions.bucket(value, 0) for value in range(k)]] = counts
    ours = dn.Summary(renamed, int(counts.sum()), one.fingerprint)
    theirs = dn.Summary(counts, int(counts.sum()), plain.fingerprint)
    for method in ("unbiased", "normalized", "projected", "mle"):
        found, wanted = one.estimate(ours, method), plain.estimate(theirs, method)
        assert np.allclose(found.frequencies, wanted.frequencies, atol=1e-9)
        assert np.allclose(found.std_error, wanted.std_error, rtol=1e-6)


SIZES = [(100, 64, 8), (200, 32, 16), (400, 32, 32), (300, 16, 64)]  # values, cohorts, buckets


def formula(epsilon: float, values: int, cohorts: int, buckets: int) -> float:
    """n Var = (e + k - 1)^2 / ((k - 1) (e - 1)^2 (1 - y)), y = S / (C (k - 1)), for random hashes."""
    e, y = math.exp(epsilon), values / (cohorts * (buckets - 1))
    return (e + buckets - 1) ** 2 / ((buckets - 1) * (e - 1) ** 2 * (1 - y))


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize(("values", "cohorts", "buckets"), SIZES)
def test_the_variance_of_strings_is_the_formula_s(epsilon: float, values: int, cohorts: int, buckets: int) -> None:
    domain = dn.Domain.open()
    m = dn.HashedResponse(domain, epsilon, cohorts=cohorts, buckets=buckets, candidates=values)
    design = m.functions.design(domain.indices([f"string {number}" for number in range(values)]), complete=False)
    found = m.unit() * cohorts * float(design.inverse_sums[0].mean())
    assert found == pytest.approx(formula(epsilon, values, cohorts, buckets), rel=0.04)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize(("values", "cohorts", "buckets"), SIZES)
def test_the_variance_of_permuted_values_is_smaller(epsilon: float, values: int, cohorts: int, buckets: int) -> None:
    # equally full buckets are projections; the mean inverse of a sum of C free ones is 1 - 1/C times that of random
    # hashes. Other values share a bucket less often than 1/k, so that a rare value's cells hold fewer reports
    m, e = hashed(values, cohorts, buckets, epsilon=epsilon), math.exp(epsilon)
    fewer = buckets * (1 + (e - 1) * (values / buckets - 1) / (values - 1)) / (e + buckets - 1)
    wanted = formula(epsilon, values - 1, cohorts, buckets) * (1 - 1 / cohorts)
    assert 0.97 * fewer * wanted < m.variance(0.0) < 1.01 * wanted


def test_cohorts_beat_plain_randomized_response_where_there_are_many_values() -> None:
    # the paper's figure 3(b), in the variance of a rare value: never worse, and far better at small epsilon
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        best = dn.mechanism("orr", k=256, epsilon=epsilon)
        assert best.variance(0.0) <= 1.05 * dn.mechanism("grr", k=256, epsilon=epsilon).variance(0.0)
    assert (
        dn.mechanism("orr", k=256, epsilon=1.0).variance(0.0) < 0.2 * dn.mechanism("grr", k=256, epsilon=1.0).variance()
    )


def test_exact_and_average_errors_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    exact, average = (hashed(300, 32, 32, epsilon=2.0) for _ in range(2))
    wanted = exact.noise("users")
    monkeypatch.setattr(errors, "_EXACT", 0)
    assert average.noise("users") == pytest.approx(wanted, rel=0.03)


def test_errors_per_value_agree_whether_or_not_they_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    # a value that shares buckets with a frequent one has a larger error, by the same amount either way
    m, other = (hashed(300, 32, 32, epsilon=2.0) for _ in range(2))
    summary = dn.simulate(m, [40_000, *[20] * 299], seed=1)
    exact = m.noise_of(m.evidence(summary), "users")[0]
    monkeypatch.setattr(errors, "_EXACT", 0)
    fitted = other.noise_of(other.evidence(summary), "users")[0]
    assert exact[1:].std() > 0.02 * exact[1:].mean()
    assert fitted[1:] == pytest.approx(exact[1:], rel=0.1)
    assert np.corrcoef(fitted[1:], exact[1:])[0, 1] > 0.9


@pytest.mark.parametrize("k", [2000, 80])
def test_many_users_are_estimated_within_their_error(k: int, seed: int) -> None:
    m = dn.mechanism("orr", k=k, epsilon=2.0, cohorts=128, buckets=64)
    true = (400_000 / np.arange(1, k + 1)).astype(np.int64) // 8
    n = int(true.sum())
    errors = [m.unbiased(dn.simulate(m, true, seed=seed + run)) - true / n for run in range(4)]
    expected = float(np.mean([m.variance(f, n) for f in true / n]))
    assert float(np.mean(np.square(errors))) == pytest.approx(expected, rel=6 * math.sqrt(2 / (4 * k)) + 0.03)


@pytest.mark.parametrize("method", ["mle", "projected"])
def test_constrained_estimates_are_better_on_skewed_data(method: str, seed: int) -> None:
    m = dn.mechanism("orr", k=300, epsilon=1.0)
    true = (40_000 / np.arange(1, 301) ** 1.5).astype(np.int64)
    summary = dn.simulate(m, true, seed=seed)
    plain, better = (m.estimate(summary, name).frequencies for name in ("unbiased", method))
    assert np.abs(better - true / true.sum()).sum() < 0.6 * np.abs(plain - true / true.sum()).sum()


def test_the_design_is_written_into_the_spec_and_read_back() -> None:
    m = dn.mechanism("orr", k=1000, epsilon=1.0)
    assert set(m.spec.parameters) == {"epsilon", "cohorts", "buckets", "candidates", "seed"}
    assert dn.from_spec(m.spec.to_json()) == m
    assert m.spec.parameters["candidates"] == 1000


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"cohorts": 0}, "cohorts must be a whole number from 1"),
        ({"buckets": 1}, "buckets must be a whole number from 2"),
        ({"buckets": 51}, "buckets must be a whole number from 2 to 50"),
        ({"cohorts": 2, "buckets": 8}, "cohorts must be about 14 for 50 values in 8 buckets"),
        ({"cohorts": 65536, "buckets": 2000}, "buckets must"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"candidates": 7}, "candidates must be a whole number from 50 to 50"),
        ({"cohorts": 1.5}, "cohorts must"),
    ],
    ids=str,
)
def test_designs_that_cannot_work_are_refused_in_one_line(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says) as caught:
        dn.mechanism("orr", k=50, epsilon=1.0, **arguments)
    assert "\n" not in str(caught.value)


def test_a_seed_whose_hashes_confuse_two_values_is_refused_with_what_to_do() -> None:
    with pytest.raises(dn.InvalidArgument, match=r"Use another seed or more cohorts"):
        [hashed(4, 2, 3, seed=seed) for seed in range(200)]


def test_a_report_of_a_cohort_that_does_not_exist_is_named() -> None:
    m = hashed(12, 16, 5)
    with pytest.raises(dn.MalformedReport, match=r"position 1 .* cohort from 0 to 15 of 5 buckets each$"):
        m.summarize(np.array([3, 84]))
    with pytest.raises(dn.MalformedReport, match="position 1 must lie from 0 to 79"):
        m.summarize(np.array([3, -1]))
    with pytest.raises(dn.MalformedReport, match="report must lie from 0 to 79, in a cohort from 0 to 15"):
        m.decode(b"\xff")


@pytest.mark.twin
@given(st.integers(1, 9), st.integers(2, 40), st.integers(0, 2**64 - 1), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_the_kernel_equals_its_slow_twin(cohorts: int, buckets: int, truth: int, permutes: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(buckets, 60)) if permutes else 0
    numbers = rng.integers(0, size if permutes else 2**61 - 1, 8)
    drawn = rng.integers(0, 2**64, 24, dtype=np.uint64)
    drawn[rng.random(24) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    rejections = rng.choice(np.array([0, 5, 2**61], np.uint64), 2)
    maps = [naive.affine_map(seed, cohort) for cohort in range(cohorts)]
    keys = [naive.round_words(seed, cohort) for cohort in range(cohorts)]
    if permutes:
        places = [naive.permutation(own, size) for own in keys]
        buckets_of = [[own[number] % buckets for number in numbers.tolist()] for own in places]
    else:
        buckets_of = [[naive.bucket(number, a, b, buckets) for number in numbers.tolist()] for a, b in maps]
    out, again = np.empty(8, np.uint32), np.empty(8, np.bool_)
    functions = np.array(maps, np.uint64), np.array(keys, np.uint32), np.uint64(size)
    bounds = np.array([cohorts, buckets], np.uint64)
    count = replace_hashed(numbers, drawn, *functions, bounds, rejections, np.uint64(truth), again, out)
    wanted = naive.replaced(
        numbers.tolist(), drawn.tolist(), buckets_of, [cohorts, buckets], rejections.tolist(), truth
    )
    assert (out.tolist(), again.tolist()) == wanted
    assert count == sum(wanted[1])
