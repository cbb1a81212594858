"""Proposition 8, in our version: a monotone indicator whose unbiased answer has a variance exponential in d."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.arrays import Floats
from papers.frame.experiment import Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import exact, only, share_of
from papers.frame.rows import Rows

UNBIASED, NAIVE, CHECKED = "unbiased", "naive", "3^d terms"
_FEW = 6  # up to this d all 3^d terms are summed, for comparison
_SUMMED = (2, 4, 6, 8)  # beyond, rounding swamps a mean of 1: the terms are large and have both signs
_CLOSE = 1e-8


def majority(points: Floats) -> Floats:
    """1 if at least half of the counts in a row are 1 or more."""
    return np.asarray(2 * (points >= 1).sum(axis=1) >= points.shape[1], np.float64)


def measure(seed: int, epsilon: float, d: int, draws: int) -> list[dict[str, Any]]:
    """Exact errors if half of the counts are 1 and half are 0; and our formula against Theorem 2's on releases."""
    noise = dn.DiscreteLaplace(epsilon)
    mean, square, wrong = moments(d, float(noise.q))
    rows = [
        {"method": UNBIASED, "mse": square - 1, "gap": abs(mean - 1)},
        {"method": NAIVE, "mse": wrong, "gap": wrong},
    ]
    if d <= _FEW:
        table, counts = answers(d, float(noise.q / (1 - noise.q) ** 2)), np.repeat([0, 1], d // 2)
        gap, squares = 0.0, []
        for draw in range(seed * draws, (seed + 1) * draws):
            release = noise.release(counts, seed=draw)
            found = dn.debias_multivariate(majority, release, scale=math.inf).value
            zeros, ones, more = (int(np.count_nonzero(each)) for each in _classes(release.values))
            gap = max(gap, abs(found - table[zeros, ones, more]) / (1 + abs(found)))
            squares.append((found - 1) ** 2)
        rows.append({"method": CHECKED, "mse": float(np.mean(squares)), "gap": gap})
    return rows


def _classes(values: Any) -> tuple[Any, Any, Any]:
    return values == 0, values == 1, values > 1


def answers(d: int, a: float) -> Floats:
    """The unbiased answer for all numbers of noisy counts that are 0, 1, and more than 1.

    A count of at least 1 is estimated by 0 (y < 0), -a (y = 0), 1 + a (y = 1) or 1 (y > 1); the number of such counts
    has the generating function ((1 + a) - a z)^n0 (-a + (1 + a) z)^n1 z^n2.
    """
    table = np.zeros((d + 1, d + 1, d + 1))
    zeros = [np.ones(1)]
    for _ in range(d):
        zeros.append(np.convolve(zeros[-1], [1 + a, -a]))
    for n0 in range(d + 1):
        for n1 in range(d + 1 - n0):
            # of (-a + (1 + a) z)^n1, the coefficients of the other power in reverse
            both = np.convolve(zeros[n0], zeros[n1][::-1])
            tails = np.append(np.cumsum(both[::-1])[::-1], 0.0)
            for n2 in range(d + 1 - n0 - n1):
                table[n0, n1, n2] = tails[min(max(d // 2 - n2, 0), n0 + n1 + 1)]
    return table


def moments(d: int, q: float) -> tuple[float, float, float]:
    """Mean and mean square of the unbiased answer, and the naive error rate, at half ones and half zeros."""
    p, tail = (1 - q) / (1 + q), q / (1 + q)  # Pr[Z = 0], Pr[Z >= 1]
    of_one = (p * q, p, tail)  # probabilities that a noisy count is 0, 1, more
    of_zero = (p, p * q, tail * q)
    chances = np.zeros((d + 1, d + 1, d + 1))
    chances[0, 0, 0] = 1.0
    for place in range(d):
        each = of_one if place % 2 else of_zero
        grown = chances * (1 - sum(each))
        grown[1:] += each[0] * chances[:-1]
        grown[:, 1:] += each[1] * chances[:, :-1]
        grown[:, :, 1:] += each[2] * chances[:, :, :-1]
        chances = grown
    table = answers(d, q / (1 - q) ** 2)
    n0, n1, n2 = np.indices(chances.shape)
    del n0
    wrong = float(chances[2 * (n1 + n2) < d].sum())
    return float((chances * table).sum()), float((chances * table**2).sum()), wrong


def grows(rows: Rows) -> Verdict:
    """Judge whether the variance grows by a factor above 1 with every count."""
    told, good = [], True
    for key, part in rows.where(method=UNBIASED).groups("epsilon"):
        means = part.average("mse", "d")
        d, logs = means.column("d"), np.log(means.column("mse"))
        steps = np.diff(logs) / np.diff(d)
        good &= bool(steps[-3:].min() > 0.01)
        rate, last = math.exp(steps[-1]), math.exp(logs[-1])
        told.append(f"epsilon {key['epsilon']:g}: times {rate:.3g} for each count, to {last:.2g}")
    return exact(lambda _: good, lambda _: "; ".join(told), "exact sums over all noises")(rows)


PROPOSITION_8 = Experiment(
    paper="dlap",
    name="proposition-8",
    title="Proposition 8 (our version): whether at least half of the counts are 1 or more",
    measure=measure,
    quick=Grid({"epsilon": [0.5, 1.0, 2.0], "d": [2, 4, 6, 8, 12, 16, 20, 24, 28, 32], "draws": [20]}),
    full=Grid({"epsilon": [0.25, 0.5, 1.0, 1.5, 2.0, 3.0], "d": [*range(2, 41, 2)], "draws": [200]}),
    claims=(
        Claim(
            "the variance of the unbiased answer grows exponentially with the number of counts", grows, "Proposition 8"
        ),
        Claim(
            "the naive answer's mean square error stays below a constant",
            only(share_of(lambda row: row["mse"] <= 1, "at most 1"), method=NAIVE),
            "Proposition 8",
        ),
        Claim(
            "the formula of the unbiased answer is that of Theorem 2",
            only(share_of(lambda row: row["gap"] < _CLOSE, "equal but for rounding"), method=CHECKED),
            "Theorem 2",
        ),
        Claim(
            "the unbiased answer has the right mean",
            only(share_of(lambda row: row["gap"] < _CLOSE, "1 but for rounding"), method=UNBIASED, d=_SUMMED),
            "Theorem 2",
        ),
    ),
    picture=Lines(
        "d",
        "mse",
        "method",
        panels=("epsilon",),
        log_y=True,
        labels={"d": "counts d", "mse": "mean square error", CHECKED: "unbiased, 3^d terms, some releases"},
    ),
    note="The text at hand has lost the function of Proposition 8. Ours is the indicator that at least half of the "
    "counts are 1 or more, at counts of which half are 1 and half are 0: monotone, and with a bounded naive error, as "
    "in the paper.",
)
