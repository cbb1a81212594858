"""Block designs: the known ones come out, and unbalanced ones are refused."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.estimation.operators.dense import MatrixOperator
from deniable.kernels.designs import choose_block
from tests.contract.cases import Case, Refused
from tests.contract.vectors import WEEK, Vector
from tests.mechanisms.designs.examples import FANO, UNEVEN, Blocks, complete_design, projective_plane
from tests.naive.designs import choose_block as plain_choose_block

SEED = 11
words = st.integers(0, 2**64 - 1)

PLANES = {7: 2, 13: 3, 381: 19}  # points of a projective plane, and its order


def blocks_for(k: int) -> Blocks:
    """A projective plane or single values; a domain too large for a design is refused whatever its blocks."""
    if k in PLANES:
        return projective_plane(PLANES[k])
    return complete_design(k, 1) if k <= 1000 else [[0]]


CASE = Case(
    "design",
    small=[
        {"k": 3, "epsilon": 1.0, "blocks": [[0], [1], [2]]},
        {"k": 4, "epsilon": 0.5, "blocks": complete_design(4, 2)},
        {"k": 3, "epsilon": 3.0, "blocks": UNEVEN},
        {"k": 7, "epsilon": 1.0, "blocks": FANO},
        {"k": 13, "epsilon": 1.0, "blocks": projective_plane(3)},
    ],
    large={"k": 381, "epsilon": 3.0},
    sizes=[7, 13],
    needed=lambda k: {"blocks": blocks_for(k)},
    few=lambda k: {"blocks": complete_design(k, -(-k // 3))},
    refused=Refused(0, 22),  # over 2^22 values times blocks
    vectors={
        "fano": Vector({"labels": WEEK, "epsilon": 1.0, "blocks": FANO}),
        "pairs": Vector({"k": 5, "epsilon": 0.5, "blocks": complete_design(5, 2)}),
    },
)


def fano(epsilon: float = 1.0) -> dn.BlockDesign:
    return dn.BlockDesign(7, epsilon, FANO)


def test_the_parameters_of_the_fano_plane_are_derived() -> None:
    m = fano()
    assert (m.k, m.symbols, m.supporting, m.block_size, m.overlap) == (7, 7, 3, 3, 1)
    assert m.report_bits == 3


def test_the_parameters_of_the_projective_plane_of_order_three_are_derived() -> None:
    m = dn.BlockDesign(13, 1.0, projective_plane(3))
    assert (m.k, m.symbols, m.supporting, m.block_size, m.overlap) == (13, 13, 4, 4, 1)


def test_blocks_may_differ_in_size_and_repeat() -> None:
    m = dn.BlockDesign(3, 1.0, UNEVEN)
    assert (m.symbols, m.supporting, m.overlap) == (10, 5, 2)
    assert m.block_size == Fraction(3, 2)


@pytest.mark.parametrize(("k", "w"), [(4, 2), (5, 2), (6, 2), (6, 3)])
def test_all_blocks_of_a_size_are_subset_selection(k: int, w: int) -> None:
    m, ss = dn.BlockDesign(k, 1.0, complete_design(k, w)), dn.mechanism("ss", k=k, epsilon=1.0, w=w)
    assert m.symbols == comb(k, w)
    assert m.channel == ss.channel
    assert m.guarantee() == ss.guarantee()
    assert m.reconstruction_rate() == ss.reconstruction_rate()
    assert m.variance(0.2, 100) == ss.variance(0.2, 100)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_blocks_of_one_value_are_randomised_response(k: int) -> None:
    m, grr = dn.BlockDesign(k, 1.0, complete_design(k, 1)), dn.mechanism("grr", k=k, epsilon=1.0)
    # their coins are floored at different places: equal but for less than k words in 2^64
    assert abs(m.channel.p - grr.channel.p) < Fraction(k, 2**64)
    assert abs(m.channel.q - grr.channel.q) < Fraction(k, 2**64)


def test_probabilities_are_those_of_the_theory() -> None:
    # p = r e/(r e + b - r), q = (lambda e + r - lambda)/(r e + b - r): Park, Nam, Lee 2023
    e, m = float(np.exp(1.0)), fano()
    assert float(m.channel.p) == pytest.approx(3 * e / (3 * e + 4), rel=1e-15)
    assert float(m.channel.q) == pytest.approx((e + 2) / (3 * e + 4), rel=1e-15)


REFUSED: list[tuple[int, Any, str]] = [
    (7, FANO[:-1], "Value 0 lies in 3 of them, value 2 in 2"),
    (4, [[0, 1], [1, 2], [2, 3], [0, 3]], "Values 0 and 1 share 1 of them, 0 and 2 share 0"),
    (3, [[0, 1, 2]], "none in all blocks"),
    (3, [], "hold every value"),
    (3, [[0, 1], [0, 1], [2], [2]], "share"),
    (2, [[0, 1], [0, 1]], "none in all blocks"),
    (2, [[0, 0], [1]], "Block 0 holds 0 twice"),
    (2, [[0], [1], []], "Block 2 has none"),
    (2, [[0], [2]], "a value of block 1 must be a whole number from 0 to 1"),
    (2, [[0], [0.5]], "a value of block 1"),
    (2, [[0], [True]], "a value of block 1"),
    (2, [[0], ["1"]], "a value of block 1"),
    (2, [0, 1], "Block 0 is not"),
    (2, "01", "a list of lists"),
    (2, None, "a list of lists"),
    (3000, [[0]], "values times blocks"),
]


@pytest.mark.parametrize(("k", "blocks", "message"), REFUSED, ids=str)
def test_what_is_no_design_is_refused_with_the_first_violation(k: int, blocks: Any, message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message) as caught:
        dn.mechanism("design", k=k, epsilon=1.0, blocks=blocks)
    assert "\n" not in str(caught.value)


def test_the_order_of_values_in_a_block_does_not_matter_but_that_of_blocks_does() -> None:
    turned = [block[::-1] for block in FANO]
    assert dn.BlockDesign(7, 1.0, turned).fingerprint == fano().fingerprint
    assert dn.BlockDesign(7, 1.0, FANO[::-1]).fingerprint != fano().fingerprint


@pytest.mark.parametrize(
    "blocks", [FANO, complete_design(7, 2), complete_design(7, 3)], ids=["fano", "pairs", "triples"]
)
def test_the_operator_is_the_channel(blocks: list[list[int]]) -> None:
    m = dn.BlockDesign(7, 1.0, blocks)
    matrix = MatrixOperator(
        np.array([[float(m.probability(report, value)) for report in range(m.symbols)] for value in range(7)])
    )
    operator, rng = m.operator(), np.random.default_rng(SEED)
    weights, scores = rng.random(7), rng.random(m.symbols)
    np.testing.assert_allclose(operator.forward(weights), matrix.forward(weights), rtol=1e-13)
    np.testing.assert_allclose(operator.adjoint(scores), matrix.adjoint(scores), rtol=1e-13)
    np.testing.assert_allclose(operator.adjoint_squared(scores), matrix.adjoint_squared(scores), rtol=1e-13)


@pytest.mark.parametrize("method", ["mle", "ibu", "gls", "projected", "unbiased"])
def test_every_method_finds_the_frequencies(method: str) -> None:
    m = dn.BlockDesign(13, 2.0, projective_plane(3))
    true = np.array([50_000, 20_000, 10_000, 8_000, 5_000, 3_000, 2_000, 1_000, 500, 300, 200, 0, 0])
    n = int(true.sum())
    estimate = m.estimate(dn.simulate(m, true, seed=SEED), method)
    assert np.abs(estimate.frequencies - true / n).max() < 6 * np.sqrt(m.variance(0.5, n))


def test_a_plane_of_a_thousand_values_is_served() -> None:
    m = dn.BlockDesign(993, 3.5, projective_plane(31))
    assert m.report_bits == 10
    assert m.summarize(m.privatize(np.arange(993), seed=SEED)).n == 993


@pytest.mark.twin
@given(st.data(), words, st.sampled_from([FANO, UNEVEN, complete_design(5, 2)]))
@settings(max_examples=60)
def test_choose_block(data: st.DataObject, truth: int, blocks: list[list[int]]) -> None:
    m = dn.BlockDesign(max(max(block) for block in blocks) + 1, 1.0, blocks)
    values = data.draw(st.lists(st.integers(0, m.k - 1), min_size=1, max_size=20))
    drawn = data.draw(st.lists(words, min_size=3 * len(values), max_size=3 * len(values)))
    rejections = data.draw(st.sampled_from([[0, 0], [1, 2], [2**62, 2**61]]))
    bounds = np.array([m.supporting, m.symbols - m.supporting], np.uint64)
    again, out = np.empty(len(values), np.bool_), np.empty(len(values), np.uint32)
    arrays = np.array(values), np.array(drawn, np.uint64)
    with np.errstate(over="ignore"):  # without the compiler, NumPy reports products that wrap around on purpose
        bound = np.array(rejections, np.uint64)
        count = choose_block(*arrays, np.uint64(truth), bounds, bound, m.places, again, out)
    assert (out.tolist(), again.tolist()) == plain_choose_block(values, drawn, truth, rejections, blocks)
    assert count == again.sum()
