"""What the contract needs to know of each mechanism beyond its registration: one `Case`, in its own test file.

A test file under tests/mechanisms says `CASE = Case("name", ...)`, or `CASES = [...]` for several mechanisms. Only what
differs from the defaults is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.testing import Traits
from deniable.testing.checks import EPSILONS
from deniable.testing.contract import USUAL_SETTINGS
from tests import ROOT
from tests.contract.vectors import Vector

Setting = dict[str, Any]

_FEW_VALUES, _MANY_VALUES = (2, 3, 5, 8, 12), (1000, 22_000, 2**24)
_BELOW_ALL_USE = (1e-9, 1e-12, 1e-15, 3e-16)


def _nothing(_: int) -> Setting:
    return {}


class Refused(NamedTuple):
    """How many settings a mechanism refuses, with the reason: of `enumerable`, and of `plain`."""

    enumerable: int = 0
    plain: int = 0


_NONE = Refused()


@dataclass(frozen=True)
class Case(Traits):
    """The settings of a mechanism that the contract is checked on, and the traits that the checks are told."""

    name: str

    small: Sequence[Setting] = USUAL_SETTINGS  # small enough to enumerate every report and every word; two at least
    large: Setting = field(default_factory=lambda: {"k": 500, "epsilon": 3.0})  # some hundred values
    sizes: Sequence[int] = (2, 10, 100, 1000)  # whose numbers the documents show, where they are served

    needed: Callable[[int], Setting] = _nothing  # what a mechanism for k values cannot be made without
    few: Callable[[int], Setting] = _nothing  # what else it is made with for few reports, where every one is tried
    largest: int = _FEW_VALUES[-1]  # the largest domain of which every report is tried
    refused: Refused = _NONE

    vectors: Mapping[str, Vector] = field(default_factory=dict)  # by the last part of their file's name

    def one(self, **changes: Any) -> Mechanism:
        """A small mechanism, for checks that need just one."""
        return dn.mechanism(self.name, **{**self.one_setting, **changes})

    @property
    def one_setting(self) -> Setting:
        """What `one` is made with."""
        return self.small[-2]

    def last(self) -> Mechanism:
        """The last of the small mechanisms, in which faults of its answers are planted."""
        return dn.mechanism(self.name, **self.small[-1])

    def large_one(self) -> Mechanism:
        """A mechanism for some hundred values."""
        return self.sized(**self.large)

    def sized(self, k: int, epsilon: float) -> Mechanism:
        """A mechanism for k values."""
        return dn.mechanism(self.name, k=k, epsilon=epsilon, **self.needed(k))

    def enumerable(self) -> list[Setting]:
        """Settings of a few values, at any epsilon, of which every report is tried."""
        sizes = [k for k in _FEW_VALUES if k <= self.largest]
        return [{"k": k, "epsilon": e, **self.needed(k), **self.few(k)} for k in sizes for e in EPSILONS]

    def plain(self) -> list[Setting]:
        """Settings of few and of many values at any epsilon, made with nothing else unless it is needed."""
        pairs = [(k, epsilon) for k in (*_FEW_VALUES, *_MANY_VALUES) for epsilon in EPSILONS]
        pairs += [(1000, epsilon) for epsilon in _BELOW_ALL_USE]
        return [{"k": k, "epsilon": epsilon, **self.needed(k)} for k, epsilon in pairs]


def of(name: str) -> Case:
    """The case of one mechanism."""
    if name not in every():
        raise LookupError(f"{name} is no mechanism with a case in tests/mechanisms")
    return every()[name]


def small_settings() -> list[tuple[str, Setting]]:
    """Every mechanism with each of its small settings."""
    return [(name, setting) for name in dn.list_mechanisms() for setting in of(name).small]


@cache
def every() -> dict[str, Case]:
    """The cases of all mechanisms, by name, from the test files that hold them."""
    found = []
    for path in sorted((ROOT / "tests" / "mechanisms").glob("*/test_*.py")):
        if "\nCASE" in path.read_text():
            module = import_module(f"tests.mechanisms.{path.parent.name}.{path.stem}")
            found += [*([module.CASE] if hasattr(module, "CASE") else []), *getattr(module, "CASES", [])]
    return one_for_each(found, dn.list_mechanisms())


def one_for_each(cases: Iterable[Case], names: Iterable[str]) -> dict[str, Case]:
    """The cases by name, of which every name has exactly one."""
    found: dict[str, Case] = {}
    for case in cases:
        if case.name in found:
            raise LookupError(f"{case.name} has two cases in tests/mechanisms; keep one")
        found[case.name] = case
    for name in names:
        if name not in found:
            raise LookupError(f'{name} has no case: write CASE = Case("{name}") into its file in tests/mechanisms')
    if unknown := found.keys() - set(names):
        raise LookupError(f"there is a case in tests/mechanisms, but no such mechanism: {', '.join(sorted(unknown))}")
    return found
