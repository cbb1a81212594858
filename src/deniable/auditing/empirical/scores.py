"""Scores that tell reports of two values apart, learnt from some reports and judged on others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.auditing.empirical.bounds import lower_limits
from deniable.core.arrays import Floats, Integers

_MOST_ROWS = 2**16  # different reports that are counted one by one
_TELLING = 4  # columns whose joint table is kept
_SIGNIFICANT = 4.0  # standard deviations by which a column must differ to be used
_SHIFT = 0.5  # added to counts, so that a report never seen has a finite score
_LEAST_GUESSES = 50
_TRIED = 200  # thresholds
_CAREFUL = 0.01  # the level of the limit by which events are compared
_ALIKE = 0.004  # a share of the bound by which thresholds may differ by chance
_HASH = np.uint64(0x9E3779B97F4A7C15)

Score = Callable[[Integers], Floats]


@dataclass(frozen=True)
class Event:
    """A rule: guess the first value where the score reaches the threshold, the second where it is as far below 0."""

    name: str
    score: Score
    threshold: float
    promise: float  # the bound that is predicted for it

    def guesses(self, rows: Integers) -> Integers:
        """1 for the first value, -1 for the second, 0 to abstain."""
        scores = self.score(rows)
        return (scores >= self.threshold).astype(np.int64) - (scores <= -self.threshold)


def keys_of(rows: Integers) -> Integers:
    """One number for each row, the same for equal rows."""
    if rows.shape[1] == 1:
        return np.asarray(rows[:, 0])
    key = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        key = (key ^ rows[:, column].astype(np.uint64)) * _HASH
        key ^= key >> np.uint64(29)
    return key.view(np.int64)


def fitted(one: Integers, other: Integers) -> list[tuple[str, Score]]:
    """The scores that these reports of two values support, each with a name."""
    found: list[tuple[str, Score]] = []
    table = _table(one, other, "the whole report")
    if table is not None:
        found.append(table)
    if one.shape[1] > 1:
        telling = _telling(one, other)
        if len(telling):
            found.append(("the columns that differ, added up", _bayes(one, other, telling)))
            few = np.sort(telling[:_TELLING])
            joint = _table(one[:, few], other[:, few], f"columns {', '.join(map(str, few))}", few)
            if joint is not None:
                found.append(joint)
    return found


def _table(one: Integers, other: Integers, name: str, columns: Integers | None = None) -> tuple[str, Score] | None:
    """The log odds of each different report, or of some of its columns."""
    first, second = keys_of(one), keys_of(other)
    keys = np.unique(np.concatenate([first, second]))
    if len(keys) > min(_MOST_ROWS, len(first)):
        return None
    counts = [np.bincount(np.searchsorted(keys, own), minlength=len(keys)) + _SHIFT for own in (first, second)]
    odds = np.log(counts[0]) - np.log(counts[1])

    def score(rows: Integers) -> Floats:
        own = keys_of(rows if columns is None else rows[:, columns])
        places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        return np.where(keys[places] == own, odds[places], 0.0)

    return name, score


def _telling(one: Integers, other: Integers) -> Integers:
    """The columns whose values differ most between the two, the most telling first."""
    pooled = np.concatenate([one, other])
    spread = np.sqrt(pooled.var(axis=0) * (1 / len(one) + 1 / len(other)))
    apart = np.abs(one.mean(axis=0) - other.mean(axis=0)) / np.maximum(spread, 1e-12)
    order = np.argsort(-apart)
    return np.asarray(order[apart[order] > _SIGNIFICANT])


def _bayes(one: Integers, other: Integers, columns: Integers) -> Score:
    """The sum of the log odds of each column's own values, as if columns were independent."""
    tables = []
    for column in columns.tolist():
        keys = np.unique(np.concatenate([one[:, column], other[:, column]]))[:_MOST_ROWS]
        counts = []
        for own in (one[:, column], other[:, column]):
            places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
            counts.append(np.bincount(places, minlength=len(keys)) + _SHIFT)
        tables.append((column, keys, np.log(counts[0]) - np.log(counts[1])))

    def score(rows: Integers) -> Floats:
        total = np.zeros(len(rows))
        for column, keys, odds in tables:
            places = np.minimum(np.searchsorted(keys, rows[:, column]), len(keys) - 1)
            total += odds[places]
        return total

    return score


def best_event(name: str, score: Score, one: Integers, other: Integers, trials: int, alpha: float) -> Event:
    """The threshold with the best bound to be predicted for so many trials, from reports the score has not seen."""
    scores = np.concatenate([score(one), -score(other)])  # positive where a guess would be right
    size, order = np.abs(scores), np.argsort(-np.abs(scores), kind="stable")
    right = np.cumsum(scores[order] > 0)
    made = np.arange(1, len(order) + 1)
    ends = np.flatnonzero((np.diff(size[order], append=-1.0) != 0) & (size[order] > 0) & (made >= _LEAST_GUESSES))
    if not len(ends):
        return Event(name, score, float("inf"), 0.0)
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, _TRIED).astype(np.int64))]
    # careful: fewer right guesses than seen, so that luck among many thresholds is not chosen
    share = lower_limits(right[ends], made[ends], _CAREFUL)
    guesses = made[ends] * (trials / len(scores))
    low = lower_limits(share * guesses, guesses, alpha)
    promised = np.log(np.maximum(low, 1e-300) / (1 - low))
    most = float(promised.max())
    # of thresholds that are nearly as good as the best the lowest, which guesses most often: differences are chance
    last = ends[promised >= most - _ALIKE * abs(most)].max()
    return Event(name, score, float(size[order[last]]), max(0.0, most))
