"""O-RAPPOR and the count mean sketch: the papers' channels and errors, special cases, kept reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.cohorts import errors, flipped_filters
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import FOUR, STRINGS, Vector
from tests.contract.vectors import OPEN as PAGES
from tests.mechanisms.cohorts.words import draws, filter_words

OPEN = dn.Domain.open()

CASES = [
    Case(
        "orappor",
        small=[
            {"k": 3, "epsilon": 3.0},
            {"k": 5, "epsilon": 3.0, "cohorts": 3, "buckets": 3, "hashes": 2},
            {"k": 4, "epsilon": 5.0, "cohorts": 2, "buckets": 4, "hashes": 2},
            {"k": 5, "epsilon": 2.0, "cohorts": 4, "buckets": 3},
            {"k": 2, "epsilon": 1.0, "cohorts": 3, "buckets": 2},
        ],
        few=lambda _: {"cohorts": 3},
        largest=8,
        refused=Refused(0, 4),
        summary_keeps_all=False,
        words=filter_words,
        draws=draws,
        vectors={
            "labels": Vector({"labels": FOUR, "epsilon": 3.0, "cohorts": 5, "buckets": 3}, FOUR * 3),
            "open": Vector(
                {"domain": PAGES, "epsilon": 4.0, "cohorts": 6, "buckets": 70, "hashes": 2, "candidates": 8, "seed": 3},
                STRINGS * 2,
            ),
        },
    ),
    Case(
        "cms",
        small=[
            {"k": 3, "epsilon": 1.0, "cohorts": 5, "buckets": 2},
            {"k": 2, "epsilon": 3.0, "cohorts": 3, "buckets": 3},
            {"k": 5, "epsilon": 2.0, "cohorts": 4, "buckets": 3},
            {"k": 4, "epsilon": 3.0, "cohorts": 2, "buckets": 4, "seed": 1},
        ],
        few=lambda _: {"cohorts": 4, "buckets": 4},
        largest=8,
        refused=Refused(11, 15),  # hashes that collide; 2^24 values; coins of 32 bits
        summary_keeps_all=False,
        words=filter_words,
        draws=draws,
        vectors={
            "labels": Vector({"labels": FOUR, "epsilon": 2.0, "cohorts": 5, "buckets": 6}, FOUR * 3),
            "open": Vector(
                {"domain": PAGES, "epsilon": 2.0, "cohorts": 7, "buckets": 64, "candidates": 8, "seed": 3}, STRINGS * 2
            ),
        },
    ),
]


@pytest.mark.parametrize("name", ["orappor", "cms"])
def test_one_hash_flips_bits_as_the_papers_say(name: str) -> None:
    # Kairouz, Bonawitz, Ramage 2016, section 5.2, and Apple 2017: a bit is flipped with 1/(1 + e^(epsilon/2))
    m = dn.mechanism(name, domain=OPEN, epsilon=3.0, cohorts=8, buckets=16, candidates=8)
    assert float(m.flip) == pytest.approx(1 / (1 + math.exp(1.5)), abs=2**-32)
    assert m.flip > 1 / (1 + math.exp(1.5))
    assert m.guarantee().ratio == (1 / m.flip - 1) ** 2


@pytest.mark.parametrize("hashes", [1, 2, 4])
def test_filters_of_several_hashes_share_epsilon(hashes: int) -> None:
    # Erlingsson, Pihur, Korolova 2014, theorem 1: epsilon = 2 h ln((1 - f/2)/(f/2)), f/2 the chance of a flip
    m = dn.mechanism("orappor", domain=OPEN, epsilon=3.0, cohorts=8, buckets=32, candidates=8, hashes=hashes)
    half = float(m.flip)
    assert 2 * hashes * math.log((1 - half) / half) == pytest.approx(3.0, abs=1e-7)
    assert m.guarantee().ratio == (1 / m.flip - 1) ** (2 * hashes)
    assert m.guarantee().slack >= 0


def test_an_open_report_has_the_probability_of_its_flips() -> None:
    m = dn.mechanism("orappor", domain=OPEN, epsilon=3.0, cohorts=8, buckets=70, candidates=8, hashes=2)
    cohort, q = 5, m.flip
    own = m.filter(m.domain.index("cat"), cohort)
    assert own.bit_count() == len({m.functions.bucket(m.domain.index("cat"), cohort, place) for place in (0, 1)})
    for flips in (0, 1, 1 << 69, (1 << 70) - 1):
        times = flips.bit_count()
        wanted = q**times * (1 - q) ** (70 - times) / 8
        assert m.probability(m.layout.row(cohort, own ^ flips), "cat") == wanted


def test_one_cohort_with_a_bucket_for_each_value_is_symmetric_unary_encoding(seed: int) -> None:
    # section 5.4: the same bits, permuted
    k = 9
    one = dn.mechanism("orappor", k=k, epsilon=2.0, cohorts=1, buckets=k)
    plain = dn.mechanism("sue", k=k, epsilon=2.0)
    assert one.guarantee() == plain.guarantee()
    assert one.reconstruction_rate() == plain.reconstruction_rate()
    assert one.report_bits == plain.report_bits == k
    counts = dn.simulate(plain, np.arange(1, k + 1) * 1000, seed=seed).counts
    moved = np.empty_like(counts)
    moved[[one.functions.bucket(value, 0) for value in range(k)]] = counts
    n = 45_000
    ours = one.unbiased(dn.Summary(np.append(n, moved), n, one.fingerprint))
    theirs = plain.unbiased(dn.Summary(counts, n, plain.fingerprint))
    # all bits have some noise in common; what is known to add up to 1 does, and the rest is the same
    assert np.allclose(ours, theirs - (theirs.sum() - 1) / k, atol=1e-12)
    assert one.variance() == pytest.approx(plain.variance() * (1 - 1 / k), rel=1e-9)


@pytest.mark.parametrize(("values", "cohorts", "buckets", "hashes"), [(200, 32, 32, 1), (300, 64, 32, 2)])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_error_is_the_formula_s(epsilon: float, values: int, cohorts: int, buckets: int, hashes: int) -> None:
    sizes = {"cohorts": cohorts, "buckets": buckets, "candidates": values, "hashes": hashes}
    m = dn.mechanism("orappor", domain=OPEN, epsilon=epsilon, **sizes)
    design = m.functions.design(OPEN.indices([f"string {number}" for number in range(values)]), complete=False)
    found = m.unit() * cohorts * float(design.inverse_sums[0].mean())
    s, r = math.exp(epsilon / (2 * hashes)), 1 - (1 - 1 / buckets) ** hashes
    spread = r * (1 - r) * (buckets / (buckets - 1) if hashes == 1 else 1)
    y = values / (cohorts * (buckets - (hashes == 1)))
    wanted = (s / (s - 1) ** 2 + spread) / (buckets * r * (1 - r) * (1 - y))
    assert found == pytest.approx(wanted, rel=0.05)
    assert m.unit() == pytest.approx(m.cell_noise(math.exp(epsilon), buckets, hashes), rel=1e-6)


@pytest.mark.parametrize("name", ["orappor", "cms"])
def test_exact_and_average_errors_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact, average = (dn.mechanism(name, k=200, epsilon=4.0, cohorts=32, buckets=32) for _ in range(2))
    wanted = exact.noise("users")
    monkeypatch.setattr(errors, "_EXACT", 0)
    others, own, _ = average.noise("users")
    assert others == pytest.approx(wanted[0], rel=0.03)
    assert own == 0
    assert 0.97 * (wanted[0] + wanted[1]) < others  # own users add no more than others do


def test_the_largest_distance_is_that_of_the_filters_there_are() -> None:
    small = dn.mechanism("orappor", k=3, epsilon=3.0, cohorts=4, buckets=3, hashes=2)
    filters = [[small.filter(value, cohort) for value in range(3)] for cohort in range(4)]
    assert small.distance == max((a ^ b).bit_count() for row in filters for a in row for b in row)
    many = dn.mechanism("orappor", k=2000, epsilon=3.0, hashes=2)
    assert many.distance == 4
    assert many.guarantee().slack >= 0


@pytest.mark.parametrize("cohorts", [2, 3])
def test_the_attack_rate_is_exact_or_no_less(cohorts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism("orappor", k=4, epsilon=3.0, cohorts=cohorts, buckets=4, hashes=2, seed=3)
    contract.check_reconstruction_rate(m)
    exact = m.reconstruction_rate()
    monkeypatch.setattr(flipped_filters, "_GUESSES", 0)
    assert exact < m.reconstruction_rate() == m.ratio() / (m.ratio() + 3)


def test_the_likelihood_of_kept_reports_beats_projection_on_skewed_data(seed: int) -> None:
    m = dn.mechanism("orappor", k=60, epsilon=2.0, cohorts=8, buckets=30)
    true = (20_000 / np.arange(1, 61) ** 1.5).astype(np.int64)
    reports = m.privatize(np.repeat(np.arange(60), true), seed=seed)
    errors = {
        method: np.abs(m.estimate(reports, method).frequencies - true / true.sum()).sum()
        for method in ("mle-reports", "projected", "unbiased")
    }
    assert errors["mle-reports"] < 1.05 * errors["projected"] < errors["unbiased"]


def test_kept_reports_have_the_likelihood_of_the_channel(seed: int) -> None:
    m = dn.mechanism("cms", k=4, epsilon=2.0, cohorts=3, buckets=5)
    data = m.privatize(np.arange(4).repeat(10), seed=seed).data
    operator = m.reports_operator(data)
    assert operator is not None
    matrix = np.array([[float(m._probability(tuple(row), x)) for row in data.tolist()] for x in range(4)])
    matrix /= np.array([operator.forward(np.eye(4)[0])]) ** -1 * matrix[0]  # up to a factor for each report
    rng = np.random.default_rng(seed)
    weights, scores = rng.random(4), rng.random(40)
    assert np.allclose(operator.forward(weights), weights @ matrix, rtol=1e-9)
    assert np.allclose(operator.adjoint(scores), matrix @ scores, rtol=1e-9)
    assert np.allclose(operator.adjoint_squared(scores), matrix**2 @ scores, rtol=1e-9)


def test_several_hashes_have_no_likelihood_from_reports() -> None:
    m = dn.mechanism("orappor", k=5, epsilon=3.0, cohorts=4, buckets=3, hashes=2)
    with pytest.raises(dn.InvalidArgument, match="no likelihood"):
        m.estimate(m.privatize([0, 1, 2], seed=1), "mle-reports")


@pytest.mark.parametrize("name", ["cms", "hcms"])
def test_the_published_estimate_of_a_sketch(name: str, seed: int) -> None:
    m = dn.mechanism(name, k=40, epsilon=2.0, cohorts=16, buckets=32)
    summary = dn.simulate(m, np.arange(1, 41) * 100, seed=seed)
    shares, _ = m.shares(summary)
    width = m.buckets
    # Apple 2017: (m/(m - 1)) (mean over hash functions of the sketch - n/m), whose rows are k' times ours
    wanted = [
        width / (width - 1) * (sum(shares[j, m.functions.bucket(d, j)] for j in range(m.cohorts)) - 1 / width)
        for d in range(40)
    ]
    found = m.estimate(summary, "sketch")
    assert np.allclose(found.frequencies, wanted, atol=1e-12)
    assert (found.unbiased, m.estimate(summary, "unbiased").unbiased) == (False, True)


@pytest.mark.parametrize("name", ["cms", "hcms"])
def test_a_sketch_confuses_values_that_share_buckets_and_least_squares_does_not(name: str) -> None:
    # in the mean over all reports of users with value 0, for hash functions that were chosen
    m = dn.mechanism(name, k=5, epsilon=2.0, cohorts=4, buckets=4)
    possible = list(m.layout.all())
    chances = np.array([float(m.probability(payload, 0)) for payload in possible])
    said: dict[str, Any] = {}
    for method in ("sketch", "unbiased"):
        rows = [m.estimate(m.summarize(contract.payload_array(m, [one])), method).frequencies for one in possible]
        said[method] = chances @ np.array(rows)
    shared = [sum(m.functions.bucket(0, j) == m.functions.bucket(d, j) for j in range(4)) / 4 for d in range(5)]
    assert np.allclose(said["unbiased"], np.eye(5)[0], atol=1e-9)
    assert np.allclose(said["sketch"], (np.array(shared) - 1 / 4) * 4 / 3, atol=1e-9)
    assert np.abs(said["sketch"][1:]).max() > 0.05
