"""Faults planted in what mechanisms of every family answer: each must be caught by the check named beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.channel import Listing
from tests.contract import answer_faults, cases, faults
from tests.contract import checks as contract

SEED = 5

Fault = Callable[[type[Any]], type[Any]]


def likelihood(m: Any) -> None:
    contract.check_likelihood(m, SEED)


def tails(m: Any) -> None:
    contract.check_tails(m, SEED)


support, truth = contract.check_support, contract.check_methods_find_the_truth

SOUND = {name: cases.of(name).last() for name in dn.list_mechanisms()}


def those(has: Callable[[Any], bool]) -> tuple[str, ...]:
    """The names of the mechanisms of which that is true."""
    with np.errstate(over="ignore"):  # without the compiler NumPy reports the products that wrap around on purpose
        return tuple(name for name, sound in SOUND.items() if has(sound))


KEEP_ALL = those(lambda m: cases.of(m.name).summary_keeps_all)
KEEP_LESS = those(lambda m: not cases.of(m.name).summary_keeps_all)
LISTING = those(lambda m: isinstance(m.operator(), Listing))
PURE = those(lambda m: m.channel is not None)
BY_OPERATOR = those(lambda m: m.operator() is not None and m.default_method not in m._methods())

PLANTED: list[tuple[Fault, Callable[[Any], None], tuple[str, ...]]] = [
    (answer_faults.mirrored_values, likelihood, KEEP_ALL),
    (answer_faults.mirrored_reports, likelihood, KEEP_ALL),
    (answer_faults.mirrored_evidence, likelihood, KEEP_ALL),
    (answer_faults.mirrored_entries, likelihood, LISTING),
    (answer_faults.mirrored_kept_reports, likelihood, KEEP_LESS),
    (answer_faults.next_values_support, support, PURE),
    (answer_faults.next_values_support, tails, PURE),
    (answer_faults.mirrored_tails, tails, PURE),
    (answer_faults.tails_of_another_channel, tails, PURE),
    (answer_faults.mirrored_values, truth, tuple(name for name in BY_OPERATOR if name != "olh")),  # shows another
    (answer_faults.mirrored_evidence, truth, BY_OPERATOR),
    (answer_faults.backwards_by_default, truth, tuple(SOUND)),
]


def every_plant() -> Iterator[Any]:
    for fault, check, names in PLANTED:
        for name in names:
            yield pytest.param(fault, check, name, id=f"{fault.__name__}-{name}-{check.__name__}")


@pytest.mark.parametrize(("fault", "check", "name"), list(every_plant()))
def test_a_fault_in_the_answers_is_caught(fault: Fault, check: Callable[[Any], None], name: str) -> None:
    sound = SOUND[name]
    faults.assert_caught(check, sound, fault(type(sound))(sound.domain, sound.epsilon, **sound._parameters()))


def test_the_turned_list_of_entries_is_seen_as_one() -> None:
    sound = SOUND["csr"]
    turned = answer_faults.mirrored_entries(type(sound))(sound.domain, sound.epsilon, **sound._parameters())
    assert isinstance(turned.operator(), Listing)
