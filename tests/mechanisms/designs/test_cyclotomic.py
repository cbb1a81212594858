"""Cyclotomic Subset Response: its designs are balanced, its decoder is the inverse, its error the stated one."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.designs.cyclotomy import Cyclotomy
from deniable.mechanisms.numbers import is_prime, primitive_root
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import Vector, integers, numbered

SEED = 2718
PRIMES = [number for number in range(3, 200) if all(number % d for d in range(2, number))]
PART = Cyclotomy(modulus=31, classes=6, chosen=(0, 2), zero=True, cohorts=(0, 1), root=3)

# Two of the three cohorts modulo 7: a family that is not balanced.
PART_OF_A_FAMILY = {"modulus": 7, "classes": 3, "chosen": [0], "zero": False, "cohorts": [0, 1], "root": 3}
LABELS = numbered(11)
CASE = Case(
    "csr",
    small=[
        {"k": 7, "epsilon": 0.5},
        {"k": 6, "epsilon": 1.0},
        {"k": 6, "epsilon": 2.0},
        {"k": 7, "epsilon": 1.0, "sets": PART_OF_A_FAMILY},
        {"k": 8, "epsilon": 1.0, "padding": False},
        {"k": 7, "epsilon": 1.0},
        {"k": 11, "epsilon": 0.5},
    ],
    refused=Refused(8, 12),
    vectors={
        "labels": Vector({"labels": LABELS, "epsilon": 1.5}, [LABELS[0], LABELS[16], LABELS[32]] * 7),
        "part": Vector({"domain": integers(60), "epsilon": 2.0, "max_bits": 8}, [-3, 0, 5, 60, 2000, None]),
    },
)


def families(modulus: int) -> list[Cyclotomy]:
    """Every N with at most 128 cohorts, with one or about a third of the classes, with 0 and without."""
    found = []
    for classes in range(2, modulus):
        if (modulus - 1) % classes:
            continue
        odd = (modulus - 1) // classes % 2 == 1 and classes % 2 == 0
        cohorts = tuple(range(classes // 2 if odd else classes))
        if len(cohorts) <= 128:
            for chosen in {(0,), tuple(range(0, classes, 3))}:
                design = Cyclotomy(modulus, classes, chosen, False, cohorts, primitive_root(modulus))
                found += [design, replace(design, zero=True)]
    return found


def sets_of(design: Cyclotomy) -> list[np.ndarray]:
    base = design.elements[: design.set_size].astype(np.int64)
    return [base * multiplier % design.modulus for multiplier in design.multipliers]


def differences(design: Cyclotomy) -> np.ndarray:
    """How often each number is a difference of two elements of one set, over the sets of all cohorts."""
    count = np.zeros(design.modulus, np.int64)
    for one in sets_of(design):
        count += np.bincount((one[:, np.newaxis] - one).reshape(-1) % design.modulus, minlength=design.modulus)
    return count


@pytest.mark.parametrize("modulus", PRIMES)
def test_a_full_family_is_balanced_by_exact_count(modulus: int) -> None:
    for design in families(modulus):
        assert design.balanced
        count = differences(design)
        w, cohorts = design.set_size, len(design.cohorts)
        assert count[0] == cohorts * w
        assert set((count[1:] * (modulus - 1)).tolist()) == {cohorts * w * (w - 1)}


def test_a_part_of_a_family_is_not_called_balanced() -> None:
    assert not PART.balanced
    assert len(set(differences(PART)[1:].tolist())) > 1
    full = replace(PART, cohorts=(0, 1, 2))  # (31 - 1)/6 is odd: half of the classes
    assert full.balanced
    assert replace(full, cohorts=(0, 1, 5)).balanced  # 5 is opposite to 2
    assert not replace(full, cohorts=(0, 1, 4)).balanced  # 4 is opposite to 1
    assert len(set(differences(replace(full, cohorts=(0, 1, 5)))[1:].tolist())) == 1
    assert len(set(differences(replace(full, cohorts=(0, 1, 4)))[1:].tolist())) > 1


@pytest.mark.parametrize("modulus", [3, 7, 31, 61, 101])
def test_elements_lists_what_element_says_and_each_once(modulus: int) -> None:
    designs = [*families(modulus), Cyclotomy(modulus, 1, (), True, (0,), primitive_root(modulus))]
    for design in designs:
        listed = design.elements.tolist()
        assert listed == [design.power(place) for place in range(modulus)]
        assert listed == [design.element(place) for place in range(modulus)]
        assert sorted(listed) == list(range(modulus))


def test_roots_and_primes() -> None:
    assert [number for number in range(3, 200) if is_prime(number)] == PRIMES
    for modulus in PRIMES:
        root = primitive_root(modulus)
        assert len({pow(root, i, modulus) for i in range(modulus - 1)}) == modulus - 1


def response(k: int, epsilon: float, sets: Cyclotomy | None = None) -> dn.CyclotomicSubsetResponse:
    return dn.CyclotomicSubsetResponse(k, epsilon, sets=sets)  # type: ignore[arg-type]


def matrix(m: dn.CyclotomicSubsetResponse) -> np.ndarray:
    """C[x, (j, y)] for all x in Z_K, by the definition of the sets."""
    rows = np.full((m.sets.modulus, len(m.sets.multipliers), m.sets.modulus), float(m.cohorts * m.two_level.low))
    for j, one in enumerate(sets_of(m.sets)):
        for x in range(m.sets.modulus):
            rows[x, j, (x + one) % m.sets.modulus] = float(m.cohorts * m.two_level.high)
    return rows.reshape(m.sets.modulus, -1) / len(m.sets.multipliers)


def some_counts(m: dn.CyclotomicSubsetResponse) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, 50, m.symbols)


RESPONSES = [response(30, 1.0), response(31, 2.0), response(25, 1.0, PART), response(31, 3.0, PART)]


@pytest.mark.parametrize("m", RESPONSES, ids=str)
def test_decoding_is_the_dense_pseudo_inverse(m: dn.CyclotomicSubsetResponse) -> None:
    # on all of Z_K; every cohort is equally likely, so the weights of the normal equations are equal
    counts = some_counts(m)
    found = m.unbiased(dn.Summary(counts, int(counts.sum()), m.fingerprint))
    dense = np.linalg.pinv(matrix(m).T) @ (counts / counts.sum())
    np.testing.assert_allclose(found, dense[: m.k], atol=1e-10)


@pytest.mark.parametrize("m", RESPONSES, ids=str)
def test_the_operator_is_the_matrix(m: dn.CyclotomicSubsetResponse) -> None:
    contract.check_operator_is(m.operator(), matrix(m)[: m.k], SEED)


def test_large_counts_are_added_up_exactly() -> None:
    m = response(30, 1.0)
    counts = np.random.default_rng(SEED).integers(2**50, 2**51, m.symbols)
    rows = counts.reshape(-1, m.sets.modulus)
    wanted = [
        sum(int(rows[j, (x + d) % m.sets.modulus]) for j, one in enumerate(sets_of(m.sets)) for d in one.tolist())
        for x in range(m.k)
    ]
    assert m.family.support(counts).tolist() == wanted


def optimum(epsilon: float) -> float:
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0, 4.0, 5.0])
def test_the_loss_is_the_variance_over_the_optimum_and_close_to_one(epsilon: float) -> None:
    for k in (1000, 22_000):
        m = response(k, epsilon)
        assert m.sets.balanced
        assert m.loss <= 1.01
        assert m.loss == pytest.approx(m.variance(0.0, n=1) / optimum(epsilon), abs=2e-6)


@pytest.mark.parametrize(("k", "epsilon", "bits"), [(31, 2.0, 6), (1000, 3.0, 12), (1000, 4.0, 13)])
def test_the_loss_of_a_part_is_its_average_error(k: int, epsilon: float, bits: int) -> None:
    m = dn.CyclotomicSubsetResponse.choose(k, epsilon, max_bits=bits)
    whole = response(m.sets.modulus, epsilon, m.sets)  # the loss is an average over all of Z_K
    assert m.report_bits <= bits
    own, others = whole.variance(1.0), whole.variance(0.0)
    mean = (own + (whole.k - 1) * others) / whole.k
    # uniform data: the mean over values of the variance for f = 1/K, without what sampling adds
    noise = mean if m.sets.balanced else mean + 1 / whole.k * (1 - 1 / whole.k)
    assert m.loss == pytest.approx(noise / optimum(epsilon), rel=0.02)


@pytest.mark.parametrize("bits", [11, 12, 13])
def test_the_bound_on_bits_is_honoured(bits: int) -> None:
    m = dn.CyclotomicSubsetResponse.choose(1000, 3.0, max_bits=bits)
    assert m.report_bits <= bits
    assert m.loss <= {11: 1.08, 12: 1.05, 13: 1.01}[bits]


def test_too_few_bits_are_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="max_bits must be at least 10"):
        dn.CyclotomicSubsetResponse.choose(1000, 3.0, max_bits=9)


def test_the_simulated_error_is_the_stated_one() -> None:
    m, n, runs = response(1000, 2.0), 1000, 200
    rng = np.random.default_rng(SEED)
    truth = np.bincount(rng.integers(0, 1000, n), minlength=1000)
    errors = []
    for run in range(runs):
        estimate = m.unbiased(dn.simulate(m, truth, seed=SEED + run))
        errors.append(float(((estimate - truth / n) ** 2).mean()))
    wanted = float(np.mean([m.variance(f, n) for f in truth / n]))
    spread = float(np.std(errors, ddof=1)) / math.sqrt(runs)
    assert spread < 0.01 * wanted
    assert abs(np.mean(errors) - wanted) <= 6 * spread


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_padding_that_costs_much_is_refused_with_advice(epsilon: float) -> None:
    with pytest.raises(dn.InvalidArgument, match="Use grr"):
        response(2, epsilon)


GOOD = asdict(PART)
BAD_SETS: list[dict[str, Any]] = [
    {**GOOD, "modulus": 33},
    {**GOOD, "modulus": 23},
    {**GOOD, "modulus": 31.0},
    {**GOOD, "modulus": 2**31 + 11},
    {**GOOD, "classes": 7},
    {**GOOD, "classes": 0},
    {**GOOD, "classes": 31},
    {**GOOD, "root": 5},
    {**GOOD, "root": 11},  # a primitive root, but not the least
    {**GOOD, "chosen": [0, 6]},
    {**GOOD, "chosen": [2, 0]},
    {**GOOD, "chosen": [0, 0]},
    {**GOOD, "chosen": [-1]},
    {**GOOD, "chosen": ["0"]},
    {**GOOD, "chosen": [], "zero": False},
    {**GOOD, "chosen": [0, 1, 2, 3, 4, 5]},
    {**GOOD, "cohorts": []},
    {**GOOD, "cohorts": [6]},
    {**GOOD, "cohorts": [1, 0]},
    {**GOOD, "zero": 1},
    {name: value for name, value in GOOD.items() if name != "root"},
    {**GOOD, "colour": "blue"},
]


@pytest.mark.parametrize("sets", BAD_SETS, ids=str)
def test_sets_that_are_not_what_they_must_be_are_refused(sets: dict[str, Any]) -> None:
    with pytest.raises(dn.InvalidArgument) as caught:
        dn.mechanism("csr", k=25, epsilon=1.0, sets=sets)
    assert "\n" not in str(caught.value)
    spec = json.loads(response(25, 1.0, PART).spec.to_json())
    spec["parameters"]["sets"] = sets
    with pytest.raises((dn.SpecError, dn.InvalidArgument)):
        dn.from_spec(json.dumps(spec))


def test_good_sets_from_a_spec_are_taken() -> None:
    m = dn.mechanism("csr", k=25, epsilon=1.0, sets=json.loads(json.dumps(GOOD)))
    assert m == response(25, 1.0, PART)


@pytest.mark.parametrize("loss", [1.5, 0.0, "1", float("nan")])
def test_a_loss_that_does_not_follow_from_the_sets_is_refused(loss: object) -> None:
    with pytest.raises(dn.InvalidArgument, match=r"loss must be 1.*Leave it out"):
        dn.mechanism("csr", k=25, epsilon=1.0, sets=PART, loss=loss)


def test_the_loss_that_follows_is_taken() -> None:
    m = response(25, 1.0, PART)
    assert dn.mechanism("csr", k=25, epsilon=1.0, sets=PART, loss=m.loss) == m
