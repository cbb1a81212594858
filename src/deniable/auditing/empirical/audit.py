"""The result of an empirical audit: a lower bound on epsilon, its failure probability, and what else was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deniable.auditing.exact.audit import text_of
from deniable.core.display import brief

MOST_TRIALS = 10**11  # a day and more


@dataclass(frozen=True)
class EmpiricalAudit:
    """What trials show of code that runs.

    `bound` is a lower bound on the epsilon that is spent; it is above the truth with probability at most `alpha`. An
    audit can prove that a promise is broken, never that it is kept.
    """

    what: str
    promised: float
    bound: float
    alpha: float
    trials: int
    guesses: int
    right: int
    size: int  # values guessed among
    windows: int
    where: str  # what gave the bound
    expected: float | None  # about the bound to expect, where the channel is known
    below: str  # how the reports tell less than they should; empty if they do not
    faults: tuple[str, ...]
    seconds: float
    how: str = ""  # the event of a search

    @property
    def exceeds(self) -> bool:
        """Whether more than was promised is proved to be spent."""
        return self.bound > self.promised

    @property
    def share(self) -> float:
        """The bound as a share of what was promised."""
        return self.bound / self.promised

    @property
    def verdict(self) -> str:
        """One line for a person in a hurry."""
        if self.exceeds:
            return "EXCEEDS what was promised"
        if self.faults:
            return "FAULTY"
        return "TELLS LESS than it should: a fault of utility" if self.below else "no excess found"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What there is to say, line by line."""
        lines = [
            ("empirical audit", f"{self.verdict}, in {self.trials:,} reports ({self.seconds:.1f} s)"),
            ("promised", f"epsilon {self.promised:.6g}"),
            ("epsilon at least", f"{self.bound:.6g}, {self.share:.1%} of it, except with probability {self.alpha:g}"),
        ]
        if self.expected is not None:
            lines.append(("to be expected", f"about {self.expected:.4g}, from code that spends all it promises"))
        guessed = f"{self.right:,} of {self.guesses:,} right, among {self.size} values"
        lines.append(("guesses", guessed + (f", {self.windows:,} windows" if self.windows > 1 else "")))
        lines.append(("bound by", self.where))
        if self.how:
            lines.append(("event", self.how))
        if self.below:
            lines.append(("below", self.below))
        lines += [("fault", fault) for fault in self.faults]
        return [*lines, ("note", "a lower bound: it can prove that a promise is broken, never that it is kept")]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "what": self.what,
            "verdict": self.verdict,
            "promised": self.promised,
            "bound": self.bound,
            "alpha": self.alpha,
            "exceeds": self.exceeds,
            "expected": self.expected,
            "trials": self.trials,
            "guesses": self.guesses,
            "right": self.right,
            "values": self.size,
            "windows": self.windows,
            "bound_by": self.where,
            "event": self.how,
            "below": self.below,
            "faults": list(self.faults),
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        return text_of(self.what, self.facts)

    def __repr__(self) -> str:
        return brief(self, self.verdict, bound=f"{self.bound:.6g}", promised=f"{self.promised:g}", alpha=self.alpha)

    def _repr_html_(self) -> str:
        from deniable.cards.markup import card, facts

        return card("Empirical audit", self.what, facts(self.facts))
