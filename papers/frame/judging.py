"""Judges of claims: comparisons over the settings of a grid, checks of exact numbers, and shares of cases.

A comparison holds only with support: in every setting a test must speak for it. If none speaks against it and some
do not speak, the verdict is "not decided". Each verdict states its power.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from papers.frame.cells import (
    DETECTED,
    WRONG,
    Difference,
    Setting,
    State,
    below,
    counted,
    difference,
    levels,
    median_and_largest,
)
from papers.frame.experiment import FAILS, HOLDS, IN_PART, NOT_RUN, UNDECIDED, Verdict
from papers.frame.rows import Rows
from papers.frame.words import listed, metric, percent, setting

_NEARLY = 0.9  # above this share of cases that are counted, a claim holds in part
_MOSTLY = 0.5  # below this share of the settings that speak, a claim fails

_SURE = f"Student's test in every setting; a wrong verdict has a chance of at most {WRONG:.0%}"

NOTHING = Verdict(NOT_RUN, "no results yet", "")
Judge = Callable[[Rows], Verdict]
Combined = Callable[[Sequence[State]], State]


def never_above(
    of: str, low: str, high: Sequence[str], *, by: Sequence[str], among: str = "method", slack: float = 0.0
) -> Judge:
    """Judge whether the mean of a metric for `low` is at most that of each of `high`, in each group of `by`.

    `slack` is the share by which it may be larger, for claims of "about the same"; a negative one is a share by which
    it must be smaller, for claims of "clearly better".
    """
    return _compared(of, low, high, by, among, lambda _: [(low, other, slack) for other in high], min, _at_most)


def between(of: str, middle: str, ends: tuple[str, str], *, by: Sequence[str], among: str = "method") -> Judge:
    """Judge whether the mean of a metric for `middle` lies between those of the ends, in each group of `by`."""

    def pairs(means: dict[str, float]) -> list[tuple[str, str, float]]:
        low, high = sorted(ends, key=lambda end: means[end])
        return [(low, middle, 0.0), (middle, high, 0.0)]

    return _compared(of, middle, ends, by, among, pairs, min, _nothing_more, all_needed=True)


def never_worst(of: str, name: str, others: Sequence[str], *, by: Sequence[str], among: str = "method") -> Judge:
    """Judge whether the mean of a metric for `name` is at most the largest of the others, in each group of `by`."""
    pairs = [(name, other, 0.0) for other in others]
    return _compared(of, name, others, by, among, lambda _: pairs, max, _at_most, all_needed=True)


def alike(of: str, one: str, other: str, *, by: Sequence[str], among: str = "method", slack: float) -> Judge:
    """Judge whether the means of a metric for two methods agree within the share `slack`, in each group of `by`.

    A setting supports this only if both "one is larger by more" and "the other is" are ruled out.
    """
    pairs = [(one, other, slack), (other, one, slack)]
    return _compared(of, one, [other], by, among, lambda _: pairs, min, _in_range)


def _compared(
    of: str,
    name: str,
    others: Sequence[str],
    by: Sequence[str],
    among: str,
    pairs: Callable[[dict[str, float]], list[tuple[str, str, float]]],
    combined: Combined,
    told: Callable[[Sequence[Setting], str, str], str],
    *,
    all_needed: bool = False,
) -> Judge:
    """Judge by comparisons of pairs of methods in each group, of which all (`min`) or one (`max`) must be true."""
    one_is_enough = combined is max

    def judge(rows: Rows) -> Verdict:
        varying = [each for each in by if len(rows.values(each)) > 1]
        found: list[tuple[dict[str, Any], dict[str, float], list[Difference]]] = []
        for key, group in rows.groups(*by):
            means = {row[among]: row[of] for row in group.average(of, among)}
            present = [other for other in others if other in means]
            if name in means and present and (len(present) == len(others) or not all_needed):
                compared = [pair for pair in pairs(means) if pair[0] in means and pair[1] in means]
                found.append((key, means, [below(group, of, among, *pair) for pair in compared]))
        # the best of several comparisons counts for the claim, so each must be more certain; against it all must speak
        tests = len(found) if one_is_enough else sum(len(each) for *_, each in found)
        used = levels(tests, looks=len(others) if one_is_enough else 1)
        settings = [
            Setting(
                setting(key, varying),
                combined([each.state(used) for each in differences]),
                (min if one_is_enough else max)(each.detectable(used) for each in differences),
                *_ratio(means, name, others, min if one_is_enough else max),
            )
            for key, means, differences in found
        ]
        return decided(settings, told(settings, name, metric(of)))

    return judge


def _ratio(means: dict[str, float], name: str, others: Sequence[str], pick: Callable[..., Any]) -> tuple[float, str]:
    """The ratio of the mean of one method to that of the other that it is judged by, and the other."""
    found = [(means[name] / means[other], other) for other in others if means.get(other, 0.0) > 0]
    ratio, other = pick(found, default=(math.nan, ""))
    return float(ratio), str(other)


def _at_most(settings: Sequence[Setting], name: str, words: str) -> str:
    """The largest ratio, and where it is."""
    known = [each for each in settings if not math.isnan(each.ratio)]
    if not known:
        return ""
    most = max(known, key=lambda each: each.ratio)
    where = f" ({most.name})" if most.name else ""
    return f"the {words} of {name} is at most {most.ratio:.4g} times that of {most.other}{where}"


def _in_range(settings: Sequence[Setting], name: str, words: str) -> str:
    """The range of ratios."""
    known = sorted(each.ratio for each in settings if not math.isnan(each.ratio))
    if not known:
        return ""
    return f"the {words} of {name} is {known[0]:.4g} to {known[-1]:.4g} times that of {settings[0].other}"


def _nothing_more(_settings: Sequence[Setting], _name: str, _words: str) -> str:
    return ""


def centred(of: str, name: str, *, by: Sequence[str], within: float, among: str = "method") -> Judge:
    """Judge whether the mean of a metric for `name` is zero in each group of `by`.

    A setting supports this if a mean of more than `within` is ruled out, and speaks against it if zero is.
    """

    def judge(rows: Rows) -> Verdict:
        groups = list(rows.where(**{among: name}).groups(*by))
        used = levels(2 * len(groups))
        varying = [each for each in by if len(rows.values(each)) > 1]
        settings = []
        for key, group in groups:
            values = group.column(of)
            sides = [difference(sign * values, near=within) for sign in (1, -1)]
            state = min(side.state(used) for side in sides)
            settings.append(Setting(setting(key, varying), state, sides[0].detectable(used), abs(float(values.mean()))))
        largest = max((each.ratio for each in settings), default=0.0)
        told = f"the mean {metric(of)} of {name} is {largest:.2g} at most, where {within:g} counts as none"
        return decided(settings, told, relative=False)

    return judge


def signed(of: str, name: str, sign: int, *, by: Sequence[str], among: str = "method") -> Judge:
    """Judge whether the mean of a metric for `name` is above zero (sign 1) or below (-1), in each group of `by`."""

    def judge(rows: Rows) -> Verdict:
        groups = list(rows.where(**{among: name}).groups(*by))
        used = levels(len(groups))
        found = [(setting(key), difference(sign * group.column(of))) for key, group in groups]
        settings = [Setting(key, each.state(used), each.detectable(used), -each.mean) for key, each in found]
        means = [sign * each.mean for _, each in found]
        told = f"the mean {metric(of)} of {name} is {min(means):.3g} to {max(means):.3g}" if means else ""
        return decided(settings, told, relative=False)

    return judge


def decided(settings: Sequence[Setting], numbers: str, *, relative: bool = True) -> Verdict:
    """Return the verdict on a claim from what the settings say."""
    if not settings:
        return NOTHING
    tally = counted(settings)
    right, wrong = tally[State.FOR], tally[State.AGAINST]
    if wrong:
        kind = IN_PART if right >= _MOSTLY * (right + wrong) else FAILS
    else:
        kind = HOLDS if right == len(settings) else UNDECIDED
    return Verdict(kind, _sentence(settings, numbers), _SURE, _power(settings, relative))


def _sentence(settings: Sequence[Setting], numbers: str) -> str:
    """Say where the claim is true, false and open, the worst settings first, and then the numbers."""
    many, tally = len(settings), counted(settings)
    in_order = sorted(settings, key=lambda each: -each.ratio if not math.isnan(each.ratio) else 0.0)
    right = tally[State.FOR]
    if right == many:
        parts = [f"true in all {many} settings" if many > 1 else "true in the one setting"]
    else:
        parts = [f"true in {right} of {many} setting{'s' if many > 1 else ''}"]
    for state, words in ((State.AGAINST, "false"), (State.OPEN, "too close to tell")):
        names = [each.name for each in in_order if each.state == state and each.name]
        if tally[state]:
            parts.append(f"{words} in {tally[state]}{f' ({listed(names)})' if names else ''}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}{f': {numbers}' if numbers else ''}"


def _power(settings: Sequence[Setting], relative: bool) -> str:
    typical, largest = median_and_largest(each.detectable for each in settings)
    if math.isinf(largest):
        return "Some settings have one run only, which shows nothing of its noise"
    if largest == 0:
        return "The runs have no noise: any difference would be seen"
    shown = percent if relative else "{:.2g}".format
    every = f", {shown(largest)} in every one" if len(settings) > 1 else ""
    return f"A difference of {shown(typical)} would be seen with {DETECTED:.0%} probability in a typical setting{every}"


def always_lowest(of: str, name: str, *, by: Sequence[str], among: str = "method", rounding: float = 1e-12) -> Judge:
    """Judge whether the metric of `name` is the lowest in every run (a seed of a group of `by`), up to rounding."""

    def judge(rows: Rows) -> Verdict:
        runs = [{row[among]: row[of] for row in run} for _, run in rows.groups(*by, "seed")]
        if not runs:
            return NOTHING
        low = sum(run[name] <= min(run.values()) + rounding * (1 + abs(run[name])) for run in runs)
        worst = max(run[name] - min(run.values()) for run in runs)
        kind = HOLDS if low == len(runs) else IN_PART if low >= _NEARLY * len(runs) else FAILS
        beyond = f"; elsewhere at most {worst:.1g} above the lowest" if low < len(runs) else ""
        numbers = f"The {metric(of)} of {name} is the lowest in {low:,} of {len(runs):,} runs{beyond}"
        return Verdict(kind, numbers, f"Every run by itself, up to rounding ({rounding:g})")

    return judge


def only(judge: Judge, **wanted: Any) -> Judge:
    """Restrict a judge to some of the rows."""
    return lambda rows: judge(rows.where(**wanted))


def exact(holds: Callable[[Rows], bool], numbers: Callable[[Rows], str], how: str = "exact arithmetic") -> Judge:
    """Judge a claim about numbers without randomness: it holds or fails."""

    def judge(rows: Rows) -> Verdict:
        if not rows:
            return NOTHING
        return Verdict(HOLDS if holds(rows) else FAILS, numbers(rows), how)

    return judge


def share_of(condition: Callable[[Any], bool], text: str, *, all_of: float = 1.0, most_of: float = _NEARLY) -> Judge:
    """Judge whether a condition is true of every row: it holds at the share `all_of`, in part at `most_of`."""

    def judge(rows: Rows) -> Verdict:
        if not rows:
            return NOTHING
        good = sum(map(condition, rows))
        share = good / len(rows)
        kind = HOLDS if share >= all_of else IN_PART if share >= most_of else FAILS
        return Verdict(kind, f"{text} in {good:,} of {len(rows):,} cases", "every case counted")

    return judge
