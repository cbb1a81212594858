"""What several fresh reports about one value give away: noise that averages out.

Exact for the two values that are easiest to tell apart: each report moves the logarithm of their odds by a step whose
law the channel states (amplification/pair_laws.py), and the steps of independent reports add up. Where the steps have
no common unit, as those of clh, they are rounded to a fine grid; where values share buckets of cohorts, as under orr,
two are taken that share as few as any two might. The answer says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.auditing.amplification.pair_laws import PairLaw, is_bound, pair_laws
from deniable.core.arrays import Floats, Indices
from deniable.core.display import brief
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.mechanisms.base.mechanism import Mechanism

_PARTS = 64  # steps of the grid for the logarithm of the odds, where it has no lattice of its own
MOST_REPORTS = 1000


@dataclass(frozen=True)
class Averaging:
    """How often the best guess between two equally likely values is right after 1, 2, ... fresh reports.

    `epsilons` are the most that so many reports can spend: they add up. `rounded`: the shares are not exact, since the
    log odds were rounded to a grid of 64 steps up to the largest. `bound`: no guess between two values is right more
    often, and it may be that none is as often.
    """

    mechanism: str
    epsilon: float
    right: tuple[float, ...]
    rounded: bool = False
    bound: bool = False

    @property
    def reports(self) -> int:
        """The number of reports of the last guess."""
        return len(self.right)

    @property
    def epsilons(self) -> tuple[float, ...]:
        return tuple(self.epsilon * count for count in range(1, self.reports + 1))

    def reports_until(self, share: float) -> int | None:
        """The least number of reports with which a guess is right this often; None if there are too few here."""
        return next((count for count, right in enumerate(self.right, start=1) if right >= share), None)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the shares, beside the most that the sum of the epsilons allows; with a path, also write a picture."""
        from deniable.plots.repeats import draw_repeats

        most = [1 / (1 + math.exp(-spent)) for spent in self.epsilons]
        return draw_repeats(
            self.right, most, path, bound=self.bound, title=f"{self.mechanism}, epsilon {self.epsilon:.4g} per report"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {**self.__dict__, "right": list(self.right)}

    def __repr__(self) -> str:
        return brief(self, mechanism=self.mechanism, reports=f"{self.reports:,}", right=f"{self.right[-1]:.4g}")

    def __str__(self) -> str:
        right = "at most" if self.bound else "right"
        heading = f"{'reports':>8} {right:>9} {'epsilon':>9}   guess between two equally likely values"
        shown = [count for count in (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 365, 500) if count < self.reports]
        rows = [
            f"{count:8,} {100 * self.right[count - 1]:8.3f}% {self.epsilon * count:9.3g}"
            for count in [*shown, self.reports]
        ]
        note = f"{'':8} shares are about right: the log odds are rounded to 1/{_PARTS} of the largest"
        most = f"{'':8} shares are at most these: the two values share as few buckets as any two might"
        return "\n".join([heading, *rows, *([note] if self.rounded else []), *([most] if self.bound else [])])


def averaging(mechanism: Mechanism, reports: int = 30) -> Averaging:
    """Compute how soon fresh reports about one value give it away: how often the best guess between two is right.

    >>> import deniable as dn
    >>> found = dn.averaging(dn.mechanism("grr", k=2, epsilon=1.0), 10)
    >>> [round(share, 3) for share in found.right[:3]], round(found.right[-1], 3)
    ([0.731, 0.731, 0.822], 0.935)
    """
    reports = whole(1, MOST_REPORTS, reports=reports)
    laws = pair_laws(mechanism)
    if not laws:
        hint = "Composition bounds it: the epsilons of the reports add up."
        raise InvalidArgument("mechanism", "state the law of its reports", mechanism.name, hint)
    best = np.max([_right(law, reports) for law in laws], axis=0)
    rounded = any(not _unit(np.log(law.first / law.second))[1] for law in laws)
    return Averaging(mechanism.name, mechanism.guarantee().epsilon, tuple(best.tolist()), rounded, is_bound(mechanism))


def _right(law: PairLaw, reports: int) -> Floats:
    """How often the sign of the summed log odds is right, after each number of reports: of both values alike."""
    odds = np.log(law.first / law.second)
    unit, _ = _unit(odds)
    steps = np.rint(odds / unit).astype(np.int64)
    first = _one_sided(steps, law.chance * law.first, reports)
    both = (first + _one_sided(-steps, law.chance * law.second, reports)) / 2
    # a guess from more reports is no worse, but for the rounding of odds
    return np.asarray(np.maximum.accumulate(both))


def _one_sided(steps: Indices, chances: Floats, reports: int) -> Floats:
    """How often the sum is positive, where steps have these probabilities, or no sign decides, and a coin does."""
    size = int(np.abs(steps).max())
    step_law = np.bincount(steps + size, chances, 2 * size + 1)
    current, found = np.ones(1), []
    for count in range(1, reports + 1):
        current = np.convolve(current, step_law)
        middle = count * size
        found.append(float(current[middle + 1 :].sum() + current[middle] / 2))
    return np.array(found)


def _unit(odds: Floats) -> tuple[float, bool]:
    """The largest step of which all log odds are multiples, or a fine one; and whether they are."""
    sizes = np.unique(np.round(np.abs(odds[np.abs(odds) > 1e-12]), 9))
    least = float(sizes.min())
    multiples = sizes / least
    if np.abs(multiples - np.rint(multiples)).max() < 1e-6:
        return least, True
    return float(sizes.max()) / _PARTS, False
