"""What a published vector is made of: a setting, and values; and domains that several mechanisms publish them for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism

_ENOUGH = 20

FOUR = ["yes", "no", "naïve", "漢字"]
SIX = [*FOUR, "a", "b"]
WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
TEN = [*WEEK, "ä", "β", "漢"]

OPEN = dn.Domain.open(key="home page", max_bytes=20, other=True, no_answer=True)
STRINGS = ["example.org", "", "naïve", "漢字", "🦜", "a", "A", "x" * 20, "x" * 21, None]


def numbered(each: int) -> list[str]:
    """Labels of three scripts, the given number of each."""
    return [f"{letter}{number}" for letter in "äβ漢" for number in range(each)]


def integers(high: int) -> dn.Domain:
    """A range of whole numbers from -3, with categories for other values and for no answer."""
    return dn.Domain.integers(-3, high, other=True, no_answer=True)


@dataclass(frozen=True)
class Vector:
    """What a mechanism is made with, and the values whose reports are published.

    Without values these are all the values of the domain, over and over until there are twenty or more.
    """

    setting: dict[str, Any]
    values: Sequence[Any] = ()
    as_strings: bool = True  # whether 64-bit words are decimal strings, which every language reads exactly

    def values_for(self, mechanism: Mechanism) -> list[Any]:
        """The values to publish."""
        if self.values:
            return list(self.values)
        labels = mechanism.domain.all_labels()
        return labels * -(-_ENOUGH // len(labels))
