"""Judges of the paper's theorems and statements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from papers.frame.experiment import FAILS, HOLDS, IN_PART, Verdict
from papers.frame.judging import NOTHING
from papers.frame.rows import Rows
from papers.rr_mle.statements import SEVERAL, SURE

_DETECTED = 1.28  # standard errors beyond the limit, for a probability of 90%
_NEAR = 0.1  # shares within this distance of 1/2 are close to it


def near_half(rows: Rows) -> Verdict:
    """Judge whether the share of negative estimates is close to 1/2 in every setting."""
    counted = rows.where(kind="counted")
    if not counted:
        return NOTHING
    expected, share = counted.column("expected"), counted.column("share")
    near = np.abs(share - 0.5) <= _NEAR
    kind = HOLDS if near.all() else IN_PART if near.any() else FAILS
    text = f"within {_NEAR:g} of 1/2 in {int(near.sum())} of {len(near)} cells"
    for name, part in (("Nq >= 10", expected >= 10), ("Nq < 1", expected < 1)):
        if part.any():
            text += f"; where {name}, {share[part].min():.3f} to {share[part].max():.3f}"
    return Verdict(kind, text, "every case counted")


def adds_up(how: str, rounding: float = 1e-12) -> Callable[[Rows], Verdict]:
    """Judge whether estimates computed in this way add up to 1."""

    def judge(rows: Rows) -> Verdict:
        part = rows.where(sum=how)
        if not part:
            return NOTHING
        worst = max(part, key=lambda row: row["off"])
        good = worst["off"] <= rounding
        text = f"off by {worst['off']:.2g} at most (K = {worst['k']:,})"
        return Verdict(HOLDS if good else FAILS, text, f"{len(part)} runs, up to rounding ({rounding:g})")

    return judge


def right_ratio(formula: str) -> Callable[[Rows], Verdict]:
    """Judge whether a measured variance agrees with the formula, within the error of measurement."""

    def judge(rows: Rows) -> Verdict:
        means = rows.where(formula=formula).average("ratio", "k", "epsilon", "frequency", "draws")
        if not means:
            return NOTHING
        ratio = means.column("ratio")
        # the relative error of a variance, near normality
        error = np.sqrt(2 / (means.column("draws") * means.column("count")))
        good = int((np.abs(ratio - 1) <= SURE * error).sum())
        kind = HOLDS if good == len(ratio) else IN_PART if 2 * good >= len(ratio) else FAILS
        text = f"measured over formula {ratio.min():.3g} to {ratio.max():.3g}"
        return Verdict(
            kind,
            f"{text}; 1 within errors in {good} of {len(ratio)} cells",
            f"{SURE} standard errors, each about {float(error.max()):.1%}",
            f"A difference of {(SURE + _DETECTED) * float(error.max()):.0%} would be seen with 90% probability",
        )

    return judge


def falls_like_one_over_n(rows: Rows) -> Verdict:
    """Judge whether the error of every estimator falls as 1/N, or nearly, at the largest N."""
    slopes = []
    for _, group in rows.groups("k", "epsilon", "skew", "method"):
        means = group.average("total", "n")
        n, total = means.column("n"), means.column("total")
        slopes.append(float(np.log(total[-1] / total[-2]) / np.log(n[-1] / n[-2])))
    if not slopes:
        return NOTHING
    kind = HOLDS if max(slopes) <= -0.9 else IN_PART if max(slopes) < 0 else FAILS
    text = f"the error falls as N^{max(slopes):.2f} to N^{min(slopes):.2f} over the last step of N, {len(slopes)} cases"
    return Verdict(kind, text, "N^-0.9 and faster is read as 1/N")


def grows_like_k(rows: Rows) -> Verdict:
    """Judge whether the error of Inv at a fixed epsilon grows no faster than the number of values."""
    slopes = {}
    for key, group in rows.where(method="Inv").groups("epsilon"):
        last = group.where(n=max(group.values("n"))).average("total", "k")
        slopes[key["epsilon"]] = float(np.polyfit(np.log(last.column("k")), np.log(last.column("total")), 1)[0])
    if not slopes:
        return NOTHING
    good = sum(slope <= 1.1 for slope in slopes.values())
    kind = HOLDS if good == len(slopes) else IN_PART if good else FAILS
    text = ", ".join(f"K^{slope:.2f} at epsilon {epsilon:g}" for epsilon, slope in slopes.items())
    return Verdict(
        kind, f"at a fixed N, the error of Inv grows as {text}", "fitted over all K; K^1.1 is still read as K"
    )


def off_the_line(rows: Rows) -> Verdict:
    """Judge whether the three can be off the line without the condition, and by how much."""
    without = rows.where(case=SEVERAL)
    if not without:
        return NOTHING
    off = without.column("off")
    away = int((off > 1e-6).sum())
    text = f"off it in {away} of {len(off)} cases, by {off.max():.2g} of the distance between InvP and InvN at most"
    return Verdict(HOLDS if away else FAILS, text, "every case counted")
