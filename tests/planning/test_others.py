"""Plans that reckon with other people: liars, and a shuffle that hides who sent what."""

from __future__ import annotations

from typing import Any

import pytest

import deniable as dn


def test_a_plan_says_what_liars_gain() -> None:
    plan = dn.plan(k=100, epsilon=1.0, n=10_000, liars=0.01, targets=10)
    assert plan.poisoning is not None
    assert plan.poisoning.shift == dn.poisoning(plan.mechanism, 10, liars=0.01, n=10_000).shift
    assert "1% of users, lying together, add 32.4% to 10 values" in str(plan)
    assert dn.plan(k=100, epsilon=1.0, n=10_000).poisoning is None


def test_a_plan_says_what_a_shuffle_hides() -> None:
    plan = dn.plan(k=50, epsilon=1.0, n=20_000, shuffled=True, delta=1e-6, liars=0.1)
    assert plan.amplification is not None
    assert plan.amplification.honest == 18_000
    assert plan.amplification == dn.amplify(plan.mechanism, n=20_000, delta=1e-6, liars=0.1)
    assert plan.to_dict()["amplification"]["delta"] == 1e-6
    assert "shuffled" in str(plan)


@pytest.mark.parametrize("central", [0.05, 0.5])
def test_the_local_epsilon_is_the_largest_that_gives_the_central_one(central: float) -> None:
    plan = dn.plan(k=20, n=10_000, shuffled=True, central_epsilon=central, delta=1e-6)
    assert plan.amplification is not None
    assert plan.found == "epsilon"
    assert plan.amplification.epsilon <= central
    more = dn.mechanism(plan.mechanism.name, k=20, epsilon=plan.epsilon + 0.01)
    assert dn.amplify(more, n=10_000, delta=1e-6).epsilon > central


def test_a_smaller_epsilon_or_suspicion_is_kept() -> None:
    question: dict[str, Any] = {"k": 20, "n": 10_000, "shuffled": True, "central_epsilon": 0.5, "delta": 1e-6}
    assert dn.plan(**question, epsilon=0.5).epsilon == 0.5
    assert dn.plan(**question, suspicion=0.1, at_most=0.2).epsilon <= 0.811


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shuffled": True}, "delta must be given for reports that are shuffled"),
        ({"shuffled": True, "delta": 0.0}, "No shuffle gives delta 0"),
        ({"shuffled": True, "delta": 1e-6, "n": None}, "n must be given for reports that are shuffled"),
        ({"shuffled": True, "delta": 1e-6, "ids": True}, "ids must be left out"),
        ({"delta": 1e-6}, "delta must be left out"),
        ({"central_epsilon": 0.1}, "central_epsilon must be left out"),
        ({"liars": 1.0}, "liars must lie strictly between 0 and 1"),
        ({"liars": 0.1, "targets": 21}, "targets must be a whole number from 1 to 20"),
        ({"shuffled": True, "delta": 1e-6, "central_epsilon": 0.1, "epsilon": 5.0}, "epsilon must be at most"),
        ({"shuffled": True, "delta": 1e-6, "central_epsilon": 0.1, "margin": 1e-4}, "It takes"),
        ({"shuffled": True, "delta": 1e-6, "central_epsilon": 1e-5}, "central_epsilon must be larger"),
    ],
)
def test_wrong_questions_are_answered_clearly(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.plan(**{"k": 20, "n": 1000, **options})
