"""The result of an exact audit: what is spent, of what was promised, and a witness of it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.auditing.exact.arithmetic import digits, exponential_below, logarithm, rounded, subtract
from deniable.auditing.exact.channel import Channel, Level
from deniable.core.display import brief

_LONGEST = 1024  # bits of a fraction that is written out
_NEARLY = Fraction(999_999, 1_000_000)  # of the largest ratio: another class is shown below this


@dataclass(frozen=True)
class ExactAudit:
    """A channel against what was promised of it.

    `ratio` is None where a report gives a value away: it can never come from another one. Without a promise there is
    nothing to exceed. `faults` say what is wrong besides the ratio, such as draws that are not uniform.
    """

    what: str
    channel: Channel
    promised: Fraction | None
    labels: tuple[str, ...] = ()  # of the values that witnesses name, by index, as far as they are known
    vectors: str = ""  # what became of the published vectors, if they were run
    broken: tuple[str, ...] = ()  # vectors that the code does not reproduce

    @property
    def ratio(self) -> Fraction | None:
        """The largest ratio of a report's probabilities under two values."""
        return self.channel.worst.ratio

    @cached_property
    def spent(self) -> Decimal | None:
        """log(ratio): the epsilon that is spent; None if it is infinite."""
        return None if self.ratio is None else logarithm(self.ratio)

    @property
    def slack(self) -> Decimal | None:
        """The part of the promise that is not spent."""
        return None if self.promised is None or self.spent is None else subtract(self.promised, self.spent)

    @cached_property
    def exceeds(self) -> bool:
        """Whether the ratio is above E = floor(e^promised 2^64)/2^64, the largest a mechanism may have."""
        if self.promised is None:
            return False
        return self.ratio is None or self.ratio > exponential_below(self.promised)

    @property
    def is_bound(self) -> bool:
        """Whether the ratio is only known to be no larger: no report is known that has it."""
        return self.channel.worst.witness is None

    @property
    def faults(self) -> tuple[str, ...]:
        """All that is wrong besides the ratio."""
        return (*self.channel.faults, *self.broken)

    @property
    def passed(self) -> bool:
        """Whether the promise is kept and nothing else is wrong."""
        return not self.exceeds and not self.faults

    def label(self, index: int) -> str:
        """A value as its owner names it."""
        return self.labels[index] if index < len(self.labels) else str(index)

    @property
    def verdict(self) -> str:
        """One line for a person in a hurry."""
        if self.exceeds:
            if self.is_bound:
                return "MAY EXCEED what was promised: what is known of the ratio is a bound"
            return "EXCEEDS what was promised" if self.ratio is not None else "GIVES VALUES AWAY: no epsilon holds"
        if self.faults:
            return "FAULTY"
        if self.promised is None:
            return "nothing was promised to compare with" if self.ratio is not None else "no epsilon holds"
        return "keeps its promise"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What there is to say, line by line."""
        lines = [("exact audit", f"{self.verdict} ({self.channel.method})")]
        if self.promised is not None:
            lines.append(("promised", f"epsilon {float(self.promised)!r}"))
        if self.ratio is None or self.spent is None:
            lines.append(("largest ratio", "infinite: another value never makes this report"))
        else:
            most, least = ("at most ", "at least ") if self.is_bound else ("", "")
            lines.append(("largest ratio", most + self._ratio_shown(self.ratio)))
            lines.append(("epsilon spent", most + digits(self.spent)))
            if self.slack is not None:
                name, sign = ("slack", least) if self.slack >= 0 else ("excess", most)
                lines.append((name, f"{sign}{abs(self.slack):.3g}"))
        lines.append(("witness", self._witnessed(self.channel.worst)))
        second = self._second
        if second is not None:
            lines.append(("second class", self._witnessed(second)))
        if self.channel.rate is not None:
            sign = "at most " if self.channel.rate_is_bound else ""
            blind = f"(without it {100 / self.channel.values:.4g}%)"
            lines.append(
                ("attack rate", f"{sign}{100 * float(self.channel.rate):.4g}% of guesses from one report {blind}")
            )
        if self.vectors:
            lines.append(("vectors", self.vectors))
        return lines + [("fault", fault) for fault in self.faults]

    @property
    def _second(self) -> Level | None:
        """The next class of reports, if it is neither nearly the first one nor without any information."""
        most = self.channel.worst.size
        return next((each for each in self.channel.levels[1:] if 1 < each.size < most * _NEARLY), None)

    @staticmethod
    def _ratio_shown(ratio: Fraction) -> str:
        bits = ratio.numerator.bit_length()
        written = f"{ratio.numerator}/{ratio.denominator}" if bits <= _LONGEST else f"(a fraction of {bits:,} bits)"
        return f"{digits(ratio)}... = {written}"

    def _witnessed(self, level: Level) -> str:
        at = level.witness
        if at is None:
            return "none found: no report has a larger ratio, but none is known that has it"
        if level.ratio == 1:
            return "none: every report is equally likely under all values"
        times = "infinitely more" if level.ratio is None else f"{rounded(level.ratio)} times as"
        than = "than" if level.ratio is None else "as"
        from_to = f"from {self.label(at.value)!r} {than} from {self.label(at.other)!r}"
        return f"{times} likely {from_to}: report {self.channel.describe(at.report)}"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        at = self.channel.worst.witness
        return {
            "what": self.what,
            "verdict": self.verdict,
            "passed": self.passed,
            "promised": None if self.promised is None else float(self.promised),
            "ratio": None if self.ratio is None else f"{self.ratio.numerator}/{self.ratio.denominator}",
            "ratio_digits": None if self.ratio is None else digits(self.ratio),
            "epsilon": None if self.spent is None else digits(self.spent),
            "slack": None if self.slack is None else float(self.slack),
            "exceeds": self.exceeds,
            "ratio_is_bound": self.is_bound,
            "witness": None
            if at is None
            else {
                "value": self.label(at.value),
                "other": self.label(at.other),
                "report": self.channel.describe(at.report),
            },
            "attack_rate": None if self.channel.rate is None else float(self.channel.rate),
            "attack_rate_is_bound": self.channel.rate_is_bound,
            "reports": self.channel.reports,
            "method": self.channel.method,
            "vectors": self.vectors,
            "faults": list(self.faults),
        }

    def __str__(self) -> str:
        return text_of(self.what, self.facts)

    def __repr__(self) -> str:
        spent = "infinite" if self.spent is None else f"{float(self.spent):.6g}"
        return brief(self, self.verdict, what=self.what, epsilon=spent)

    def _repr_html_(self) -> str:
        from deniable.cards.markup import card, facts

        return card("Exact audit", self.what, facts(self.facts))


def text_of(title: str, lines: list[tuple[str, str]]) -> str:
    """A title and facts below each other, aligned."""
    width = max(len(name) for name, _ in lines)
    return "\n".join([title, *(f"  {name.ljust(width)}  {text}" for name, text in lines)])
