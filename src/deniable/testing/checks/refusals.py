"""What cannot be served is refused with a rule, in one line that names the argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import domain_of, make
from deniable.testing.checks.specs import given
from deniable.testing.expectations import one_line, refused, require

EPSILONS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 50.0)

# What is wrong with a setting, and the argument that the refusal names. Labels are given in place of k.
BAD_SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *[("k", {"k": k}) for k in (1, 0, -3, 2.5, True, 2**31 + 1)],
    *[("epsilon", {"epsilon": e}) for e in (0.0, -1.0, float("nan"), float("inf"), 50.5, "1", 1e-30)],
    ("parameters", {"colour": "blue"}),
    ("domain", {"k": 5, "labels": ["a", "b"]}),
    ("domain", {"k": None}),
    ("domain", {"k": None, "labels": ["only"]}),
    *[("labels", {"k": None, "labels": labels}) for labels in ("abc", ["a", "b", "a"], ["a", 1], ["a", "\ud800"])],
]

BAD_VALUES: list[Any] = [
    [-1],
    [None],
    [float("nan")],
    [0.5],
    ["0"],
    [True],
    np.array([0.0, np.nan]),
    np.array([[0, 1]]),
    np.array([1 + 2j]),
    np.array(["2026-01-01"], "datetime64[D]"),
    np.array([2**63], np.uint64),
    "0",
    3,
]


def made(cls: type[Mechanism], *, epsilon: Any, k: Any = None, labels: Any = None, **parameters: Any) -> Mechanism:
    """A mechanism of a class, registered or not, by the arguments of `dn.mechanism`."""
    return make(cls, domain_of(k, labels, None), epsilon, **parameters)


def check_bad_settings_are_refused(m: Mechanism) -> None:
    """A setting that cannot be served is refused in one line, which begins with the argument that is wrong."""
    for argument, change in BAD_SETTINGS:
        setting: dict[str, Any] = {"k": m.k, "epsilon": m.epsilon, **given(m), **change}
        with refused(InvalidArgument, f"^{argument} must .*$", f"the setting {change}") as reason:
            made(type(m), **setting)
        one_line(reason[0])


def check_bad_values_are_refused(m: Mechanism) -> None:
    """Values outside the domain, of another type or in another shape are refused in one line."""
    numbered = make(type(m), domain_of(m.k, None, None), m.epsilon, **given(m))
    for values in [*BAD_VALUES, [m.k], [0, 1, m.k + 90]]:
        with refused(InvalidArgument, "^value.* must ", f"the values {values!r}") as reason:
            numbered.privatize(values)
        one_line(reason[0])


def served(cls: type[Mechanism], settings: list[dict[str, Any]], refusals: list[str]) -> Iterator[Mechanism]:
    """The mechanisms of these settings; refused ones leave their reason, one line with a rule, in `refusals`."""
    for setting in settings:
        try:
            found = made(cls, **setting)
        except InvalidArgument as reason:
            require(" must " in str(reason), f"a refusal must name its rule, got {str(reason)!r}")
            one_line(str(reason))
            refusals.append(f"{setting}: {reason}")
        else:
            yield found
