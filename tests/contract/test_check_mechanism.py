"""The shipped contract: sound mechanisms pass it, planted faults are found, and the report says which and why."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable import ext
from deniable.testing import Checked, ContractBroken, Traits, check_mechanism
from deniable.testing.contract import CHECKS
from tests.contract import faults
from tests.mechanisms.channels.examples import WIDE, nearby

SETTING: dict[str, Any] = {"k": 3, "epsilon": 1.0}


class Nearby(ext.FiniteChannel):
    """Values near the true one are likelier."""

    name = "nearby"
    version = 1

    def ideal(self) -> list[list[float]]:
        return nearby(self.k, self.epsilon)


def test_a_sound_class_passes_every_check_in_the_settings_given() -> None:
    seen: list[str] = []
    found = check_mechanism(Nearby, settings=[SETTING, {"labels": ["a", "b"], "epsilon": 2.0}], progress=seen.append)
    assert isinstance(found, Checked)
    assert found.name == "nearby"
    assert found.settings == ("nearby(k=3, epsilon=1.0)", "nearby(k=2, epsilon=2.0)")
    assert len(found.checks) == len(CHECKS) == len(seen) / 2
    assert str(found).startswith(f"nearby keeps the contract: {len(CHECKS)} checks on 2 settings\n  ok  ")


def test_a_mechanism_that_rejects_words_passes() -> None:
    assert check_mechanism(dn.mechanism("grr", k=5, epsilon=1.0)).refused == ()


def test_a_mechanism_with_labels_and_other_values_passes() -> None:
    domain = dn.Domain.categories(["yes", "no"], other=True)
    assert domain.k == 3
    assert check_mechanism(ext.MatrixMechanism(domain, 1.5, WIDE)).name == "matrix"


def test_the_traits_of_a_mechanism_are_told() -> None:
    m = dn.mechanism("ss", k=4, epsilon=1.0)
    assert check_mechanism(m, traits=Traits(summary_keeps_all=False)).name == "ss"
    with pytest.raises(ContractBroken, match="if a summary keeps less than the reports, say so in the traits"):
        check_mechanism(m)


def changed(name: str, **members: Any) -> type[Any]:
    return type(name, (Nearby,), members)


def turned(self: Any, indices: Any, words: Any, out: Any) -> Any:
    return Nearby.randomize(self, self.k - 1 - indices, words, out)


def claims_less(self: Any) -> Fraction:
    return Nearby.ratio(self) - Fraction(1, 2**80)


def biased(self: Any, summary: dn.Summary) -> Any:
    return Nearby.unbiased(self, summary) + 1e-6


def smaller(self: Any, target: str) -> Any:
    v0, v1, v2 = Nearby.noise(self, target)
    return v0 * (1 - 1e-9), v1, v2


def averaged(self: Any, _evidence: Any, target: str) -> Any:
    return self.noise(target)


def mirrored(self: Any) -> Any:
    return ext.MatrixOperator(self.matrix_run[::-1])


def simulates_too_little(self: Any, true_counts: Any, generator: Any) -> Any:
    return np.roll(Nearby.simulated_counts(self, true_counts, generator), 1)


def crashes(_self: Any, _weights: Any) -> Any:
    raise ZeroDivisionError("no weights")


FAULTS = [
    (changed("ClaimsLess", ratio=claims_less), "The guarantee is the largest ratio", "the ratio that is guaranteed"),
    (changed("Turned", randomize=turned), "All words of few bits, through `randomize`,", "words must lead from 0"),
    (faults.words_depend_on_value(Nearby), "All words of few bits, through `randomize_one`", "whatever its value"),
    (changed("Biased", unbiased=biased), "By every report of every value: the unbiased", "mean of the unbiased"),
    (changed("Smaller", noise=smaller), "By every report of every value: the unbiased", "variance(1.0)"),
    (changed("Averaged", noise_of=averaged), "The error bars of every value", "by noise_of, for users,"),
    (changed("Mirrored", operator=mirrored), "By every report of every value: the variance", "variances_of"),
    (changed("Simulates", simulated_counts=simulates_too_little), "Simulated summaries", "must be near their mean"),
    (faults.reads_any_bytes(Nearby, "AnyBytes"), "Random bytes of lengths", "the bytes of a report that was decoded"),
    (changed("Crashes", scores=crashes), "By every report of every value: the variance", "ZeroDivisionError: no weigh"),
    (changed("NoMethod", default_method="best"), "Every method finds the truth", "default method, 'best', must be"),
]


@pytest.mark.parametrize(("faulty", "check", "why"), FAULTS, ids=lambda item: getattr(item, "__name__", ""))
def test_a_planted_fault_is_found_and_named(faulty: type[Any], check: str, why: str) -> None:
    with pytest.raises(ContractBroken) as caught:
        check_mechanism(faulty, settings=[SETTING])
    assert caught.value.check.startswith(check)
    assert caught.value.setting == "nearby(k=3, epsilon=1.0)"
    assert why in caught.value.why
    assert isinstance(caught.value, AssertionError)


def test_refused_settings_are_listed_and_all_refused_is_a_failure() -> None:
    class OnlyThree(Nearby):
        """Takes three values only."""

        name = "three"

        def ideal(self) -> list[list[float]]:
            if self.k != 3 or self.epsilon < 2:
                raise dn.InvalidArgument("k", "be 3, and epsilon at least 2,", self.k)
            return super().ideal()

    found = check_mechanism(OnlyThree)
    assert found.settings == ("three(k=3, epsilon=3.0)",)
    assert len(found.refused) == 8
    assert "  refused  {'k': 2, 'epsilon': 0.5}: k must be 3" in str(found)

    class Never(Nearby):
        """Takes nothing."""

        name = "never"

        def ideal(self) -> list[list[float]]:
            raise dn.InvalidArgument("k", "be more", self.k)

    with pytest.raises(ContractBroken, match="the usual settings make a mechanism"):
        check_mechanism(Never)


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="settings must make at most 4096 different reports"):
        check_mechanism(dn.mechanism("oue", k=40, epsilon=1.0))
    with pytest.raises(dn.InvalidArgument, match="mechanism must be a Mechanism"):
        check_mechanism(int)  # type: ignore[type-var]
    with pytest.raises(dn.InvalidArgument, match="settings must be left out"):
        check_mechanism(dn.mechanism("grr", k=3, epsilon=1.0), settings=[SETTING])


def test_no_test_framework_is_needed_and_checks_hold_without_assertions() -> None:
    program = """
import sys
sys.modules["pytest"] = sys.modules["hypothesis"] = None
import deniable as dn
from deniable.testing import check_mechanism, ContractBroken
class Wrong(dn.RandomizedResponse):
    def reconstruction_rate(self):
        return super().reconstruction_rate() / 2
try:
    check_mechanism(Wrong, settings=[{"k": 2, "epsilon": 1.0}])
except ContractBroken as broken:
    print(broken.check)
"""
    done = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("The attack rate is that of the best guess")
