"""Faults planted in what mechanisms of every family answer: each must be caught by the check named beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import deniable as dn
from deniable.estimation.channel import Listing
from tests.contract import answer_faults, faults, settings
from tests.contract import answers as contract_of_answers

SEED = 5

Fault = Callable[[type[Any]], type[Any]]


def likelihood(m: Any) -> None:
    contract_of_answers.check_likelihood(m, SEED)


def tails(m: Any) -> None:
    contract_of_answers.check_tails(m, SEED)


support, truth = contract_of_answers.check_support, contract_of_answers.check_methods_find_the_truth

LIKELIHOOD = tuple(name for name in dn.list_mechanisms() if name not in settings.KEEP_LESS)
PURE = ("blh", "clh", "csr", "design", "flh", "grr", "hr", "olh", "oue", "pgr", "ss", "sue", "the")
OF_SUMMARIES = ("clh", "csr", "design", "hcms", "hpgr", "hr", "orr", "rhr")  # the default method asks the operator

PLANTED: list[tuple[Fault, Callable[[Any], None], tuple[str, ...]]] = [
    (answer_faults.mirrored_values, likelihood, LIKELIHOOD),
    (answer_faults.mirrored_reports, likelihood, LIKELIHOOD),
    (answer_faults.mirrored_evidence, likelihood, LIKELIHOOD),
    (answer_faults.mirrored_entries, likelihood, ("clh", "csr", "hcms", "hpgr", "hr", "olh", "orr", "rhr")),
    (answer_faults.mirrored_kept_reports, likelihood, settings.KEEP_LESS),
    (answer_faults.next_values_support, support, PURE),
    (answer_faults.next_values_support, tails, PURE),
    (answer_faults.mirrored_tails, tails, PURE),
    (answer_faults.tails_of_another_channel, tails, PURE),
    (answer_faults.mirrored_values, truth, OF_SUMMARIES),
    (answer_faults.mirrored_evidence, truth, ("blh", "flh", "olh")),
    (answer_faults.backwards_by_default, truth, tuple(dn.list_mechanisms())),
]


def every_plant() -> Iterator[Any]:
    for fault, check, names in PLANTED:
        for name in names:
            yield pytest.param(fault, check, name, id=f"{fault.__name__}-{name}-{check.__name__}")


@pytest.mark.parametrize(("fault", "check", "name"), list(every_plant()))
def test_a_fault_in_the_answers_is_caught(fault: Fault, check: Callable[[Any], None], name: str) -> None:
    sound = settings.last_of(name)
    faults.assert_caught(check, sound, fault(type(sound))(sound.domain, sound.epsilon, **sound._parameters()))


def test_the_turned_list_of_entries_is_seen_as_one() -> None:
    sound = settings.last_of("csr")
    turned = answer_faults.mirrored_entries(type(sound))(sound.domain, sound.epsilon, **sound._parameters())
    assert isinstance(turned.operator(), Listing)
