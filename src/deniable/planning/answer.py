"""What `plan` answers with: the mechanism, the numbers, what to expect, and the runners-up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable.auditing.amplification.answer import Amplification
from deniable.auditing.attacks.poisoning import Poisoning
from deniable.core.display import brief
from deniable.core.extras import needed
from deniable.core.spec import Spec
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.planning.reasons import RunnerUp
from deniable.planning.verification import Verification, verified


@dataclass(frozen=True)
class Expectation:
    """The margin of error to expect for a value of one share: for this value, and for all values at once.

    `share` is 0 for a rare value; `worst` marks the share with the largest margin.
    """

    share: float
    margin: float
    margin_all: float
    worst: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """The answer of `plan`.

    `found` names what was asked for: "users", "epsilon" or "margin". `margin` is that of a rare value at `level`;
    `visible` is the smallest share that is told from 0 with probability `power`, for a value named in advance, and
    `visible_any` for any of all values. `users` are the users needed for the goal, where that was the question: for a
    rare value, for the worst frequency, and for all values at once. `poisoning` says what liars gain, and
    `amplification` what a shuffle hides, where that was asked.
    """

    mechanism: Mechanism
    found: str
    values: int
    epsilon: float
    spent: float
    n: int
    level: float
    power: float
    bits: int
    attack: float
    margin: float
    visible: float
    visible_any: float
    expect: tuple[Expectation, ...]
    why: str
    runners_up: tuple[RunnerUp, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    users: Mapping[str, int] = field(default_factory=dict)
    top: Mapping[str, float] = field(default_factory=dict)
    suspicion: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    poisoning: Poisoning | None = None
    amplification: Amplification | None = None

    @property
    def spec(self) -> Spec:
        """The spec of the mechanism, for clients and server."""
        return self.mechanism.spec

    def verify(self, runs: int = 20, *, seed: int = 0) -> Verification:
        """Simulate the mechanism, and compare the standard error with the one predicted."""
        return verified(self.mechanism, self.values, self.n, runs, seed)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the mechanism itself, of which the name, parameters and fingerprint are kept, for JSON."""
        spec = self.spec
        plain = {name: value for name, value in self.__dict__.items() if name not in ("mechanism", *_NESTED)}
        return {
            "mechanism": spec.mechanism,
            "parameters": dict(spec.parameters),
            "fingerprint": spec.fingerprint,
            **plain,
            "memory": self.mechanism.memory()._asdict(),
            "setup_seconds": self.mechanism.setup_seconds,
            "expect": [dict(row.__dict__) for row in self.expect],
            "runners_up": [row.to_dict() for row in self.runners_up],
            **{name: dict(getattr(self, name)) for name in ("left_out", "users", "top", "suspicion")},
            "notes": list(self.notes),
            "poisoning": None if self.poisoning is None else self.poisoning.to_dict(),
            "amplification": None if self.amplification is None else self.amplification.to_dict(),
        }

    def __repr__(self) -> str:
        facts = {"epsilon": f"{self.epsilon:g}", "n": f"{self.n:,}", "margin": f"{100 * self.margin:.3g}%"}
        return brief(self, mechanism=self.mechanism.name, values=f"{self.values:,}", **facts)

    def _repr_html_(self) -> str:
        from deniable.planning.cards import plan_card

        return plan_card(self)

    def __str__(self) -> str:
        from deniable.planning.plan_text import as_text

        return as_text(self)

    def __rich__(self) -> Any:
        with needed():
            from rich.text import Text

        return Text(str(self))


_NESTED = ("expect", "runners_up", "left_out", "users", "top", "suspicion", "notes", "poisoning", "amplification")
