"""Shuffling: no bound is ever below the exact delta, and all reach the values that are known."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.auditing.amplification.blanket import FINE, blanket_delta
from deniable.auditing.amplification.clones import any_share, clones_delta, clones_epsilon, response_share
from deniable.auditing.amplification.pair_laws import pair_laws
from tests import ROOT
from tests.auditing.enumeration import channel, exact_deltas
from tests.contract import cases

LOCAL, PARTS = (0.5, 1.0, 2.0), (0.1, 0.3, 0.5, 0.7, 0.9)
MOST_BLANKET, MOST_CLONES = 3.5, 29  # times the exact delta, as docs/shuffling.md says
# 13 batches at three local epsilons and five central ones: 195 points
BATCHES: list[tuple[str, dict[str, Any], int]] = [
    *(("grr", {"k": k}, n) for k in (2, 3) for n in (2, 4, 6, 8)),
    ("ss", {"k": 4, "w": 2}, 4),
    *(("oue", {"k": 3}, n) for n in (3, 4)),
    *(("blh", {"k": k}, 3) for k in (3, 4)),
]


@cache
def exact(batch: int, local: float) -> list[float]:
    name, options, n = BATCHES[batch]
    m = dn.mechanism(name, epsilon=local, **options)
    return exact_deltas(channel(m), n, [part * local for part in PARTS])


@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("batch", range(len(BATCHES)), ids=lambda batch: "-".join(map(str, BATCHES[batch])))
def test_no_bound_is_below_the_exact_delta(batch: int, local: float) -> None:
    name, options, n = BATCHES[batch]
    m = dn.mechanism(name, epsilon=local, **options)
    ratio = float(m.guarantee().ratio)
    for part, delta in zip(PARTS, exact(batch, local), strict=True):
        epsilon = part * local
        found = max(blanket_delta(law, n, epsilon) for law in pair_laws(m))
        assert delta * (1 - 1e-12) <= found <= MOST_BLANKET * delta
        assert delta <= clones_delta(ratio, any_share(ratio), n, epsilon) <= MOST_CLONES * delta
        if name == "grr":
            assert clones_delta(ratio, response_share(ratio), n, epsilon) >= delta * (1 - 1e-12)


def test_the_page_says_how_tight_the_bounds_are() -> None:
    page = (ROOT / "docs" / "shuffling.md").read_text()
    assert f"1 to {MOST_BLANKET} times the exact delta" in page
    assert f"1 to {MOST_CLONES} times the exact delta" in page
    clones, closed = [], []
    for name in ("grr", "ss", "oue"):
        for local in (1.0, 2.0, 4.0):
            found = dn.amplify(dn.mechanism(name, k=100, epsilon=local), n=100_000, delta=1e-6)
            assert found.bound == "privacy blanket"
            assert found.closed is not None
            clones.append(found.bounds["clones"] / found.epsilon)
            closed.append(found.closed / found.epsilon)
    assert f"{min(clones):.1f} to {max(clones):.1f} times the epsilon of the blanket" in page
    assert f"{min(closed):.0f} to {max(closed):.0f} times the epsilon of the blanket" in page


def test_a_blanket_that_overlooks_what_a_mechanism_shows_is_noticed() -> None:
    # as if the two values shared all the reports that support them but one
    m = dn.mechanism("ss", k=4, w=2, epsilon=1.0)
    (law,) = pair_laws(m)
    (one,) = pair_laws(dn.mechanism("ss", k=4, w=2, epsilon=0.8))
    delta = exact_deltas(channel(m), 2, [0.5])[0]
    assert blanket_delta(one, 2, 0.5) < delta <= blanket_delta(law, 2, 0.5)


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_the_blanket_of_every_mechanism_holds_for_one_report_and_for_two(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    rows = channel(m)
    laws, local = pair_laws(m), m.guarantee().epsilon
    assert laws
    for law in laws:
        assert float(law.chance @ law.first) == pytest.approx(1.0, abs=1e-9)
        assert float(law.chance @ law.second) == pytest.approx(1.0, abs=1e-9)
        if name != "orappor":  # whose law is that of filters without a common bit, which small filters cannot be
            assert max(law.first / law.second) <= math.exp(local) * (1 + 1e-9)
    parts = [0.05 * local, 0.5 * local, 0.9 * local]
    for epsilon in parts:
        excess = rows[:, np.newaxis] - math.exp(epsilon) * rows
        delta = float(np.maximum(excess, 0.0).sum(axis=2).max())
        assert max(blanket_delta(law, 1, epsilon) for law in laws) >= delta * (1 - 1e-9) - 1e-14
    if rows.size <= 60:
        for epsilon, delta in zip(parts, exact_deltas(rows, 2, parts), strict=True):
            assert max(blanket_delta(law, 2, epsilon) for law in laws) >= delta * (1 - 1e-9) - 1e-14


@pytest.mark.parametrize(
    ("name", "k", "local", "expected"),
    [
        ("grr", 2, 4.0, 0.1182),
        ("grr", 100, 4.0, 0.0684),
        ("grr", 1000, 4.0, 0.0243),
        ("ss", 1000, 4.0, 0.0815),
        ("ss", 1000, 2.0, 0.0228),
        ("ss", 1000, 1.0, 0.0085),
        ("oue", 1000, 4.0, 0.0814),
        ("sue", 1000, 4.0, 0.1041),
        ("sue", 1000, 1.0, 0.0088),
    ],
)
def test_known_values_are_reached(name: str, k: int, local: float, expected: float) -> None:
    found = dn.amplify(dn.mechanism(name, k=k, epsilon=local), n=100_000, delta=1e-6)
    assert found.bound == "privacy blanket"
    assert found.epsilon == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("local", "each", "response"), [(4, 0.1698, 0.1182), (2, 0.0450, 0.0332), (1, 0.0153, 0.0124)])
def test_known_values_of_clones(local: float, each: float, response: float) -> None:
    ratio = math.exp(local)
    assert clones_epsilon(ratio, any_share(ratio), 100_000, 1e-6) == pytest.approx(each, rel=0.01)
    assert clones_epsilon(ratio, response_share(ratio), 100_000, 1e-6) == pytest.approx(response, rel=0.01)


@pytest.mark.parametrize("n", [10, 1000, 10**6, 10**9])
def test_a_finer_grid_changes_little_and_only_down(n: int) -> None:
    (law,) = pair_laws(dn.mechanism("ss", k=50, epsilon=1.0))
    epsilon = dn.amplify(dn.mechanism("ss", k=50, epsilon=1.0), n=n, delta=1e-6).epsilon
    found = [blanket_delta(law, n, epsilon, half) for half in (2**11, FINE, 2**15)]
    assert found[0] == pytest.approx(found[1], rel=0.05)
    assert found[2] == pytest.approx(found[1], rel=0.01, abs=1e-20)


def test_epsilon_and_delta_are_inverse() -> None:
    m = dn.mechanism("oue", k=20, epsilon=2.0)
    forth = dn.amplify(m, n=10_000, delta=1e-8)
    back = dn.amplify(m, n=10_000, epsilon=forth.epsilon)
    assert back.delta == pytest.approx(1e-8, rel=0.02)
    assert back.delta <= 1e-8


def test_liars_hide_nobody_and_more_reports_hide_more() -> None:
    m = dn.mechanism("csr", k=20, epsilon=1.0)
    found = [dn.amplify(m, n=n, delta=1e-6, liars=liars) for n, liars in [(10_000, 0.0), (10_000, 0.5), (5_000, 0.0)]]
    assert [each.honest for each in found] == [10_000, 5_000, 5_000]
    assert found[0].epsilon < found[1].epsilon == found[2].epsilon


def test_a_shuffle_too_small_to_help_says_so() -> None:
    found = dn.amplify(1.0, n=10, delta=1e-6)
    assert (found.epsilon, found.delta, found.bounds) == (1.0, 0.0, {})
    assert "as without a shuffle" in str(found)
    assert dn.amplify(dn.mechanism("grr", k=3, epsilon=1.0), n=100, epsilon=2.0).delta == 0


def test_a_delta_below_all_rounding_has_the_closed_form() -> None:
    found = dn.amplify(dn.mechanism("grr", k=100, epsilon=1.0), n=100_000, delta=1e-100)
    assert (found.bound, list(found.bounds)) == ("closed form", ["closed form"])
    assert found.closed is not None
    assert found.closed <= found.epsilon < 0.26
    assert str(found).count("closed form") == 1


def test_reports_whose_number_follows_from_an_id_are_warned_of() -> None:
    found = dn.amplify(dn.mechanism("olh", k=20, epsilon=1.0), n=1000, delta=1e-4)
    assert any("encode_class" in condition for condition in found.conditions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 10, "delta": 0}, "No shuffle gives delta 0 below the local epsilon"),
        ({"n": 10, "delta": 1.5}, "delta must be below 1"),
        ({"n": 1, "delta": 1e-6}, "n must be at least 2 honest senders, got 1"),
        ({"n": 10, "delta": 1e-6, "liars": 0.9}, "n must be at least 2 honest senders"),
        ({"n": 10, "delta": 1e-6, "liars": 1.0}, "liars must be a share"),
        ({"n": 10}, "Give delta to find epsilon"),
        ({"n": 10, "delta": 1e-6, "epsilon": 1.0}, "Give delta to find epsilon"),
        ({"n": 10, "epsilon": -1.0}, "epsilon must be positive"),
    ],
)
def test_wrong_questions_are_answered_clearly(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.amplify(1.0, **options)
