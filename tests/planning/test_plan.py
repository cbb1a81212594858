"""Ten questions, answered by formula and checked by simulation."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.base.definition import Definition
from deniable.planning.verification import zipf_counts

RUNS = 40


def estimates(plan: dn.Plan, true: Any, runs: int = RUNS) -> Any:
    """Unbiased estimates of these counts, one row per simulation."""
    m = plan.mechanism
    return np.array([m.unbiased(dn.simulate(m, true, seed=seed)) for seed in range(runs)])


def margin_of_rare(plan: dn.Plan, runs: int = RUNS) -> float:
    """The 95% margin of the rarer half of the values, in simulations of the plan's users."""
    true = zipf_counts(plan.values, plan.n)
    rare = slice(plan.values // 2, None)
    errors = (estimates(plan, true, runs) - true / plan.n)[:, rare]
    return 1.959964 * math.sqrt(float((errors**2).mean()))


def test_a_large_domain() -> None:
    plan = dn.plan(k=22_000, epsilon=2.0, n=10_000)
    assert plan.margin == pytest.approx(0.0167, abs=1e-4)
    assert margin_of_rare(plan, 3) == pytest.approx(plan.margin, rel=0.03)
    assert plan.attack == pytest.approx(float(plan.mechanism.reconstruction_rate()))
    assert plan.expect[0].margin_all == pytest.approx(0.0402, abs=1e-4)
    reasons = {other.mechanism: other.reason for other in plan.runners_up}
    assert reasons["clh"].startswith("the same error in 3 bits instead of 16")
    assert reasons["grr"].startswith("27.3 times the error")


def test_thirty_labels_and_5000_users() -> None:
    plan = dn.plan(labels=[f"label {i}" for i in range(30)], epsilon=1.0, n=5_000)
    true = np.full(30, round(5_000 * (1 - plan.visible) / 29))
    true[0] = 5_000 - true[1:].sum()
    assert true[0] / 5_000 == pytest.approx(plan.visible, abs=0.005)
    found = estimates(plan, true, 600)[:, 0]
    passed = found > 1.959964 * math.sqrt(plan.mechanism.variance(0.0, 5_000))
    assert passed.mean() == pytest.approx(0.8, abs=0.07)  # four standard errors


def test_users_for_a_margin() -> None:
    plan = dn.plan(k=100, epsilon=1.0, margin=0.01)
    assert (plan.found, plan.n) == ("users", 137_999)
    assert margin_of_rare(plan) == pytest.approx(0.01, rel=0.08)
    needed = {other.mechanism: other.needed for other in plan.runners_up}
    assert needed["ss"] == dn.users_needed(dn.mechanism("ss", k=100, epsilon=1.0), margin=0.01, f=0.0) == 137_895
    assert needed["grr"] == 1_310_436


def test_epsilon_for_a_margin() -> None:
    plan = dn.plan(k=100, n=50_000, margin=0.01)
    assert (plan.found, plan.epsilon) == ("epsilon", 1.561)
    assert plan.margin <= 0.01
    assert margin_of_rare(plan) == pytest.approx(0.01, rel=0.08)
    assert {other.mechanism: other.needed for other in plan.runners_up}["grr"] == 2.315
    less = dn.mechanism("ss", k=100, epsilon=plan.epsilon - 0.005)
    assert dn.users_needed(less, margin=0.01, f=0.0) > 50_000


def test_users_to_find_a_small_share() -> None:
    plan = dn.plan(k=500, epsilon=3.0, detect=0.01)
    assert plan.users["any"] > plan.users["one"] == plan.n
    true = np.full(500, round(0.99 * plan.n / 499))
    true[0] = plan.n - true[1:].sum()
    found = estimates(plan, true, 300)[:, 0]
    share = true[0] / plan.n
    passed = found > 1.959964 * math.sqrt(plan.mechanism.variance(0.0, plan.n))
    assert share >= 0.0099
    assert passed.mean() >= 0.7


def test_few_bits() -> None:
    assert dn.plan(k=22_000, epsilon=2.0, n=10_000, max_bits=16).mechanism.report_bits <= 16
    tight = dn.plan(k=22_000, epsilon=2.0, n=10_000, max_bits=15)
    assert (tight.mechanism.name, tight.bits) == ("hr", 15)
    assert margin_of_rare(tight, 3) == pytest.approx(tight.margin, rel=0.03)
    barred = {other.mechanism: other.reason for other in tight.runners_up}
    assert "grr" in barred
    by_id = dn.plan(k=22_000, epsilon=2.0, n=10_000, max_bits=3, ids=True)
    assert (by_id.mechanism.name, by_id.bits) == ("clh", 3)
    with pytest.raises(dn.InvalidArgument, match="If the server knows the ids of reports, clh"):
        dn.plan(k=22_000, epsilon=2.0, n=10_000, max_bits=5)


def test_the_ten_most_frequent() -> None:
    plan = dn.plan(k=1_000, epsilon=2.0, n=100_000, top=10, zipf=1.3)
    true = zipf_counts(1_000, 100_000)
    first = np.argsort(-estimates(plan, true, 20), axis=1)[:, :10]
    assert (first < 10).sum(1).mean() == pytest.approx(plan.top["expected"], abs=0.6)
    many = int(plan.top["users_for_all"])
    first = np.argsort(-estimates(plan, zipf_counts(1_000, many), 10), axis=1)[:, :10]
    assert ((first < 10).sum(1) == 10).mean() >= 0.9


def test_a_limit_on_what_may_be_suspected() -> None:
    plan = dn.plan(k=200, suspicion=0.01, at_most=0.1, n=1_000)
    assert plan.epsilon == 2.397
    assert plan.suspicion["after"] <= 0.1
    m, value = plan.mechanism, 7
    # the most that a prior of 1% for one value, the rest even, becomes for any report of a few hundred
    reports = m.privatize([value] * 200, seed=1).data.tolist()
    posterior = []
    for report in set(reports):
        own = 0.01 * m.probability(report, value)
        rest = sum(m.probability(report, other) for other in range(200) if other != value) * 0.99 / 199
        posterior.append(float(own / (own + float(rest))))
    assert max(posterior) <= plan.suspicion["after"] + 1e-12
    with pytest.raises(dn.InvalidArgument, match=r"epsilon must be at most 2.397 for this suspicion, got 3"):
        dn.plan(k=200, suspicion=0.01, at_most=0.1, epsilon=3.0)


def test_open_strings() -> None:
    plan = dn.plan(candidates=200, epsilon=2.0, n=20_000, max_bits=20)
    assert plan.bits == plan.mechanism.report_bits <= 20
    checked = plan.verify(runs=20)
    assert checked.simulated == pytest.approx(checked.predicted, rel=0.05)
    assert "candidates" in str(plan).splitlines()[0]


def test_what_is_not_feasible_says_what_would_be() -> None:
    with pytest.raises(dn.InvalidArgument) as caught:
        dn.plan(k=100, epsilon=1.0, n=1_000, margin=0.01)
    assert "It takes 137,999 users, or epsilon 4.441" in str(caught.value)
    assert dn.plan(k=100, epsilon=1.0, n=137_999, margin=0.01).margin <= 0.01
    assert dn.plan(k=100, epsilon=4.441, n=1_000, margin=0.01).margin <= 0.01
    with pytest.raises(dn.InvalidArgument, match=r"or 1,694,961 users at epsilon 2\.397"):
        dn.plan(k=22_000, n=1_000, margin=0.001, suspicion=0.01, at_most=0.1)


def test_only_the_chosen_mechanism_is_made() -> None:
    made = []
    original = Definition.__post_init__
    with patch.object(Definition, "__post_init__", lambda self: (made.append(self.name), original(self))[1]):
        plan = dn.plan(k=300, epsilon=1.5, n=3_000)
    assert made == [plan.mechanism.name]


def test_limits_on_times_are_measured() -> None:
    plan = dn.plan(k=100, epsilon=1.0, n=1_000, max_client_us=1e6, max_server_ms=1e6)
    assert plan.mechanism.name == dn.plan(k=100, epsilon=1.0, n=1_000).mechanism.name
    with pytest.raises(dn.InvalidArgument, match="us per report"):
        dn.plan(k=4, epsilon=1.0, n=100, max_client_us=1e-9)


def test_a_plan_is_printed_and_turned_into_json() -> None:
    import json

    plan = dn.plan(k=100, epsilon=1.0)
    assert "10,000" in plan.notes[0]
    document = json.loads(json.dumps(plan.to_dict()))
    assert document["mechanism"] == plan.mechanism.name
    assert document["runners_up"][0]["reason"] in str(plan)
    assert dn.from_spec(plan.spec) == plan.mechanism


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "domain must be given exactly once"),
        ({"k": 5, "labels": ["a", "b"]}, "domain must be given exactly once"),
        ({"k": 5, "epsilon": 1.0, "margin": 0.1, "detect": 0.1}, "detect must be omitted with margin"),
        ({"k": 5, "epsilon": 1.0, "margin": 1.0}, "margin must lie strictly between 0 and 1"),
        ({"k": 5, "epsilon": 1.0, "suspicion": 0.1}, "suspicion must be given if and only if at_most is"),
        ({"k": 5, "suspicion": 0.1, "at_most": 0.05}, "at_most must lie strictly between 0.1 and 1"),
        ({"k": 5, "epsilon": 1.0, "top": 5}, "top must be a whole number from 1 to 4"),
        ({"k": 5, "epsilon": -1.0}, "epsilon must be positive"),
        ({"k": 5, "epsilon": 1.0, "n": 0}, "n must be a whole number from 1"),
        ({"k": 5, "epsilon": 1.0, "candidates": 7}, "candidates must be left out"),
    ],
)
def test_wrong_questions_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.plan(**given)


def test_without_epsilon_a_usual_one_is_assumed_and_others_are_named() -> None:
    assumed, stated = dn.plan(k=30, n=5_000), dn.plan(k=30, n=5_000, epsilon=1.0)
    assert (assumed.mechanism, assumed.margin) == (stated.mechanism, stated.margin)
    assert assumed.notes[0].startswith(
        "Epsilon was not given; this is for 1. With 5,000 users the margin is 10.6% at epsilon 0.5"
    )
    assert dn.plan(k=30).n == 10_000


def test_a_plan_says_what_its_mechanism_takes_to_run() -> None:
    found = dn.plan(k=22_000, epsilon=1.0, n=10**6)
    memory = found.mechanism.memory()
    assert found.to_dict()["memory"] == memory._asdict()
    assert found.to_dict()["setup_seconds"] == found.mechanism.setup_seconds
    assert f"  memory     {memory}\n" in str(found)
    assert "  setup      at once\n" in str(found)
    assert str(memory).endswith(f"summary {8 * found.mechanism.layout.cells / 2**10:.3g} KiB")
