"""Looking for liars in a batch of reports: all tests that apply, each with its false-alarm rate and its blind spots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from deniable.auditing.attacks.pairs import ALARM, pair_test, pairs_of, rarity, why_not
from deniable.auditing.attacks.public_laws import public_parts
from deniable.core.display import brief
from deniable.core.domain.open import Open
from deniable.core.errors import EmptySummary
from deniable.core.validate import strictly_between
from deniable.mechanisms.base.mechanism import Mechanism

LEVEL = 1e-6  # false alarms per honest batch and test
_NAMED = 20  # targets that are printed
_BLIND = (
    "A lie for one value alone, which looks like an honest report of it.",
    "A liar who makes an honest report of a value that is not theirs.",
)


@dataclass(frozen=True)
class Check:
    """One test: what it looks at, how rare the result is in honest batches, and whether that is an alarm."""

    name: str
    rarity: float
    alarm: bool
    found: str = ""


@dataclass(frozen=True)
class Detection:
    """What the tests say of a batch. `targets` are the values that lies push, where a test names them.

    `rate` is about the largest share of honest batches with an alarm: the law of pairs is that of many reports.
    `skipped` has a reason for each test that does not apply, `blind` what no test here can see.
    """

    mechanism: str
    n: int
    rate: float
    tests: tuple[Check, ...]
    targets: tuple[Any, ...]
    skipped: tuple[str, ...]
    blind: tuple[str, ...]

    @property
    def alarm(self) -> bool:
        """Whether any test is an alarm."""
        return any(test.alarm for test in self.tests)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            **self.__dict__,
            "alarm": self.alarm,
            "tests": [dict(test.__dict__) for test in self.tests],
            **{name: list(getattr(self, name)) for name in ("targets", "skipped", "blind")},
        }

    def __repr__(self) -> str:
        return brief(self, mechanism=self.mechanism, n=f"{self.n:,}", alarm=self.alarm)

    def __str__(self) -> str:
        verdict = "ALARM: no honest batch looks like this" if self.alarm else "no alarm"
        lines = [f"{verdict} ({self.n:,} reports of {self.mechanism}; false alarms: about {self.rate:.2g} per batch)"]
        for test in self.tests:
            mark = "!" if test.alarm else " "
            lines.append(
                f" {mark} {test.name}: {_chance(test.rarity)} of all honest batches are as unusual{test.found}"
            )
        if self.targets:
            shown = ", ".join(str(label) for label in self.targets[:_NAMED])
            more = f" and {len(self.targets) - _NAMED} more" if len(self.targets) > _NAMED else ""
            lines.append(f"   values that are pushed together: {shown}{more}")
        lines += [f"   not tested: {reason}" for reason in self.skipped]
        return "\n".join([*lines, "What this cannot see:", *(f"  - {text}" for text in self.blind)])


def detect_poisoning(mechanism: Mechanism, reports: Any, *, level: float = LEVEL) -> Detection:
    """Look for false reports in a batch; reports are taken as `summarize` takes them, but must have been kept.

    `level`: the share of honest batches in which each test gives an alarm: at most, and for pairs of values about.

    >>> import deniable as dn
    >>> m = dn.mechanism("oue", k=50, epsilon=1.0)
    >>> dn.detect_poisoning(m, m.privatize([7] * 5000, seed=1)).alarm
    False
    """
    level = strictly_between(0, 1, level=level)
    data, _ = mechanism.checked(reports)
    if not len(data):
        raise EmptySummary("a test needs at least one report; there are none")
    tests: list[Check] = []
    skipped: list[str] = []
    targets: tuple[Any, ...] = ()
    for part in public_parts(mechanism, data):
        rare = part.rarity
        tests.append(Check(part.name, rare, rare <= level))
    if not tests:
        skipped.append(f"reports of {mechanism.name} have no part that is the same for all values")
    reason = "pairs need a list of values" if isinstance(mechanism.domain, Open) else why_not(mechanism, len(data))
    if reason:
        skipped.append(f"pairs of values: {reason}")
    else:
        pairs = pairs_of(mechanism)
        assert pairs is not None
        found = pair_test(mechanism, pairs, data)
        alarm = found.statistic > threshold(level)
        tests.append(Check("pairs of values", found.rarity, alarm, f" (statistic {found.statistic:.2f})"))
        if alarm:
            targets = tuple(mechanism.domain.label(place) for place in found.named.tolist())
    return Detection(
        mechanism.name, len(data), min(1.0, level * len(tests)), tuple(tests), targets, tuple(skipped), _blind(tests)
    )


def threshold(level: float) -> float:
    """The statistic of pairs that honest batches exceed with at most this probability: 8 at the usual level."""
    if level <= 1e-6:
        return max(ALARM, math.pow(-1.5 * math.log(level), 2 / 3))
    low, high = -10.0, ALARM
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if rarity(middle) > level else (low, middle)
    return high


def _blind(tests: list[Check]) -> tuple[str, ...]:
    if any(test.name == "pairs of values" for test in tests):
        return _BLIND
    return ("Lies for several values at once that keep to the laws above.", *_BLIND)


def _chance(rare: float) -> str:
    if rare > 0.5:
        return "most"
    return f"{100 * rare:.2g}%" if rare > 1e-14 else "none"
