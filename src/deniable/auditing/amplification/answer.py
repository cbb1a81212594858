"""What `amplify` answers with: central epsilon and delta, the bounds behind them, and their conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.core.display import at_most, brief

CLOSED = "closed form"


@dataclass(frozen=True)
class Amplification:
    """The privacy of one person once reports have been shuffled: (epsilon, delta), against all who see the batch.

    `local` is what each report promises by itself, to whoever knows its sender. `honest` of the `n` reports hide a
    person. `bounds` holds what every bound certifies, and `bound` names the one that was taken; `closed` is the bound
    in closed form, for comparison. All of it depends on the `conditions`.
    """

    epsilon: float
    delta: float
    local: float
    n: int
    honest: int
    bound: str
    bounds: Mapping[str, float]
    closed: float | None
    conditions: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            **self.__dict__,
            "bounds": dict(self.bounds),
            "conditions": list(self.conditions),
            "notes": [*self.notes],
        }

    def facts(self) -> list[tuple[str, str]]:
        """Names and what the answer says of each."""
        rows = [
            ("central", f"epsilon {at_most(self.epsilon)}, delta {at_most(self.delta)}, by: {self.bound}"),
            ("local", f"epsilon {self.local:.4g} for whoever knows who sent the report"),
            ("hidden by", f"{self.honest:,} honest reports of {self.n:,}"),
        ]
        others = [f"{name} {at_most(value)}" for name, value in self.bounds.items() if name != self.bound]
        if self.closed is not None and self.bound != CLOSED:
            others.append(f"{CLOSED} {at_most(self.closed)}")
        return [*rows, *([("other", "; ".join(others))] if others else [])]

    def __repr__(self) -> str:
        numbers = {"epsilon": at_most(self.epsilon), "delta": at_most(self.delta), "local": f"{self.local:.4g}"}
        return brief(self, **numbers, n=f"{self.n:,}", bound=repr(self.bound))

    def __str__(self) -> str:
        lines = [f"  {name:<11}{text}" for name, text in self.facts()]
        conditions = ["This holds only if:", *(f"  - {text}" for text in self.conditions)]
        return "\n".join(["After the shuffle:", *lines, *conditions, *self.notes])

    def _repr_html_(self) -> str:
        from deniable.cards.markup import card, facts

        return card("Amplification", "after the shuffle", facts(self.facts()), notes=(*self.conditions, *self.notes))
