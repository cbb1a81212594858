"""One number derived from an estimate, with its standard error and interval."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from deniable.core.display import brief

ABOUT = {"users": "the users who reported", "population": "the population"}


@dataclass(frozen=True)
class Quantity:
    """A derived answer: a value with its standard error, an interval at a level, and what they refer to.

    `std_error` is None where only an interval is known, as for a quantile. `target` is as in an estimate: "users" or
    "population". `note` says what a reader must know besides. `percent` is whether the value is a share, and printed
    as such.

    >>> print(Quantity("chrome + edge", 0.5387, 0.0094, 0.5203, 0.5571, 0.95, "users", percent=True))
    chrome + edge: 53.87% ± 0.94% (95% interval 52.03% to 55.71%, about the users who reported)
    """

    name: str
    value: float
    std_error: float | None
    low: float
    high: float
    level: float
    target: str
    note: str = ""
    percent: bool = False

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        value, error, low, high = self.numbers
        interval = f"{100 * self.level:g}% interval {low} to {high}"
        return f"{self.name}: {value}{error and f' ± {error}'} ({interval}, about {ABOUT[self.target]})"

    def __repr__(self) -> str:
        value, error, *_ = self.numbers
        return brief(self, f"{self.name}: {value}{error and f' ± {error}'}")

    def _repr_html_(self) -> str:
        from deniable.cards.intervals import quantity_card

        return quantity_card(self)

    @property
    def numbers(self) -> list[str]:
        """The value, the standard error if there is one, and the two ends, to two digits of the error."""
        scale, unit = (100, "%") if self.percent else (1, "")
        error = self.std_error
        doubt = scale * ((self.high - self.low) / 4 if error is None else error)
        digits = min(max(1 - math.floor(math.log10(doubt)), 0), 12) if 0 < doubt < math.inf else 4
        numbers = [scale * float(number) for number in (self.value, self.low, self.high)]
        whole = all(number.is_integer() for number in numbers)  # such as a quantile
        value, low, high = (_fixed(number, 0 if whole else digits, unit) for number in numbers)
        return [value, "" if error is None else _fixed(scale * error, digits if error else 0, unit), low, high]


def _fixed(number: float, places: int, unit: str) -> str:
    if math.isinf(number):
        return "infinity" if number > 0 else "-infinity"
    return "unknown" if math.isnan(number) else f"{number:,.{places}f}{unit}"
