"""What a summary says before any method is chosen, and what a method answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable.core.arrays import Counts, Floats
from deniable.core.summary import Summary
from deniable.estimation.channel import Operator
from deniable.estimation.intervals import BinomialTails


@dataclass(frozen=True)
class Solution:
    """What an estimation method returns: frequencies, and what it has to say about its work."""

    frequencies: Floats
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a method may know: the unbiased estimate with its noise, and what lies behind it.

    `noise` is that of the target "users", averaged over values. `tails` holds how many reports support each value of a
    pure channel. `operator` is the channel whose reports `counts` counts, where the summary carries the likelihood.
    """

    summary: Summary
    unbiased: Floats
    noise: tuple[float, float, float]
    counts: Counts
    tails: BinomialTails | None = None
    operator: Operator | None = None

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.summary.n


Method = Callable[[Evidence], Solution]
