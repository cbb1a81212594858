"""Projective Geometry Response: the geometry is one, the transform counts what it should, the paper's sizes hold."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.designs import geometries, singer
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import SIX, Vector

SEED = 5
PRIME_POWERS = [q for q in range(2, 400) if singer.prime_power(q)]
FIELDS = {t: [q for q in PRIME_POWERS if singer.points(q, t) <= 400] for t in range(2, 9)}  # by dimension
GEOMETRIES = [(q, t) for t, fields in FIELDS.items() for q in fields]

CASE = Case(
    "pgr",
    small=[
        {"k": 7, "epsilon": 0.5},
        {"k": 6, "epsilon": 1.0, "q": 2, "t": 3},
        {"k": 5, "epsilon": 2.0, "q": 2, "t": 3},
        {"k": 5, "epsilon": 3.0},
        {"k": 6, "epsilon": 0.5},
        {"k": 7, "epsilon": 1.0, "q": 2, "t": 3},
    ],
    refused=Refused(5, 8),
    vectors={
        "labels": Vector({"labels": SIX, "epsilon": 1.5, "q": 2, "t": 3}),
        "prime-power": Vector({"k": 80, "epsilon": 2.0, "q": 9, "t": 3}, [0, 1, 2, 40, 79, 79, 0, 5, 77, 13]),
    },
)


def difference_set(q: int, t: int) -> np.ndarray:
    return singer.elements(q, t)[: singer.points(q, t - 1)].astype(np.int64)


def test_prime_powers_are_told_from_other_numbers() -> None:
    assert [q for q in range(2, 33) if singer.prime_power(q)] == [
        *(2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32)
    ]
    assert singer.prime_power(2401) == (7, 4)


@pytest.mark.parametrize(
    ("p", "degree"), [(2, 1), (2, 2), (2, 3), (2, 8), (3, 1), (3, 2), (3, 5), (5, 3), (7, 2), (13, 2)]
)
def test_the_polynomial_is_the_first_whose_x_runs_through_all_residues(p: int, degree: int) -> None:
    def period(low: tuple[int, ...]) -> int:
        state = start = (1, *[0] * (degree - 1))
        for steps in range(1, p**degree):
            carry = state[-1]
            state = tuple((a - carry * c) % p for a, c in zip((0, *state[:-1]), low, strict=True))
            if state == start:
                return steps
        return 0

    in_order = (digits[::-1] for digits in itertools.product(range(p), repeat=degree))
    assert singer.primitive_polynomial(p, degree) == next(c for c in in_order if period(c) == p**degree - 1)


@pytest.mark.parametrize("t", FIELDS)
def test_every_difference_occurs_equally_often(t: int) -> None:
    for q in FIELDS[t]:
        modulus, members = singer.points(q, t), difference_set(q, t)
        assert sorted(singer.elements(q, t).tolist()) == list(range(modulus)), q
        occurrences = np.bincount((members[:, None] - members).reshape(-1) % modulus, minlength=modulus)
        # lambda = (q^(t-2) - 1)/(q - 1)
        assert occurrences.tolist() == [len(members)] + [singer.points(q, t - 2)] * (modulus - 1), q


@pytest.mark.parametrize(("q", "t"), [(q, t) for q, t in GEOMETRIES if singer.prime_power(q) == (q, 1) and t > 2])
def test_shifts_of_the_set_are_the_hyperplanes_of_the_geometry(q: int, t: int) -> None:
    # the points as vectors of a linear recurrence; three of them on a line depend on each other
    modulus, low = singer.points(q, t), singer.polynomial(q, t)
    vectors = [(1, *[0] * (t - 1))]
    while len(vectors) < modulus:
        carry = vectors[-1][-1]
        vectors.append(tuple((a - carry * c) % q for a, c in zip((0, *vectors[-1][:-1]), low, strict=True)))
    as_array = np.array(vectors)
    normals = [v for v in itertools.product(range(q), repeat=t) if next((c for c in v if c), 0) == 1]
    hyperplanes = {frozenset(np.flatnonzero(as_array @ normal % q == 0).tolist()) for normal in normals}
    shifts = {frozenset(((difference_set(q, t) + x) % modulus).tolist()) for x in range(modulus)}
    assert len(normals) == len(hyperplanes) == modulus
    assert shifts == hyperplanes


@pytest.mark.parametrize(("q", "t"), [(97, 4), (1024, 3), (2, 20)])
def test_large_sets_have_their_size_and_flat_spectrum(q: int, t: int) -> None:
    # |D^(m)|^2 = w - lambda for every m but 0 is the same as every difference occurring lambda times
    modulus, members = singer.points(q, t), difference_set(q, t)
    indicator = np.zeros(modulus)
    indicator[members] = 1
    assert indicator.sum() == singer.points(q, t - 1)
    power = np.abs(np.fft.rfft(indicator)[1:]) ** 2
    assert np.allclose(power, singer.points(q, t - 1) - singer.points(q, t - 2), rtol=1e-6)


@pytest.mark.parametrize("t", FIELDS)
def test_the_transform_counts_the_reports_on_every_hyperplane(t: int, seed: int) -> None:
    for q in FIELDS[t]:
        modulus, members = singer.points(q, t), difference_set(q, t)
        m = dn.ProjectiveGeometryResponse(modulus, 1.0, q=q, t=t)
        counts = np.random.default_rng(seed).integers(0, 2**40, modulus)
        summary = dn.Summary(counts, int(counts.sum()), m.fingerprint)
        wanted = [int(counts[(x + members) % modulus].sum()) for x in range(modulus)]
        assert m.support_counts(summary).tolist() == wanted, q


@pytest.mark.parametrize("t", [t for t in FIELDS if singer.points(2, t) <= 60])
def test_the_attack_rate_of_a_part_of_the_points_is_exact(t: int) -> None:
    for q in [q for q in FIELDS[t] if singer.points(q, t) <= 60]:
        modulus = singer.points(q, t)
        for k in {2, 3, modulus // 2, modulus - 1, modulus} - {0, 1}:
            m = dn.ProjectiveGeometryResponse(k, 1.0, q=q, t=t)
            contract.check_reconstruction_rate(m)


@pytest.mark.parametrize(("k", "q", "t"), [(13, 3, 3), (9, 3, 3), (21, 4, 3), (17, 2, 5), (40, 3, 4), (27, 27, 2)])
def test_other_small_geometries_are_exact_and_unbiased(k: int, q: int, t: int) -> None:
    contract.check_exact_and_unbiased(dn.ProjectiveGeometryResponse(k, 1.5, q=q, t=t), SEED)


def test_the_variance_is_the_paper_s() -> None:
    # alpha^2 r (1 - r) for a value nobody has, with the paper's alpha and r
    m = dn.ProjectiveGeometryResponse.choose(22_000, 2.0, rule="published")
    e, c_set, c_int, total = math.exp(2.0), 16105, 1464, 177156
    assert (m.sets.set_size, m.sets.modulus) == (c_set, total)
    p = 1 / ((e - 1) * c_set + total)
    r = p * ((e - 1) * c_int + c_set)
    alpha = ((e - 1) * c_set + total) / ((e - 1) * (c_set - c_int))
    assert m.variance(0.0) == pytest.approx(alpha**2 * r * (1 - r), rel=1e-9)
    assert m.variance(0.0) == pytest.approx(0.7407, rel=1e-3)
    assert m.variance(0.0) / (4 * e / (e - 1) ** 2) == pytest.approx(geometries.loss(e, 11, 6), rel=1e-9)


PUBLISHED = {2: (11, 6, 177156), 2.5: (17, 5, 88741), 3: (23, 5, 292561), 3.5: (37, 4, 52060), 4.5: (97, 4, 922180)}
CHOSEN = {1: (3, 10, 1.024), 2: (8, 6, 1.001), 3: (29, 4, 1.027), 4: (47, 4, 1.007), 4.5: (149, 3, 1.060)}


@pytest.mark.parametrize("epsilon", PUBLISHED)
def test_the_published_rule_gives_the_published_sizes(epsilon: float) -> None:
    m = dn.mechanism("pgr", k=22_000, epsilon=epsilon, rule="published")
    assert (m.q, m.t, m.sets.modulus) == PUBLISHED[epsilon]


@pytest.mark.parametrize("epsilon", CHOSEN)
def test_our_rule_weighs_error_against_points(epsilon: float) -> None:
    m = dn.mechanism("pgr", k=22_000, epsilon=epsilon)
    assert (m.q, m.t, round(geometries.loss(math.exp(epsilon), m.q, m.t), 3)) == CHOSEN[epsilon]
    assert m == dn.mechanism("pgr", k=22_000, epsilon=epsilon, rule="weighed")


@pytest.mark.parametrize("k", [2, 5, 21, 60, 500])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 6.0])
def test_no_geometry_has_a_lower_price(k: int, epsilon: float) -> None:
    def price(q: int, t: int) -> float:
        return geometries.loss(bound, q, t) + 0.02 * math.log2(singer.points(q, t) / k)

    bound = math.exp(epsilon)
    every = [(q, t) for q in range(2, 1100) if singer.prime_power(q) for t in range(2, 15)]
    within = [geometry for geometry in every if k <= singer.points(*geometry) <= 16 * k]
    assert price(*geometries.weighed(k, bound)) == pytest.approx(min(price(*geometry) for geometry in within))


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (100_000, 10.0), (10_000, 8.0)])
def test_a_domain_far_from_every_geometry_is_refused_with_what_would_work(k: int, epsilon: float) -> None:
    with pytest.raises(dn.InvalidArgument, match="Use csr"):
        dn.mechanism("pgr", k=k, epsilon=epsilon)


def test_a_geometry_may_be_asked_for_whatever_it_costs() -> None:
    assert dn.mechanism("pgr", k=2, epsilon=0.5, q=2, t=2).sets.modulus == 3
    assert dn.mechanism("pgr", k=100, epsilon=0.5, rule="published").sets.modulus == 121


@pytest.mark.parametrize(
    "arguments",
    [
        {"q": 6, "t": 3},
        {"q": 1, "t": 3},
        {"q": 2},
        {"t": 3},
        {"q": 2, "t": 2},
        {"q": 2, "t": 32},
        {"q": 2**31, "t": 2},
        {"q": 2.0, "t": 3},
        {"rule": "nearest"},
        {"rule": "published", "q": 2, "t": 3},
        {"q": 2, "t": 3, "polynomial": [1, 0, 1]},
        {"q": 2, "t": 3, "polynomial": 5},
    ],
    ids=str,
)
def test_a_geometry_that_does_not_exist_is_refused_in_one_line(arguments: dict[str, Any]) -> None:
    with pytest.raises(dn.InvalidArgument, match="must") as caught:
        dn.mechanism("pgr", k=5, epsilon=1.0, **arguments)
    assert "\n" not in str(caught.value)


def test_the_published_rule_is_refused_where_its_field_is_too_large() -> None:
    for epsilon in (22.0, 50.0):
        with pytest.raises(dn.InvalidArgument, match="weighed"):
            dn.mechanism("pgr", k=1000, epsilon=epsilon, rule="published")
    with pytest.raises(dn.InvalidArgument, match="weighed"):
        dn.mechanism("pgr", k=2**24, epsilon=11.0, rule="published")


def test_the_spec_names_the_geometry_and_its_numbering() -> None:
    m = dn.mechanism("pgr", k=22_000, epsilon=4.5)
    assert m.spec.parameters == {"epsilon": 4.5, "q": 149, "t": 3, "polynomial": [14, 1, 0]}
    assert dn.from_spec(m.spec.to_json()) == m
    published = dn.mechanism("pgr", k=22_000, epsilon=4.5, rule="published")
    assert dn.from_spec(published.spec.to_json()) == published


def test_a_million_users_are_estimated_within_their_error(seed: int) -> None:
    m = dn.mechanism("pgr", k=22_000, epsilon=2.0)
    true = (200_000 / np.arange(1, 22_001) ** 1.1).astype(np.int64)
    n = int(true.sum())
    estimate = m.estimate(m.summarize(m.privatize(np.repeat(np.arange(m.k), true), seed=seed)), "unbiased")
    squared = float(((estimate.frequencies - true / n) ** 2).mean())
    expected = float(np.mean([m.variance(f, n) for f in true[:50] / n]) * 50 + m.variance(0, n) * (m.k - 50)) / m.k
    assert squared == pytest.approx(expected, rel=6 * math.sqrt(2 / m.k) + 0.01)
