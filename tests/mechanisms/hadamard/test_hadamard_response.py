"""Hadamard Response: reports of even parity, an estimator that inverts the channel, and the paper's errors."""

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
from tests.naive import hadamard as naive_hadamard

SEED = 5
# (k, B): one block full, nearly empty and in between; several; a block with one value, two or none; one value each
SHAPES = [(2, 1), (3, 1), (7, 1), (8, 1), (15, 1), (5, 2), (6, 2), (14, 2), (15, 4), (12, 4), (9, 8), (5, 8), (3, 4)]

CASE = Case(
    "hr",
    small=[
        {"k": 2, "epsilon": 0.5},
        {"k": 3, "epsilon": 3.0, "blocks": 4},
        {"k": 5, "epsilon": 2.0, "blocks": 2},
        {"k": 7, "epsilon": 3.0},
        {"k": 6, "epsilon": 1.0, "blocks": 2},
        {"k": 7, "epsilon": 1.0},
    ],
    vectors={
        "labels": Vector({"labels": TEN, "epsilon": 1.0}),
        "blocks": Vector({"domain": integers(1000), "epsilon": 3.0}, [-3, 0, 5, 1000, 2000, None] * 3),
    },
)


def response(k: int, blocks: int | None = None, epsilon: float = 1.5) -> dn.HadamardResponse:
    return dn.HadamardResponse(k, epsilon, blocks=blocks)  # type: ignore[arg-type]


def optimum(epsilon: float) -> float:
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_small_blocks_are_exact_and_unbiased(shape: tuple[int, int]) -> None:
    contract.check_exact_and_unbiased(response(*shape), SEED)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_value_orders_all_reports_those_that_support_it_first(shape: tuple[int, int]) -> None:
    m = response(*shape)
    for x in range(m.k):
        order = [m.report_at(x, place) for place in range(m.symbols)]
        assert order == naive_hadamard.ordered(x, m.blocks, m.block_size)
        assert sorted(order) == list(range(m.symbols))
        supporting = naive_hadamard.supporters(x, m.blocks, m.block_size)
        assert sorted(order[: m.set_size]) == supporting
        assert len(supporting) == m.block_size // 2 - 1
        assert [y for y in range(m.symbols) if m.probability(y, x) == m.two_level.high] == supporting


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_report_supports_every_value(shape: tuple[int, int]) -> None:
    m = response(*shape)
    assert all(any(not m.supports(y, x) for x in range(m.k)) for y in range(m.symbols))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_two_values_share_all_but_one_of_a_quarter_of_their_block_or_nothing(shape: tuple[int, int]) -> None:
    m = response(*shape)
    sets = [set(naive_hadamard.supporters(x, m.blocks, m.block_size)) for x in range(m.k)]
    for x in range(m.k):
        for other in range(x):
            together = (x - other) % m.blocks == 0
            assert len(sets[x] & sets[other]) == (m.block_size // 4 - 1 if together else 0)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_report_adds_one_to_its_own_value_and_nothing_to_others_exactly(shape: tuple[int, int]) -> None:
    # in fractions, from the channel alone; and the three variances likewise
    m = contract.coarse(response(*shape), 9)
    assert isinstance(m, dn.HadamardResponse)
    alpha, beta, gamma = m.agreement.weights
    own, near, far = m.agreement.variances
    for x in range(min(m.k, 6)):
        supporting = set(naive_hadamard.supporters(x, m.blocks, m.block_size))
        in_block = {y for y in range(m.symbols) if y // (m.block_size - 1) == x % m.blocks}
        signs = [(y in supporting) - (y in in_block - supporting) for y in range(m.symbols)]
        adds = [alpha * sign + beta * (y in in_block) + gamma for y, sign in enumerate(signs)]
        for user in range(m.k):
            chances = [m._probability(y, user) for y in range(m.symbols)]
            mean = sum(a * c for a, c in zip(adds, chances, strict=True))
            variance = sum(a * a * c for a, c in zip(adds, chances, strict=True)) - mean**2
            assert mean == (user == x)
            assert variance == (own if user == x else near if (user - x) % m.blocks == 0 else far)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_transforms_count_the_reports_that_support_a_value(shape: tuple[int, int], seed: int) -> None:
    m = response(*shape)
    counts = np.random.default_rng(seed).integers(0, 2**55, m.symbols)
    summary = dn.Summary(counts, int(counts.sum()), m.fingerprint)
    blocks = counts.reshape(m.blocks, -1).sum(axis=1)
    for x, (signed, within) in enumerate(zip(m.signed_counts(summary), m.block_counts(summary), strict=True)):
        support = int(counts[naive_hadamard.supporters(x, m.blocks, m.block_size)].sum())
        assert within == blocks[x % m.blocks]
        assert signed == 2 * support - within
        if m.blocks == 1:
            assert m.support_counts(summary)[x] == support


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_operator_is_the_channel(shape: tuple[int, int], seed: int) -> None:
    contract.check_operator_is_the_channel(response(*shape), seed)


@pytest.mark.parametrize(("k", "blocks"), [(7, 1), (15, 1), (14, 2), (15, 4)])
def test_it_is_pure_with_one_block_only(k: int, blocks: int) -> None:
    m = response(k, blocks)
    assert (m.channel is not None) == (blocks == 1)
    if m.channel is not None:
        assert m.channel.q < Fraction(1, 2)
        assert m.channel.p == Fraction(m.thresholds["truth"], 2**64)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_one_block_has_the_variance_of_the_paper(epsilon: float) -> None:
    m = dn.HadamardResponse(1000, epsilon, blocks=1)
    e = math.exp(epsilon)
    assert m.variance(0.0) == pytest.approx(((e + 1) / (e - 1)) ** 2, rel=3e-3)


@pytest.mark.parametrize(("epsilon", "blocks"), [(2.0, 4), (3.0, 16), (5.0, 64)])
def test_blocks_have_the_average_variance_and_the_weight_of_the_paper(epsilon: float, blocks: int) -> None:
    m = dn.HadamardResponse(22_000, epsilon, blocks=blocks)
    e = math.exp(epsilon)
    assert float(m.agreement.weights[0]) == pytest.approx((2 * blocks - 1 + e) / (e - 1), rel=1e-2)
    assert m.variance(0.0) == pytest.approx((e - 1 + 2 * blocks) ** 2 / (blocks * (e - 1) ** 2), rel=1e-2)


@pytest.mark.parametrize(
    ("epsilon", "blocks", "loss"),
    [(0.5, 1, 1.064), (1.0, 1, 1.271), (2.0, 4, 1.751), (3.0, 8, 1.913), (4.0, 32, 1.972), (5.0, 64, 1.981)],
)
def test_the_loss_stays_about_twice_the_optimum(epsilon: float, blocks: int, loss: float) -> None:
    m = response(22_000, epsilon=epsilon)
    assert m.blocks == blocks
    assert m.variance(0.0) / optimum(epsilon) == pytest.approx(loss, abs=6e-4)


@pytest.mark.parametrize("k", [2, 3, 10, 100, 22_000, 2**24])
def test_the_chosen_blocks_are_best_and_no_more_than_the_published_rule_s(k: int) -> None:
    for epsilon in (0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0):
        chosen = response(k, epsilon=epsilon)
        published = 2 ** max(0, math.ceil(math.log2(min(math.exp(epsilon), 2 * k))) - 1)
        assert chosen.blocks <= published
        for blocks in (published, chosen.blocks // 2, 2 * chosen.blocks):
            if 1 <= blocks <= 2 ** math.ceil(math.log2(k)):
                assert chosen.variance(0.0) <= response(k, blocks, epsilon).variance(0.0) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_with_three_values_it_is_randomised_response(epsilon: float) -> None:
    m, plain = response(3, 1, epsilon), dn.RandomizedResponse(3, epsilon)
    assert m.noise("users") == pytest.approx(plain.noise("users"), rel=1e-9)


def test_users_of_the_same_block_cost_more() -> None:
    m = response(22_000, epsilon=4.0)
    own, near, far = map(float, m.agreement.variances)
    e = math.exp(4.0)
    total = e - 1 + 2 * m.blocks
    assert near == pytest.approx(total * (e + 1) / (e - 1) ** 2, rel=1e-2)
    assert far == pytest.approx(2 * total / (e - 1) ** 2, rel=1e-2)
    assert own == pytest.approx(near - 1, rel=1e-2)


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


def test_the_spec_names_the_blocks() -> None:
    m = response(22_000, epsilon=2.0)
    assert m.spec.parameters == {"epsilon": 2.0, "blocks": 4}
    assert dn.from_spec(m.spec.to_json()) == m


@pytest.mark.parametrize("blocks", [0, 3, -2, 16, 2.0, "2", True])
def test_blocks_that_cannot_be_are_refused_in_one_line(blocks: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match="blocks must") as caught:
        response(5, blocks)
    assert "\n" not in str(caught.value)


def test_a_domain_with_more_reports_than_numbers_is_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="k must leave hr at most"):
        response(2**31, 1)


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_two_to_the_24_values_need_no_more_than_four_reports_each(epsilon: float) -> None:
    m = response(2**24, epsilon=epsilon)
    assert m.symbols <= 4 * m.k
    assert 0 <= m.report_at(m.k - 1, m.symbols - 1) < m.symbols
    reports = m.privatize(np.full(1000, m.k - 1))
    assert len(reports) == 1000
