"""Faults that several mechanisms can have, the checks that catch them, and what it means to be caught.

Each fault is a function that takes the class of a sound mechanism and returns it with that fault alone; `name` is what
the test is called by. Faults that only one mechanism can have are classes in its test file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.estimation.channel import PureChannel
from deniable.estimation.evidence import Solution
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract

Check = Callable[[Any], None]


def planted(faults: Iterable[tuple[Any, ...]], names: tuple[str, ...] = ("fault", "check")) -> pytest.MarkDecorator:
    """Runs a test for each fault and the check that must catch it."""
    return pytest.mark.parametrize(names, list(faults), ids=_name)


def _name(item: Any) -> str:
    return getattr(item, "__name__", None) or getattr(item, "name", "-")  # of a class or check; of a mechanism


def assert_caught(check: Check, sound: Any, faulty: Any) -> None:
    """The check lets the sound mechanism pass, and not the faulty one."""
    check(sound)
    with pytest.raises(AssertionError):
        check(faulty)


# Checks --------------------------------------------------------------------------------------------


def kernel(bits: int) -> Check:
    return _check("kernel", lambda m: contract.check_kernel_makes_the_channel(m, bits))


def plain_path(bits: int) -> Check:
    return _check("plain_path", lambda m: contract.check_plain_path_makes_the_channel(m, bits))


def coarse_unbiased(bits: int) -> Check:
    """With so few bits the integers' probabilities are far from those of e^epsilon."""
    return _check("coarse_unbiased", lambda m: contract.check_unbiased_and_variance(contract.coarse(m, bits)))


def batch(seed: int) -> Check:
    return _check("batch", lambda m: contract.check_batch_equals_one_by_one(m, seed))


def counts(seed: int) -> Check:
    return _check("counts", lambda m: contract.check_summary_counts_every_report(m, seed))


def simulation(seed: int) -> Check:
    return _check("simulation", lambda m: contract.check_simulation_follows_channel(m, seed))


def mean_over_reports(seed: int) -> Check:
    return _check("mean_over_reports", lambda m: contract.check_estimate_is_a_mean_over_reports(m, seed))


def decoding(data: bytes) -> Check:
    return _check("decoding", lambda m: contract.check_bytes_decode_or_are_refused(m, data))


def _check(name: str, check: Check) -> Check:
    check.__name__ = name
    return check


# Thresholds ----------------------------------------------------------------------------------------


def more_truth(sound: type[Any], name: str = "MoreTruth") -> type[Any]:
    """One step more truth than epsilon allows."""
    return _changed_thresholds(sound, name, lambda t: {"truth": t["truth"] + 1})


def dropped_rejection(sound: type[Any], draw: str, name: str = "DroppedRejection") -> type[Any]:
    """Keeps the draws under which some results are likelier than others."""
    return _changed_thresholds(sound, name, lambda _: {draw: 0})


def _changed_thresholds(sound: type[Any], name: str, change: Callable[[Any], dict[str, int]]) -> type[Any]:
    def thresholds(self: Any, bound: Fraction, modulus: int) -> dict[str, int]:
        right = sound._thresholds(self, bound, modulus)
        return {**right, **change(right)}

    return type(name, (sound,), {"_thresholds": thresholds})


def dropped_rejections(sound: type[Any], name: str = "DroppedRejection") -> type[Any]:
    """The same for every draw of a subset."""

    rejections = property(lambda self: np.zeros_like(sound.rejections.func(self)))
    return type(name, (sound,), {"rejections": rejections})


def claims_all_of_epsilon(sound: type[Any], name: str) -> type[Any]:
    """Declares e^epsilon whatever runs."""
    return type(name, (sound,), {"ratio": lambda self: exponential_below(self.epsilon)})


# Words ---------------------------------------------------------------------------------------------


def words_depend_on_value(sound: type[Any], name: str = "WordsDependOnValue") -> type[Any]:
    """Reads nothing at all for value 0."""

    def randomize_one(self: Any, index: int, choices: Any) -> Any:
        return next(iter(self.layout.all())) if index == 0 else sound.randomize_one(self, index, choices)

    return type(name, (sound,), {"randomize_one": randomize_one})


def class_only_if_needed(sound: type[Any], name: str = "WordsDependOnCoin") -> type[Any]:
    """Draws the uniform class, under a public coin, only for a lie."""

    def randomize_one(self: Any, index: int, choices: Any) -> Any:
        t = self.thresholds
        truthful = choices.coin(t["truth"])
        replacement = 0 if truthful else choices.below(self.classes, t["rejection_class"])
        return self._payload_of(index, truthful, replacement, choices.below(self.publics, t["rejection_public"]))

    return type(name, (sound,), {"randomize_one": randomize_one})


def place_only_if_needed(sound: type[Any], name: str = "WordsDependOnCoin") -> type[Any]:
    """Draws the place inside a shifted set or the one outside, not both."""

    def randomize_one(self: Any, index: int, choices: Any) -> Any:
        t, (cohorts, inside, outside) = self.thresholds, self._bounds
        truthful = choices.coin(t["truth"])
        cohort = choices.below(cohorts, t["rejection_cohort"])
        if truthful:
            place = choices.below(inside, t["rejection_inside"])
        else:
            place = inside + choices.below(outside, t["rejection_outside"])
        sets = self.sets
        return cohort * sets.modulus + (index + sets.multipliers[cohort] * int(sets.element(place))) % sets.modulus

    return type(name, (sound,), {"randomize_one": randomize_one})


def neighbours_word(sound: type[Any], name: str) -> type[Any]:
    """Takes the last word of a report from its neighbour."""

    def randomize(self: Any, indices: Any, words: Any, out: Any) -> Any:
        rows = words.reshape(-1, self.stride).copy()
        rows[:, -1] = np.roll(rows[:, -1], 1)
        return sound.randomize(self, indices, rows.reshape(-1), out)

    return type(name, (sound,), {"randomize": randomize})


# Reports -------------------------------------------------------------------------------------------


def stray_bits(sound: type[Any], size: str, name: str = "StrayBits") -> type[Any]:
    """Leaves bits beyond the last place as the coins fell."""

    def randomize(self: Any, indices: Any, words: Any, out: Any) -> Any:
        again = sound.randomize(self, indices, words, out)
        out[:, -1] |= np.uint64(1 << getattr(self, size))
        return again

    return type(name, (sound,), {"randomize": randomize})


def wrong_set(sound: type[Any], name: str = "WrongSet") -> type[Any]:
    """A set of the right size that is no difference set."""
    if not hasattr(sound, "sets"):
        return type(name, (sound,), {"elements": property(lambda self: np.arange(self.block_size, dtype=np.uint32))})

    def sets(self: Any) -> Any:
        right = sound.sets.func(self)
        elements = property(lambda one: np.arange(one.modulus, dtype=np.uint32))
        return type(name, (type(right),), {"elements": elements})(right.q, right.t)

    return type(name, (sound,), {"sets": property(sets)})


def reads_any_bytes(sound: type[Any], name: str) -> type[Any]:
    """Takes bytes that no client sends for some report."""

    def unpack(self: Any, data: bytes) -> Any:
        possible = list(self.all())
        return possible[int.from_bytes(data, "big") % len(possible)]

    return with_layout(sound, name, unpack=unpack)


def with_layout(sound: type[Any], name: str, **methods: Callable[..., Any]) -> type[Any]:
    """The mechanism with some methods of its layout replaced; they may call those of `type(self).__base__`."""

    def layout(self: Any) -> Any:
        right = sound.layout.func(self)
        kind = type(name, (type(right),), methods)
        return kind(**{field.name: getattr(right, field.name) for field in fields(right)})

    return type(name, (sound,), {"layout": property(layout)})


# Estimates and what is stated ----------------------------------------------------------------------


def ideal_probabilities(
    sound: type[Any], ideal: Callable[[Any], Any], name: str = "IdealEstimator", stated_by: str = "channel"
) -> type[Any]:
    """Declares the probabilities of e^epsilon instead of those of the integers that run."""
    return type(name, (sound,), {stated_by: property(lambda self: ideal(self))})


def ideal_estimator(sound: type[Any], ideal: Callable[[Any], PureChannel], name: str = "IdealEstimator") -> type[Any]:
    """Estimates with the probabilities of e^epsilon, and declares the right ones."""

    def methods(self: Any) -> Any:
        return {
            **sound._methods(self),
            "unbiased": lambda e: Solution(ideal(self).unbiased(self.support_counts(e.summary), e.n)),
        }

    return type(name, (sound,), {"_methods": methods})


def divides_by_cohort_sizes(sound: type[Any], name: str = "DividesByCohortSizes") -> type[Any]:
    """Estimates within each cohort by the size it happens to have, which is no mean over reports."""

    def shares(self: Any, summary: Any) -> Any:
        right, sizes = sound.shares(self, summary)
        return right / np.maximum(sizes[:, np.newaxis] * self.cohorts, 1e-9), sizes

    return type(name, (sound,), {"shares": shares})


def forgets_constant(sound: type[Any], name: str = "ForgetsConstant") -> type[Any]:
    """Takes the constant of the estimate for part of its noise."""

    def second_moments(self: Any, design: Any, weights: Any, constant: Any) -> Any:
        return sound.second_moments(self, design, weights, 0 * constant)

    return type(name, (sound,), {"second_moments": second_moments})


def every_report_covers(sound: type[Any], name: str = "EveryReportCovers") -> type[Any]:
    """Takes it that every report supports one of the values, which a domain that is not full does not ensure."""

    def reconstruction_rate(self: Any) -> Fraction:
        chances = [self._probability(payload, 0) for payload in self.layout.all()]
        return len(chances) * max(chances) / self.k

    return type(name, (sound,), {"reconstruction_rate": reconstruction_rate})
