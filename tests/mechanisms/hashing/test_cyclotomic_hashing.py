"""Cyclotomic Local Hashing: p and q are those of every pair, the decoder is the inverse, y follows from the id."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.designs.cyclotomy import class_table
from deniable.mechanisms.numbers import primitive_root
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import Vector, integers, numbered

SEED = 3141
PAIRS = [
    (modulus, classes)
    for modulus in (5, 7, 11, 13, 31, 37)
    for classes in range(2, modulus)
    if (modulus - 1) % classes == 0
]

LABELS = numbered(11)
CASE = Case(
    "clh",
    small=[
        {"k": 7, "epsilon": 0.5},
        {"k": 5, "epsilon": 1.0},
        {"k": 6, "epsilon": 2.0, "modulus": 7, "classes": 2},
        {"k": 7, "epsilon": 1.0},
        {"k": 11, "epsilon": 1.0},
    ],
    refused=Refused(41, 56),  # few moduli suit it, and in two settings only with too many counts
    public_bits=lambda m: (m.publics - 1).bit_length(),
    vectors={
        "labels": Vector({"labels": LABELS, "epsilon": 1.5}, [LABELS[0], LABELS[16], LABELS[32]] * 7),
        "integers": Vector({"domain": integers(60), "epsilon": 2.0}, [-3, 0, 5, 60, 2000, None]),
    },
)


def hashing(k: int, epsilon: float, modulus: int | None = None, classes: int | None = None) -> Any:
    return dn.CyclotomicLocalHashing(k, epsilon, modulus, classes)  # type: ignore[arg-type]


def naive_class(modulus: int, classes: int, number: int) -> int:
    """The discrete logarithm by trying, modulo N."""
    root = primitive_root(modulus)
    return next(i for i in range(modulus - 1) if pow(root, i, modulus) == number) % classes


@pytest.mark.parametrize(("modulus", "classes"), PAIRS)
def test_classes_are_discrete_logarithms(modulus: int, classes: int) -> None:
    m, table = hashing(modulus, 1.0, modulus, classes), class_table(modulus, classes)
    assert m.class_of(0) == table[0] == classes
    for number in range(1, modulus):
        assert m.class_of(number) == table[number] == naive_class(modulus, classes, number)


@pytest.mark.parametrize(("modulus", "classes"), [pair for pair in PAIRS if pair[0] <= 13])
def test_p_and_q_hold_for_every_pair_exactly(modulus: int, classes: int) -> None:
    m = hashing(modulus, 1.5, modulus, classes)
    supported: dict[int, set[int]] = {
        y * classes + a: {x for x in range(modulus) if x != y and naive_class(modulus, classes, (x - y) % modulus) == a}
        for y in range(modulus)
        for a in range(classes)
    }
    for own in range(modulus):
        chances = {payload: m.probability(payload, own) for payload in m.layout.all()}
        for other in range(modulus):
            total = sum((chance for payload, chance in chances.items() if other in supported[payload]), Fraction(0))
            assert total == (m.channel.p if other == own else m.channel.q)


@pytest.mark.parametrize(("k", "modulus", "classes"), [(2, 13, 6), (3, 13, 4), (5, 37, 12), (9, 31, 30), (30, 31, 5)])
def test_the_reconstruction_rate_is_that_of_brute_force(k: int, modulus: int, classes: int) -> None:
    contract.check_reconstruction_rate(hashing(k, 1.0, modulus, classes))


def matrix(m: Any) -> np.ndarray:
    return np.array([[float(m.probability(payload, x)) for payload in m.layout.all()] for x in range(m.k)])


@pytest.mark.parametrize("m", [hashing(31, 1.0), hashing(28, 2.0, 31, 6), hashing(37, 2.0, 37, 9)], ids=str)
def test_the_operator_is_the_matrix(m: Any) -> None:
    contract.check_operator_is(m.operator(), matrix(m), SEED)


@pytest.mark.parametrize("m", [hashing(31, 1.0), hashing(28, 2.0, 31, 6)], ids=str)
def test_decoding_inverts_the_dense_channel(m: Any) -> None:
    # the expected counts of any frequencies decode to these frequencies
    frequencies = np.random.default_rng(SEED).dirichlet(np.ones(m.k))
    says = np.array([m.unbiased(m.summarize(np.array([payload]))) for payload in m.layout.all()])
    np.testing.assert_allclose(frequencies @ matrix(m) @ says, frequencies, atol=1e-10)


def optimum(epsilon: float) -> float:
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


@pytest.mark.parametrize(("epsilon", "bits"), [(0.5, 2), (1.0, 2), (2.0, 3), (3.0, 5), (4.0, 6), (5.0, 8)])
def test_the_error_is_optimal_with_few_bits(epsilon: float, bits: int) -> None:
    m = hashing(22_000, epsilon)
    assert m.report_bits == bits
    assert m.loss <= 1.01
    assert m.loss == pytest.approx(m.variance(0.0) / optimum(epsilon), rel=1e-9)


def test_the_simulated_error_is_the_stated_one() -> None:
    m, n, runs = hashing(1000, 2.0), 1000, 200
    truth = np.bincount(np.random.default_rng(SEED).integers(0, 1000, n), minlength=1000)
    errors = [
        float(((m.unbiased(dn.simulate(m, truth, seed=SEED + run)) - truth / n) ** 2).mean()) for run in range(runs)
    ]
    wanted = float(np.mean([m.variance(f, n) for f in truth / n]))
    spread = float(np.std(errors, ddof=1)) / math.sqrt(runs)
    assert spread < 0.01 * wanted
    assert abs(np.mean(errors) - wanted) <= 6 * spread


def test_the_public_coin_is_the_documented_hash() -> None:
    m = dn.CyclotomicLocalHashing(1000, 2.0, salt="pepper")
    word = hashlib.sha256(hashlib.sha256(b"pepper").digest() + b"id 7" + bytes(4)).digest()[:8]
    assert m.public_coin(b"id 7") == int.from_bytes(word, "big") * m.modulus >> 64
    assert m.public_coin(b"id 7") != dn.CyclotomicLocalHashing(1000, 2.0, salt="salt").public_coin(b"id 7")


def test_the_public_coin_is_uniform() -> None:
    m = hashing(7, 1.0)
    observed = np.bincount([m.public_coin(i.to_bytes(4, "big")) for i in range(7000)], minlength=m.modulus)
    assert not contract.chi_square_rejects(observed, np.full(m.modulus, 7000 / m.modulus))


def test_a_class_survives_its_bytes_and_belongs_to_its_id() -> None:
    m = hashing(1000, 2.0)
    for i in range(50):
        report_id = f"report {i}".encode()
        report = m.privatize_for(i, report_id)
        data = m.encode_class(report, report_id)
        assert len(data) == 1
        assert m.decode_class(data, report_id) == report
    with pytest.raises(dn.MalformedReport, match="made under the id"):
        m.encode_class(report, b"another")
    for wrong in (b"", bytes([m.classes]), b"\0\0"):
        with pytest.raises(dn.MalformedReport):
            m.decode_class(wrong, report_id)
    with pytest.raises(dn.SimulatedReport):
        m.encode_class(m.privatize([1], seed=1)[0], report_id)


def test_reports_made_for_ids_follow_the_channel() -> None:
    m, n, value = hashing(7, 1.0), 30_000, 3
    observed = np.zeros(m.symbols)
    for i in range(n):
        observed[m.privatize_for(value, i.to_bytes(4, "big")).payload] += 1
    expected = n * np.array([float(m.probability(payload, value)) for payload in m.layout.all()])
    assert not contract.chi_square_rejects(observed, expected)


BAD: list[dict[str, Any]] = [
    {"modulus": 33, "classes": 4},
    {"modulus": 23, "classes": 2},
    {"modulus": 31, "classes": 4},
    {"modulus": 31, "classes": 1},
    {"modulus": 31, "classes": 31},
    {"modulus": 31},
    {"classes": 5},
    {"modulus": 31.0, "classes": 5},
    {"modulus": 1_000_003, "classes": 1_000_002},
    {"salt": 7},
]


@pytest.mark.parametrize("setting", BAD, ids=str)
def test_a_setting_that_cannot_be_served_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(dn.InvalidArgument) as caught:
        dn.mechanism("clh", k=25, epsilon=1.0, **setting)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (5, 3.0), (1000, 20.0)])
def test_domains_it_does_not_suit_are_refused_with_advice(k: int, epsilon: float) -> None:
    with pytest.raises(dn.InvalidArgument, match="Use csr or grr"):
        hashing(k, epsilon)


@pytest.mark.parametrize(("k", "epsilon"), [(2**17, 6.0), (2**20, 5.0), (2**20, 6.0), (2**24, 4.0)])
def test_domains_whose_estimates_would_take_long_are_refused_unless_classes_are_given(k: int, epsilon: float) -> None:
    with pytest.raises(dn.InvalidArgument, match=r"make estimates slow, got .* Use csr, pgr or grr, or give"):
        hashing(k, epsilon)
    assert "make estimates slow" in dn.compare(k=k, epsilon=epsilon, n=10**6).left_out["clh"]
    given = hashing(2**17, 6.0, modulus=131_221, classes=405)  # such as of a spec that was made before
    assert dn.from_spec(given.spec, limits=None) == given


@pytest.mark.parametrize(("k", "epsilon"), [(2**17, 4.0), (2**17, 5.0), (2**20, 3.0), (2**24, 1.0), (2**24, 2.0)])
def test_large_domains_get_as_many_classes_as_estimates_in_good_time_allow(k: int, epsilon: float) -> None:
    m = hashing(k, epsilon)
    assert m.symbols <= max(2**23, math.isqrt(2**29 * m.modulus))
    assert m.loss < 1.21
