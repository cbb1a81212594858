"""What every mechanism states about its cost and its spec, before it is made."""

from __future__ import annotations

import tracemalloc
from dataclasses import asdict
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.limits import DEFAULT, Memory
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.designs.cyclotomy import Cyclotomy
from deniable.mechanisms.numbers import divisors, primitive_root
from tests.contract import cases


def mechanisms(name: str) -> list[Mechanism]:
    case = cases.of(name)
    return [dn.mechanism(name, **setting) for setting in case.small] + [case.large_one()]


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_a_cost_is_stated_before_anything_is_built(name: str) -> None:
    for m in mechanisms(name):
        cost = m.cost(m.domain, m.spec.parameters)
        assert cost.cells == m.layout.cells == len(m.empty_summary().counts)
        assert m.memory() == cost.memory
        assert m.memory().summary == 8 * m.layout.cells
        assert m.setup_seconds == cost.nanoseconds / 1e9
        DEFAULT.check(cost)
        # a spec carries exactly what it must
        needed = m.spec_parameters()
        assert set(m.spec.parameters) == set(needed)
        assert None not in m.spec.parameters.values()
        assert dn.from_spec(m.spec.to_json()) == m


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_epsilon_may_be_a_fraction_or_numpys(name: str) -> None:
    case = cases.of(name)
    epsilon = case.one_setting["epsilon"]
    for other in (Fraction(epsilon), np.float64(epsilon)):
        assert case.one(epsilon=other) == case.one()


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_a_spec_without_a_parameter_is_refused_and_nothing_is_searched_for(name: str) -> None:
    m = cases.of(name).one()
    for missing in (each for each, needed in m.spec_parameters().items() if needed):
        document = m.spec.to_dict()
        for parameters in (
            {each: value for each, value in m.spec.parameters.items() if each != missing},
            {**m.spec.parameters, missing: None},
        ):
            with pytest.raises(dn.SpecError, match=f"missing or unknown parameters for {name}: {missing}$"):
                dn.from_spec({**document, "parameters": parameters})
    for option in ("max_bits", "padding", "rule"):
        with pytest.raises(dn.SpecError, match=f"parameters for {name}: {option}$"):
            dn.from_spec({**m.spec.to_dict(), "parameters": {**m.spec.parameters, option: 20}})


@pytest.mark.parametrize("name", dn.list_mechanisms())
@pytest.mark.parametrize("odd", [None, True, "x", [], {}, [None], -1, 1.5, 10**4000, [[]], {"seed": None}], ids=repr)
def test_odd_parameters_have_a_cost_too(name: str, odd: object) -> None:
    m = cases.of(name).one()
    for each in m.spec_parameters():
        m.cost(m.domain, {**m.spec.parameters, each: odd})
    m.cost(m.domain, {})
    with pytest.raises((dn.SpecError, dn.InvalidArgument)):
        dn.from_spec({**m.spec.to_dict(), "parameters": dict.fromkeys(m.spec.parameters, odd)})


def test_the_summary_of_no_reports_takes_no_second_array() -> None:
    m = dn.mechanism("grr", k=1000, epsilon=1.0)
    empty = m.empty_summary()
    assert not empty.counts.flags.writeable
    own = np.arange(5)
    assert dn.Summary(own, 10, "a" * 64).counts is not own
    own.setflags(write=False)
    assert dn.Summary(own[:], 10, "a" * 64).counts.base is None  # a view is copied: its base may change


@pytest.mark.parametrize("modulus", [3, 5, 7, 11, 13, 17, 31])
def test_sets_that_need_a_transform_cost_one(modulus: int) -> None:
    for classes in divisors(modulus - 1):
        for cohorts in chain.from_iterable(combinations(range(min(classes, 8)), count) for count in range(1, 9)):
            for count, zero in product(range(1, min(classes, 4) + 1), (False, True)):
                sets = Cyclotomy(modulus, classes, tuple(range(count)), zero, cohorts, primitive_root(modulus))
                cost = Cyclotomy.cost({**asdict(sets), "cohorts": list(cohorts), "chosen": list(range(count))})
                table = cost.building // 200 - count - len(cohorts)
                assert (table >= modulus) == (not sets.balanced and classes > 1), sets


@pytest.mark.parametrize("name", ["clh", "csr"])
def test_the_table_that_a_device_makes_of_a_small_modulus_is_stated(name: str) -> None:
    m = dn.mechanism(name, k=65_000, epsilon=1.0)
    dn.mechanism(name, k=1000, epsilon=1.0).privatize_one(0)  # loads what all need
    tracemalloc.start()  # counts what is asked for, arrays too: other than resident memory, the same in every run
    m.privatize_one(0)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 2**20 < taken <= m.memory().report < 2**23
    assert dn.mechanism(name, k=66_000, epsilon=1.0).memory().report < 2**20


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        *(("oue", {"epsilon": epsilon}) for epsilon in (0.1, 1.0, 5.0)),
        *(("ss", {"epsilon": 1.0, "w": w}) for w in (1, 2**13, 2**15, 2**16, 2**17 - 1)),
        ("orappor", {"epsilon": 1.0, "cohorts": 2, "buckets": 2**17, "hashes": 1}),
        ("she", {"epsilon": 1.0}),
        ("sue", {"epsilon": 1.0}),
        ("the", {"epsilon": 1.0}),
    ],
    ids=str,
)
def test_the_bytes_that_a_long_report_takes_are_stated_and_not_exaggerated(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, k=2**16 if name == "she" else 2**17, **setting)
    dn.mechanism(name, k=100, epsilon=1.0).privatize_one(0)  # loads what all need
    tracemalloc.start()
    m.encode(m.privatize_one(0))
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken <= m.memory().report <= 2**20 + 4 * taken


@pytest.mark.parametrize(("name", "k"), [("sue", 3_000_000), ("oue", 2**24), ("ss", 2**20), ("she", 2**16)])
def test_mechanisms_of_long_reports_are_within_the_default_limits_as_far_as_they_are_quick(name: str, k: int) -> None:
    m = dn.mechanism(name, k=k, epsilon=1.0)
    assert m.setup_seconds < 0.25
    assert dn.from_spec(m.spec) == m


def test_memory_just_below_a_unit_is_written_in_full() -> None:
    assert (
        str(Memory(2**30 - 2**14, 3 * 2**29, 500)) == "mechanism 1,024 MiB, first report 1.5 GiB, summary below 1 KiB"
    )
