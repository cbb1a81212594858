"""Judges of claims: paired comparisons over the grid, with a stated probability of a wrong verdict.

A cell of the grid decides for or against a claim when the mean difference over its seeds lies more than z standard
errors from zero, with z chosen so that the probability of any wrong decision over all cells is at most 1%
(Bonferroni; with few seeds, Student's distribution replaces the normal one). Other cells are ties: the
simulation cannot tell, which counts for neither side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from papers.frame.experiment import FAILS, HOLDS, IN_PART, NOT_RUN, Verdict
from papers.frame.rows import Rows

WRONG = 0.01  # probability that any cell decides wrongly
_MOSTLY = 0.5  # below this share of the deciding cells, a claim fails

NOTHING = Verdict(NOT_RUN, "no results yet", "")


def never_above(
    metric: str, low: str, high: Sequence[str], *, by: Sequence[str], among: str = "method", slack: float = 0.0
) -> Callable[[Rows], Verdict]:
    """Judge whether the mean metric of `low` is at most that of each of `high`, in each group of `by`.

    `slack` is the share by which it may be larger, for claims of "about the same".
    """

    def judge(rows: Rows) -> Verdict:
        cells = [
            _difference(group, metric, among, low, other, slack)
            for _, group in rows.groups(*by)
            for other in high
            if other in group.values(among) and low in group.values(among)
        ]
        verdict = decided(cells, f"{low} against {', '.join(high)}", f"{metric} of {low} is no larger")
        return replace(verdict, numbers=verdict.numbers + _largest_ratio(rows, metric, among, low, high, by))

    return judge


def between(metric: str, middle: str, ends: tuple[str, str], *, by: Sequence[str], among: str = "method") -> Any:
    """Judge whether the mean metric of `middle` lies between those of the ends, in each group of `by`."""

    def judge(rows: Rows) -> Verdict:
        cells = []
        for _, group in rows.groups(*by):
            if {middle, *ends} <= set(group.values(among)):
                low, high = sorted(ends, key=lambda end: float(group.where(**{among: end}).column(metric).mean()))
                below = _difference(group, metric, among, low, middle, 0.0)
                above = _difference(group, metric, among, middle, high, 0.0)
                cells.append(min(below, above))
        return decided(cells, f"{middle} between {' and '.join(ends)}", f"{metric} lies between")

    return judge


def never_worst(metric: str, name: str, others: Sequence[str], *, by: Sequence[str], among: str = "method") -> Any:
    """Judge whether the mean metric of `name` is at most the largest of the others, in each group of `by`."""

    def judge(rows: Rows) -> Verdict:
        cells = [
            max(_difference(group, metric, among, name, other, 0.0) for other in others)
            for _, group in rows.groups(*by)
            if {name, *others} <= set(group.values(among))
        ]
        # the best of several comparisons counts for the claim, so each must be more certain
        text = f"{name} against the worst of {', '.join(others)}"
        return decided(cells, text, f"{metric} of {name} is no larger", looks=len(others))

    return judge


def always_lowest(
    metric: str, name: str, *, by: Sequence[str], among: str = "method", rounding: float = 1e-12
) -> Callable[[Rows], Verdict]:
    """Judge whether the metric of `name` is the lowest in every run (a seed of a group of `by`), up to rounding."""

    def judge(rows: Rows) -> Verdict:
        runs = [{row[among]: row[metric] for row in run} for _, run in rows.groups(*by, "seed")]
        if not runs:
            return NOTHING
        low = sum(run[name] <= min(run.values()) + rounding * (1 + abs(run[name])) for run in runs)
        worst = max(run[name] - min(run.values()) for run in runs)
        kind = HOLDS if low == len(runs) else IN_PART if low >= 0.9 * len(runs) else FAILS
        numbers = f"{metric} of {name} is the lowest in {low} of {len(runs)} runs, by at most {worst:.1g} above it"
        return Verdict(kind, numbers, f"every run by itself, up to rounding ({rounding:g})")

    return judge


def centred(metric: str, name: str, *, by: Sequence[str], among: str = "method") -> Callable[[Rows], Verdict]:
    """Judge whether the mean metric of `name` is zero in each group of `by`, as far as chance allows."""

    def judge(rows: Rows) -> Verdict:
        groups = [part.column(metric) for _, part in rows.where(**{among: name}).groups(*by)]
        if not groups:
            return NOTHING
        scores = [abs(_from_zero(group)) for group in groups]
        z = -NormalDist().inv_cdf(WRONG / len(scores) / 2)
        sizes = [abs(float(group.mean())) for group in groups]
        away = sum(score > z for score in scores)
        kind = HOLDS if away == 0 else IN_PART if away <= (1 - _MOSTLY) * len(scores) else FAILS
        numbers = (
            f"mean {metric} of {name} differs from zero in {away} of {len(scores)} cells, by {max(scores):.1f} "
            f"standard errors at most; its size is {max(sizes):.2g} at most"
        )
        return Verdict(kind, numbers, _sure(z))

    return judge


def signed(metric: str, name: str, sign: int, *, by: Sequence[str], among: str = "method") -> Callable[[Rows], Verdict]:
    """Judge whether the mean metric of `name` is above zero (sign 1) or below zero (-1), in each group of `by`."""

    def judge(rows: Rows) -> Verdict:
        groups = [part.column(metric) for _, part in rows.where(**{among: name}).groups(*by)]
        if not groups:
            return NOTHING
        scores = np.array([sign * _from_zero(group) for group in groups])
        z = -NormalDist().inv_cdf(WRONG / len(scores))
        right, wrong = int((scores > z).sum()), int((scores < -z).sum())
        means = [float(group.mean()) for group in groups]
        kind = HOLDS if right == len(scores) else IN_PART if right > wrong else FAILS
        numbers = (
            f"mean {metric} of {name} is {'above' if sign > 0 else 'below'} zero in {right} of {len(scores)} cells, on "
            f"the other side in {wrong}; from {min(means):.3g} to {max(means):.3g}"
        )
        return Verdict(kind, numbers, _sure(z))

    return judge


def alike(
    metric: str, one: str, other: str, *, by: Sequence[str], among: str = "method", slack: float
) -> Callable[[Rows], Verdict]:
    """Judge whether the mean metrics of two methods agree within the share `slack`, in each group of `by`."""

    def judge(rows: Rows) -> Verdict:
        cells = [
            min(_difference(group, metric, among, *pair, slack) for pair in ((one, other), (other, one)))
            for _, group in rows.groups(*by)
            if {one, other} <= set(group.values(among))
        ]
        return decided(cells, f"{one} against {other}", f"{metric} is the same within {slack:.0%}")

    return judge


def only(judge: Callable[[Rows], Verdict], **wanted: Any) -> Callable[[Rows], Verdict]:
    """Restrict a judge to some of the rows."""
    return lambda rows: judge(rows.where(**wanted))


def decided(cells: Sequence[float], text: str, good: str, *, looks: int = 1) -> Verdict:
    """Return the verdict on cells from their scores: standard errors in favour of the claim, or against it.

    `looks` is the number of comparisons of which each score is the best.
    """
    if not cells:
        return NOTHING
    scores = np.array(cells)
    z = -NormalDist().inv_cdf(WRONG / len(scores) / looks)
    against, ahead = int((scores < -z).sum()), int((scores > z).sum())
    ties = len(scores) - against - ahead
    numbers = f"{text}: {good} in {ahead} of {len(scores)} cells, larger in {against}, too close to tell in {ties}"
    confidence = _sure(z)
    if against == 0:
        return Verdict(HOLDS, numbers, confidence)
    share = ahead / (ahead + against)
    return Verdict(IN_PART if share >= _MOSTLY else FAILS, numbers, confidence)


def exact(
    holds: Callable[[Rows], bool], numbers: Callable[[Rows], str], how: str = "exact arithmetic"
) -> Callable[[Rows], Verdict]:
    """Judge a claim about numbers without randomness: it holds or fails."""

    def judge(rows: Rows) -> Verdict:
        if not rows:
            return NOTHING
        return Verdict(HOLDS if holds(rows) else FAILS, numbers(rows), how)

    return judge


def share_of(
    condition: Callable[[Any], bool], text: str, *, all_of: float = 1.0, most_of: float = 0.9
) -> Callable[[Rows], Verdict]:
    """Judge whether a condition is true of every row: it holds at the share `all_of`, in part at `most_of`."""

    def judge(rows: Rows) -> Verdict:
        if not rows:
            return NOTHING
        share = sum(map(condition, rows)) / len(rows)
        kind = HOLDS if share >= all_of else IN_PART if share >= most_of else FAILS
        return Verdict(kind, f"{text}: {share:.1%} of {len(rows)} cases", "counted")

    return judge


def _largest_ratio(rows: Rows, metric: str, among: str, low: str, high: Sequence[str], by: Sequence[str]) -> str:
    """The largest ratio of the mean of `low` to another mean, and where it occurs."""
    found = []
    for key, group in rows.groups(*by):
        means = {row[among]: row[metric] for row in group.average(metric, among)}
        where = ", ".join(f"{name}={value}" for name, value in key.items() if len(rows.values(name)) > 1)
        found += [
            (means[low] / means[each], f"{each}{f' at {where}' if where else ''}")
            for each in high
            if low in means and means.get(each, 0.0) > 0
        ]
    if not found:
        return ""
    ratio, where = max(found)
    return f"; at most {ratio:.4g} times that of {where}"


def _difference(group: Rows, metric: str, among: str, low: str, high: str, slack: float) -> float:
    """The number of standard errors by which the mean of `low` is below that of `high`, paired by seed."""
    small, large = (group.where(**{among: name}) for name in (low, high))
    paired = {row.get("seed"): row[metric] for row in small}
    differences = np.array(
        [row[metric] * (1 + slack) - paired[row.get("seed")] for row in large if row.get("seed") in paired]
    )
    if len(differences) == 0:
        return 0.0
    mean = float(differences.mean())
    scale = float(np.abs(large.column(metric)).mean()) or 1.0
    if abs(mean) <= 1e-9 * scale:
        return 0.0
    if len(differences) == 1:
        return math.copysign(math.inf, mean)
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return _normal_score(mean / error, len(differences) - 1) if error > 0 else math.copysign(math.inf, mean)


def _from_zero(numbers: Any) -> float:
    """The number of standard errors by which the mean is above zero."""
    mean = float(numbers.mean())
    if len(numbers) == 1 or mean == 0:
        return math.copysign(math.inf, mean) if mean else 0.0
    error = float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return _normal_score(mean / error, len(numbers) - 1) if error > 0 else math.copysign(math.inf, mean)


def _sure(z: float) -> str:
    return f"each cell at {z:.1f} standard errors: at most {WRONG:.0%} that any is decided wrongly"


def _normal_score(score: float, freedom: int) -> float:
    """The normal score with the same tail probability as this score of Student's distribution."""
    from scipy.special import ndtri, stdtr

    return math.copysign(float(-ndtri(stdtr(freedom, -abs(score)))), score)
