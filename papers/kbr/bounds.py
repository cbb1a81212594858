"""Proposition 1: the largest losses of mechanisms compared with the orders of the minimax risk at high privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.frame.experiment import FAILS, HOLDS, Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import NOTHING
from papers.frame.rows import Rows
from papers.kbr.sources import FLAT, K_RAPPOR, K_RR, LABELS, NAMES, PAPER, drawn

MOST = 5.0  # the constant of the upper bound stays below this
_SHOWN = {K_RR: NAMES[K_RR], K_RAPPOR: NAMES[K_RAPPOR], "subset selection": "ss"}
_LABELS = {**LABELS, "l2 over upper": "squared l2 loss / upper bound", "l1 over upper": "l1 loss / upper bound"}
_SOURCES = ("zipf 0", "geometric", "zipf 1", "zipf 5", FLAT)


def measure(seed: int, k: int, epsilon: float, n: int, draws: int) -> list[dict[str, Any]]:
    """The largest mean loss of projected estimates over some distributions, over both bounds without constants."""
    random = generator(seed)
    rows = []
    for method, name in _SHOWN.items():
        server = mechanism(name, k=k, epsilon=epsilon)
        squared, absolute = [], []
        for source in _SOURCES:
            p = drawn(source, k, random)
            away = [_away(server, p, n, random) for _ in range(draws)]
            squared.append(float(np.mean([(each**2).sum() for each in away])))
            absolute.append(float(np.mean([np.abs(each).sum() for each in away])))
        rows.append({"method": method, **_over_bounds(max(squared), max(absolute), k, n * epsilon**2)})
    return rows


def _away(server: Any, p: Floats, n: int, random: np.random.Generator) -> Floats:
    summary = simulate(server, random.multinomial(n, p), seed=int(random.integers(2**62)))
    away: Floats = server.estimate(summary, "projected").frequencies - p
    return away


def _over_bounds(squared: float, absolute: float, k: int, users: float) -> dict[str, float]:
    """Divide the losses by both bounds; `users` is n epsilon^2."""
    return {
        "l2 over upper": squared / min(1.0, k / users),
        "l2 over lower": squared / min(1.0, 1 / math.sqrt(users), k / users),
        "l1 over upper": absolute / min(1.0, k / math.sqrt(users)),
        "l1 over lower": absolute / min(1.0, k / math.sqrt(users)),
    }


def below(metric: str) -> Callable[[Rows], Verdict]:
    """Judge whether the best mechanism of each setting stays below the upper bound with a constant below 5."""

    def judge(rows: Rows) -> Verdict:
        if not rows:
            return NOTHING
        best = [
            min(row[metric] for row in group.average(metric, "method")) for _, group in rows.groups("k", "epsilon", "n")
        ]
        kind = HOLDS if max(best) < MOST else FAILS
        text = f"the best mechanism of a setting has a constant of {max(best):.3g} at most"
        return Verdict(kind, text, "means of the runs")

    return judge


def above(metric: str, least: float) -> Callable[[Rows], Verdict]:
    """Judge whether no mechanism falls below a small share of the lower bound in any setting."""

    def judge(rows: Rows) -> Verdict:
        if not rows:
            return NOTHING
        means = rows.average(metric, "method", "k", "epsilon", "n").column(metric)
        text = f"the least constant seen is {means.min():.3g}, so that c_l is no larger than about that"
        return Verdict(
            HOLDS if means.min() >= least else FAILS, text, f"means of the runs; above {least:g} is read as kept"
        )

    return judge


PROPOSITION_1 = Experiment(
    PAPER,
    "proposition-1",
    "Proposition 1: largest losses over the orders of the minimax risk, epsilon up to 1",
    measure,
    quick=Grid({"k": (4, 64, 512), "epsilon": (0.25, 1.0), "n": (10, 10**3, 10**5, 10**7), "draws": [4]}, repeats=3),
    full=Grid(
        {"k": (2, 4, 64, 512, 4096), "epsilon": (0.1, 0.25, 0.5, 1.0), "n": (10, 10**3, 10**5, 10**7), "draws": [10]},
        repeats=20,
    ),
    claims=(
        Claim("l2 squared: some mechanism stays below 5 min{1, k/(n eps^2)}", below("l2 over upper"), "Proposition 1"),
        Claim("l1: some mechanism stays below 5 min{1, k/sqrt(n eps^2)}", below("l1 over upper"), "Proposition 1"),
        Claim(
            "l2 squared: none goes below a constant times min{1, 1/sqrt(n eps^2), k/(n eps^2)}",
            above("l2 over lower", 0.01),
            "Proposition 1",
        ),
        Claim(
            "l1: none goes below a constant times min{1, k/sqrt(n eps^2)}",
            above("l1 over lower", 0.01),
            "Proposition 1",
        ),
    ),
    picture=(
        Lines("n", "l2 over upper", "method", panels=("epsilon", "k"), log_x=True, log_y=True, labels=_LABELS),
        Lines("n", "l1 over upper", "method", panels=("epsilon", "k"), log_x=True, log_y=True, labels=_LABELS),
    ),
    note="The paper cites this from Duchi, Jordan and Wainwright 2013. The worst of five distributions stands for the "
    "worst there is, and three mechanisms for all, so that the upper bound is seen to be kept by mechanisms that "
    "exist, and the lower bound not to be contradicted; neither is proved by it.",
)
