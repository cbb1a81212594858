"""Evidence, which a summary gives before any method is chosen, and the solution that a method returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable.core.arrays import Counts, Floats
from deniable.core.summary import Summary
from deniable.estimation.channel import Operator
from deniable.estimation.tails import BinomialTails


@dataclass(frozen=True)
class Solution:
    """What an estimation method returns: frequencies, and details of its work."""

    frequencies: Floats
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a method may know: the unbiased estimate with its noise, and the counts behind it.

    `noise` is for the target "users", averaged over values. `tails` holds the number of reports that support each value
    of a pure channel. `operator` is the channel whose reports `counts` counts, where the summary has the likelihood.
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
