"""Hybrid Projective Geometry Response: the estimator inverts the channel, and the paper's errors hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.kernels.designs import shift_in_blocks
from deniable.mechanisms.designs import singer
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import SIX, Vector

SEED = 5
# (k, q, t, h): full and partly filled blocks, lines and planes, a prime power, an empty block, one block alone
GEOMETRIES = [
    *((6, 2, 2, 2), (5, 2, 2, 2), (14, 2, 3, 2), (11, 2, 3, 2), (26, 3, 3, 2), (23, 3, 3, 3), (40, 4, 3, 2)),
    *((30, 2, 4, 3), (17, 2, 4, 3), (12, 5, 2, 2), (3, 2, 3, 5), (4, 2, 5, 3), (7, 2, 3, 1), (62, 5, 3, 2)),
]

CASE = Case(
    "hpgr",
    small=[
        {"k": 5, "epsilon": 0.5, "q": 2, "t": 2, "h": 2},
        {"k": 4, "epsilon": 3.0, "q": 2, "t": 2, "h": 3},
        {"k": 6, "epsilon": 2.0, "q": 2, "t": 3, "h": 2},
        {"k": 9, "epsilon": 1.0, "q": 2, "t": 3, "h": 2},
        {"k": 6, "epsilon": 1.0, "q": 2, "t": 2, "h": 2},
    ],
    refused=Refused(25, 41),  # geometries of weak privacy cost too much
    vectors={
        "labels": Vector({"labels": SIX, "epsilon": 1.5, "q": 2, "t": 3, "h": 2}),
        "prime-power": Vector(
            {"k": 100, "epsilon": 2.0, "q": 4, "t": 4, "h": 3}, [37 * place % 100 for place in range(24)]
        ),
    },
)


def hybrid(k: int, q: int, t: int, h: int, epsilon: float = 1.5) -> dn.HybridProjectiveGeometryResponse:
    return dn.HybridProjectiveGeometryResponse(k, epsilon, q=q, t=t, h=h)


def supporters(m: dn.HybridProjectiveGeometryResponse, index: int) -> list[int]:
    """The reports that support a value, written out."""
    members = singer.elements(m.q, m.t)[: m.set_size].tolist()
    return [index % m.h * m.block_size + (index // m.h + d) % m.block_size for d in members]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_small_geometries_are_exact_and_unbiased(geometry: tuple[int, int, int, int]) -> None:
    contract.check_exact_and_unbiased(hybrid(*geometry), SEED)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_a_report_adds_one_to_its_own_value_and_nothing_to_others_exactly(geometry: tuple[int, int, int, int]) -> None:
    # in fractions, from the channel alone; and the three variances likewise
    m = contract.coarse(hybrid(*geometry), 9)
    assert isinstance(m, dn.HybridProjectiveGeometryResponse)
    alpha, beta, gamma = m._weights
    own, near, far = m.user_variances
    for x in range(min(m.k, 6)):
        supporting = set(supporters(m, x))
        adds = [alpha * (r in supporting) + beta * (r // m.block_size == x % m.h) + gamma for r in range(m.symbols)]
        for user in range(m.k):
            chances = [m._probability(r, user) for r in range(m.symbols)]
            mean = sum(a * c for a, c in zip(adds, chances, strict=True))
            variance = sum(a * a * c for a, c in zip(adds, chances, strict=True)) - mean**2
            assert mean == (user == x)
            assert variance == (own if user == x else near if user % m.h == x % m.h else far)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_the_transforms_count_the_reports_that_support_a_value(geometry: tuple[int, int, int, int], seed: int) -> None:
    m = hybrid(*geometry)
    counts = np.random.default_rng(seed).integers(0, 2**40, m.symbols)
    assert m.shifts.support(counts).tolist() == [int(counts[supporters(m, x)].sum()) for x in range(m.k)]
    blocks = counts.reshape(m.h, m.block_size).sum(axis=1)
    assert m.shifts.neighbours(counts).tolist() == [int(blocks[x % m.h]) for x in range(m.k)]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_the_operator_is_the_channel(geometry: tuple[int, int, int, int], seed: int) -> None:
    contract.check_operator_is_the_channel(hybrid(*geometry), seed)


def test_one_block_is_projective_geometry_response() -> None:
    one, plain = hybrid(40, 3, 4, 1), dn.ProjectiveGeometryResponse(40, 1.5, q=3, t=4)
    assert one.thresholds["truth"] == plain.thresholds["truth"]
    assert one.noise("users") == pytest.approx(plain.noise("users"), rel=1e-12)
    assert one.noise("population") == pytest.approx(plain.noise("population"), rel=1e-12)
    assert one.reconstruction_rate() == plain.reconstruction_rate()


@pytest.mark.parametrize(
    ("epsilon", "q", "h", "loss"),
    [(4, 5, 12, 1.22), (5, 5, 30, 1.24), (5, 11, 14, 1.09), (3, 2, 11, 1.90), (5, 2, 75, 1.93)],
)
def test_the_average_variance_is_the_paper_s(epsilon: float, q: int, h: int, loss: float) -> None:
    m = dn.mechanism("hpgr", k=8192, epsilon=epsilon, q=q, h=h)
    e = math.exp(epsilon)
    assert m.variance(0.0) / (4 * e / (e - 1) ** 2) == pytest.approx(loss, abs=0.008)
    # with its alpha, beta and gamma for the ideal e
    w, overlap = singer.points(q, m.t - 1), singer.points(q, m.t - 2)
    total = m.symbols + (e - 1) * w
    alpha = total / ((e - 1) * (w - overlap))
    beta = -alpha * overlap / w
    gamma = -alpha * w / total - beta * m.block_size / total
    assert [float(weight) for weight in m._weights] == pytest.approx([alpha, beta, gamma], rel=1e-9)


def test_users_of_the_same_block_cost_more() -> None:
    m = dn.mechanism("hpgr", k=8192, epsilon=4.0)
    _, near, far = map(float, m.user_variances)
    e, q = math.exp(4.0), 5
    assert far == pytest.approx(2 * e * q / ((e - 1) ** 2 * (q - 1)), rel=0.1)
    assert near == pytest.approx(2 * e * (e - 1 + q) / ((e - 1) ** 2 * (q - 1)), rel=0.1)


@pytest.mark.parametrize("method", ["unbiased", "gls"])
def test_a_million_users_are_estimated_within_their_error(method: str, seed: int) -> None:
    m = dn.mechanism("hpgr", k=8192, epsilon=3.0)
    true = (60_000 / np.arange(1, m.k + 1) ** 0.5).astype(np.int64) // 8
    contract.check_error_is_the_stated_one(m, true, method, seed)


@pytest.mark.parametrize(
    ("k", "epsilon", "chosen"),
    [
        (8192, 4.0, (5, 5, 12)),
        (8192, 5.0, (5, 5, 30)),
        (22_000, 2.0, (5, 7, 2)),
        (60, 1.0, (5, 3, 2)),
        (1000, 10.0, (5, 2, 167)),
    ],
)
def test_blocks_follow_the_rule(k: int, epsilon: float, chosen: tuple[int, int, int]) -> None:
    m = dn.mechanism("hpgr", k=k, epsilon=epsilon)
    assert (m.q, m.t, m.h) == chosen
    assert m.spec.parameters == {
        "epsilon": epsilon,
        **dict(zip("qth", chosen, strict=True)),
        "polynomial": list(singer.polynomial(*chosen[:2])),
    }
    assert dn.from_spec(m.spec.to_json()) == m


def test_what_is_not_given_follows_from_what_is() -> None:
    assert (dn.mechanism("hpgr", k=100, epsilon=1.0, t=3).h, dn.mechanism("hpgr", k=100, epsilon=1.0, h=20).t) == (4, 2)
    assert dn.mechanism("hpgr", k=100, epsilon=1.0, q=3).t == 5


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (22_000, 0.5), (1000, 0.01)])
def test_an_epsilon_that_small_fields_do_not_suit_is_refused_with_what_would_work(k: int, epsilon: float) -> None:
    with pytest.raises(dn.InvalidArgument, match="Use csr"):
        dn.mechanism("hpgr", k=k, epsilon=epsilon)
    assert dn.mechanism("hpgr", k=k, epsilon=epsilon, q=2).q == 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"q": 6},
        {"q": 1},
        {"q": 2.0},
        {"t": 1},
        {"t": 32},
        {"h": 0},
        {"h": 2**31},
        {"h": 1.5},
        {"q": 2, "t": 2, "h": 1},
        {"q": 2, "t": 31, "h": 2},
        {"q": 2, "t": 3, "h": 2, "polynomial": [1, 0, 1]},
        {"q": 2, "t": 3, "h": 2, "polynomial": 5},
    ],
    ids=str,
)
def test_blocks_that_do_not_exist_are_refused_in_one_line(arguments: dict[str, Any]) -> None:
    with pytest.raises(dn.InvalidArgument, match="must") as caught:
        dn.mechanism("hpgr", k=5, epsilon=1.0, **arguments)
    assert "\n" not in str(caught.value)


def slow_shift(
    values: list[int],
    words: list[int],
    truth: int,
    blocks: int,
    bounds: list[int],
    rejections: list[int],
    elements: list[int],
) -> tuple[list[int], list[bool]]:
    """Own set, rest of the own block, then the other blocks in turn, each case by itself."""
    out, again = [], []
    size = len(elements)
    for i, value in enumerate(values):
        coin, first, second = words[3 * i : 3 * i + 3]
        (inside, low), (outside, lower) = divmod(first * bounds[0], 2**64), divmod(second * bounds[1], 2**64)
        again.append(low < rejections[0] or lower < rejections[1])
        number, block = value // blocks, value % blocks
        if coin < truth:
            move = elements[inside]
        elif outside < size - bounds[0]:
            move = elements[bounds[0] + outside]
        else:
            beyond = outside - (size - bounds[0])
            block, move = (block + 1 + beyond // size) % blocks, elements[beyond % size]
        out.append(block * size + (number + move) % size)
    return out, again


@pytest.mark.twin
@given(st.sampled_from([3, 7, 31, 781]), st.integers(1, 40), st.integers(0, 2**64 - 1), st.integers(0, 2**32))
@settings(max_examples=100)
def test_the_kernel_equals_its_slow_twin(size: int, blocks: int, truth: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    inside = int(rng.integers(1, size))
    bounds = [inside, size * blocks - inside]
    elements = rng.permutation(size).astype(np.uint32)
    rejections = rng.choice(np.array([0, 5, 2**61], np.uint64), 2)
    values = rng.integers(0, size * blocks, 8)
    drawn = rng.integers(0, 2**64, 3 * len(values), dtype=np.uint64)
    drawn[rng.random(len(drawn)) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    out, again = np.empty(len(values), np.uint32), np.empty(len(values), np.bool_)
    numbers = np.uint64(truth), np.uint64(blocks), np.array(bounds, np.uint64), rejections
    count = shift_in_blocks(values, drawn, *numbers, elements, again, out)
    wanted = slow_shift(values.tolist(), drawn.tolist(), truth, blocks, bounds, rejections.tolist(), elements.tolist())
    assert (out.tolist(), again.tolist()) == wanted
    assert count == sum(wanted[1])
