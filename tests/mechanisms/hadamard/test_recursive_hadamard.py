"""Recursive Hadamard Response: one row in public, a block and a sign in private, and the error of Hadamard Response."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.contract import checks as contract
from tests.contract.cases import Case
from tests.contract.vectors import TEN, Vector, integers
from tests.naive.hadamard import sign

SEED = 7
# (k, bits): one bit, all bits, and in between; full blocks, and some with one value or none
SHAPES = [
    (2, 1),
    (3, 1),
    (4, 1),
    (5, 1),
    (8, 1),
    (13, 1),
    (3, 2),
    (4, 2),
    (7, 2),
    (5, 3),
    (8, 3),
    (13, 2),
    (9, 4),
    (20, 3),
]

CASE = Case(
    "rhr",
    small=[
        {"k": 2, "epsilon": 0.5},
        {"k": 3, "epsilon": 1.0},
        {"k": 5, "epsilon": 2.0, "bits": 3},
        {"k": 7, "epsilon": 3.0},
        {"k": 6, "epsilon": 1.0, "bits": 2},
        {"k": 8, "epsilon": 1.0},
    ],
    public_bits=lambda m: (m.publics - 1).bit_length(),
    vectors={
        "labels": Vector({"labels": TEN, "epsilon": 1.0}),
        "bits": Vector({"domain": integers(1000), "epsilon": 3.0, "bits": 4}, [-3, 0, 5, 1000, 2000, None] * 3),
    },
)


def response(k: int, bits: int | None = None, epsilon: float = 1.5) -> dn.RecursiveHadamardResponse:
    return dn.RecursiveHadamardResponse(k, epsilon, bits=bits)  # type: ignore[arg-type]


def own_class(m: dn.RecursiveHadamardResponse, value: int, row: int) -> int:
    """Block and sign, written out: + before -."""
    return 2 * (value % m.blocks) + (sign(row, value // m.blocks) == -1)


def reports(m: dn.RecursiveHadamardResponse) -> list[tuple[int, int, int]]:
    """Row, block and sign of every payload in order."""
    return [(r, b, s) for r in range(1, m.length) for b in range(m.blocks) for s in (1, -1)]


def optimum(epsilon: float) -> float:
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_small_matrices_are_exact_and_unbiased(shape: tuple[int, int]) -> None:
    contract.check_exact_and_unbiased(response(*shape), SEED)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_likeliest_class_is_the_value_s_own_in_every_row(shape: tuple[int, int]) -> None:
    m = response(*shape)
    high = max(m._probability(y, 0) for y in m.layout.all())
    for value in range(m.k):
        wanted = [(r - 1) * m.classes + own_class(m, value, r) for r in range(1, m.length)]
        assert [y for y in m.layout.all() if m._probability(y, value) == high] == wanted


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_report_adds_one_to_its_own_value_and_nothing_to_others_exactly(shape: tuple[int, int]) -> None:
    # in fractions, from the channel alone; and the three variances likewise
    m = contract.coarse(response(*shape), 9)
    assert isinstance(m, dn.RecursiveHadamardResponse)
    alpha, beta, gamma = m.agreement.weights
    own, near, far = m.agreement.variances
    for x in range(min(m.k, 6)):
        adds = [(alpha * s * sign(r, x // m.blocks) + beta) * (b == x % m.blocks) + gamma for r, b, s in reports(m)]
        for user in range(m.k):
            chances = [m._probability(y, user) for y in m.layout.all()]
            mean = sum(a * c for a, c in zip(adds, chances, strict=True))
            variance = sum(a * a * c for a, c in zip(adds, chances, strict=True)) - mean**2
            assert mean == (user == x)
            assert variance == (own if user == x else near if (user - x) % m.blocks == 0 else far)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_transforms_add_up_signs(shape: tuple[int, int], seed: int) -> None:
    m = response(*shape)
    counts = np.random.default_rng(seed).integers(0, 2**50, m.symbols)
    summary = dn.Summary(counts, int(counts.sum()), m.fingerprint)
    signed, within = m.signed_counts(summary), m.block_counts(summary)
    for x in range(m.k):
        own = [
            (count, s * sign(r, x // m.blocks))
            for count, (r, b, s) in zip(counts.tolist(), reports(m), strict=True)
            if b == x % m.blocks
        ]
        assert within[x] == sum(count for count, _ in own)
        assert signed[x] == sum(count * agrees for count, agrees in own)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_operator_is_the_channel(shape: tuple[int, int], seed: int) -> None:
    contract.check_operator_is_the_channel(response(*shape), seed)


def test_with_all_its_bits_it_is_randomised_response() -> None:
    # one row, and a class for each of 8 values
    m, plain = response(8, 3), dn.RandomizedResponse(8, 1.5)
    assert (m.publics, m.classes) == (1, 8)
    assert m.noise("users") == pytest.approx(plain.noise("users"), rel=1e-9)
    assert float(m.reconstruction_rate()) == pytest.approx(float(plain.reconstruction_rate()), rel=1e-15)


@pytest.mark.parametrize(("k", "bits"), [(2, 1), (13, 1), (7, 2)])
def test_it_is_pure_with_one_bit_only(k: int, bits: int) -> None:
    m = response(k, bits)
    assert (m.channel is not None) == (bits == 1)
    if m.channel is not None:
        assert m.channel.p == (1 + Fraction(m.thresholds["truth"], 2**64)) / 2


@pytest.mark.parametrize(("epsilon", "bits"), [(0.5, 1), (1.0, 1), (2.0, 3), (3.0, 4), (4.0, 6), (5.0, 7)])
def test_the_error_is_that_of_hadamard_response_with_as_many_blocks(epsilon: float, bits: int) -> None:
    m = response(22_000, epsilon=epsilon)
    assert m.report_bits == m.bits == bits
    plain = dn.HadamardResponse(22_000, epsilon)
    assert plain.blocks == m.blocks
    assert m.variance(0.0) == pytest.approx(plain.variance(0.0), rel=1e-2)


@pytest.mark.parametrize("k", [2, 3, 10, 100, 22_000, 2**24])
def test_the_chosen_bits_are_best_and_for_large_domains_no_more_than_the_paper_s(k: int) -> None:
    most = math.ceil(math.log2(k))
    for epsilon in (0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0):
        chosen = response(k, epsilon=epsilon)
        published = min(most, math.ceil(epsilon / math.log(2)))
        assert chosen.bits <= published or k < 100  # where randomised response, with all bits, is near
        for bits in (published, chosen.bits - 1, chosen.bits + 1):
            if 1 <= bits <= most:
                assert chosen.variance(0.0) <= response(k, bits, epsilon).variance(0.0) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("method", ["unbiased", "gls"])
def test_a_million_users_are_estimated_within_their_error(method: str, epsilon: float, seed: int) -> None:
    m = response(2000, epsilon=epsilon)
    true = (60_000 / np.arange(1, m.k + 1) ** 0.5).astype(np.int64) // 5
    contract.check_error_is_the_stated_one(m, true, method, seed)


def test_the_likelihood_is_maximised_with_a_certificate(seed: int) -> None:
    m = response(60, epsilon=2.0)
    true = (20_000 / np.arange(1, 61)).astype(np.int64)
    found = m.estimate(dn.simulate(m, true, seed=seed), "mle")
    assert found.details["gap"] <= 1e-12
    assert np.abs(found.frequencies - true / true.sum()).max() < 0.05


def test_only_the_class_is_sent_and_the_row_follows_from_the_id() -> None:
    m = dn.RecursiveHadamardResponse(22_000, 1.0, salt="2026")
    for i in range(20):
        report_id = f"report {i}".encode()
        report = m.privatize_for(i, report_id)
        data = m.encode_class(report, report_id)
        assert data in (b"\0", b"\1")
        assert m.decode_class(data, report_id) == report
        assert report.payload // m.classes == m.public_coin(report_id) < m.length - 1
    with pytest.raises(dn.MalformedReport, match="made under the id"):
        m.encode_class(report, b"another")


def test_the_spec_names_bits_and_salt() -> None:
    m = response(22_000, epsilon=2.0)
    assert m.spec.parameters == {"epsilon": 2.0, "bits": 3, "salt": ""}
    assert dn.from_spec(m.spec.to_json()) == m


@pytest.mark.parametrize("setting", [{"bits": 0}, {"bits": 4}, {"bits": 1.0}, {"bits": True}, {"salt": 7}], ids=str)
def test_a_setting_that_cannot_be_served_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(dn.InvalidArgument, match="must") as caught:
        dn.mechanism("rhr", k=5, epsilon=1.0, **setting)
    assert "\n" not in str(caught.value)


def test_a_domain_with_more_reports_than_numbers_is_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="k must leave rhr at most"):
        response(2**31, 1)
