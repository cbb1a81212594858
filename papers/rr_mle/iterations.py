"""Figure 4: plain iterations of the Bayesian update, and the distance of each from the exact maximum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.channel import Operator
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.frame.experiment import FAILS, HOLDS, IN_PART, UNDECIDED, Verdict
from papers.frame.judging import NOTHING
from papers.frame.rows import Rows
from papers.rr_mle.comparison import zipf

LEVEL = 1e-3  # the squared error at which the paper's iteration counts agree with each other
_ABOUT = 1.35  # within this factor, "about" holds; within twice that, in part


def distances(seed: int, n: int, skew: float, epsilon: float, k: int, iterations: int) -> list[dict[str, Any]]:
    """Squared distance between the plain update and the exact maximum, at checkpoints."""
    source = generator(seed)
    users = source.multinomial(n, zipf(k, skew))
    server = mechanism("grr", k=k, epsilon=epsilon)
    summary = simulate(server, users, seed=int(source.integers(2**62)))
    goal = server.estimate(summary, "mle").frequencies
    operator = server.operator()
    assert operator is not None
    shares, theta, done, rows = summary.counts / n, np.full(k, 1 / k), 0, []
    for checkpoint in checkpoints(iterations):
        theta = updated(theta, shares, operator, checkpoint - done)
        done = checkpoint
        distance = float(((theta - goal) ** 2).sum())
        rows.append({"privacy": f"epsilon {epsilon:g}", "iteration": done, "distance": distance})
    return rows


def updated(theta: Floats, shares: Floats, operator: Operator, times: int) -> Floats:
    """theta <- theta C (phi / C^T theta), repeated (equation 4)."""
    for _ in range(times):
        theta = theta * operator.adjoint(shares / operator.forward(theta))
    return theta


def checkpoints(iterations: int) -> list[int]:
    """The checkpoints: 0, some early iterations, then every thousandth."""
    return [each for each in (0, 10, 100, 300) if each < iterations] + [
        *range(1000, iterations, 1000),
        iterations,
    ]


def reached(run: Rows, level: float = LEVEL) -> float | None:
    """The iteration at which one run falls to a level, interpolated between checkpoints; None if it does not."""
    x, y = run.column("iteration"), run.column("distance")
    below = np.flatnonzero(y <= level)
    if not below.size:
        return None
    place = int(below[0])
    if place == 0:
        return float(x[0])
    share = np.log(y[place - 1] / level) / np.log(y[place - 1] / y[place])
    return float(x[place - 1] + share * (x[place] - x[place - 1]))


def takes_about(expected: int, n: int, epsilon: float, *, fitted: bool = False) -> Callable[[Rows], Verdict]:
    """Judge whether plain updates need about the stated number of iterations in a setting.

    If the level was `fitted` to this number, agreement decides nothing.
    """

    def judge(rows: Rows) -> Verdict:
        runs = [reached(run) for _, run in rows.where(n=n, epsilon=epsilon).groups("skew", "seed")]
        if not runs:
            return NOTHING
        found = [run for run in runs if run is not None]
        if len(found) < len(runs):
            return Verdict(
                FAILS, f"squared error {LEVEL:g} not reached in {len(runs) - len(found)} runs", "every case counted"
            )
        mean = float(np.mean(found))
        factor = max(mean / expected, expected / mean)
        right = UNDECIDED if fitted else HOLDS
        kind = right if factor <= _ABOUT else IN_PART if factor <= 2 * _ABOUT else FAILS
        spread = f"{mean:,.0f} on average, {min(found):,.0f} to {max(found):,.0f} in {len(found)} runs"
        return Verdict(
            kind,
            f"squared error {LEVEL:g} after {spread}",
            f"'about' is read as within a factor of {_ABOUT:g}; the level is ours, see below",
            "The level was chosen to fit this number, so that it is no check"
            if fitted
            else f"Any mean from {expected / _ABOUT:,.0f} to {expected * _ABOUT:,.0f} counts as about {expected:,}",
        )

    return judge


def not_reached(n: int, epsilon: float) -> Callable[[Rows], Verdict]:
    """Judge whether the iterations made are too few in a setting."""

    def judge(rows: Rows) -> Verdict:
        runs = [run for _, run in rows.where(n=n, epsilon=epsilon).groups("skew", "seed")]
        if not runs:
            return NOTHING
        last = [float(run.column("distance")[-1]) for run in runs]
        short = sum(each > LEVEL for each in last)
        kind = HOLDS if short == len(runs) else IN_PART if 2 * short >= len(runs) else FAILS
        same = f"Any level below {min(last):.2g} gives the same verdict" if kind == HOLDS else ""
        numbers = f"squared error {min(last):.2g} to {max(last):.2g} at the end"
        return Verdict(kind, f"{numbers}, above {LEVEL:g} in {short} of {len(runs)} runs", "every case counted", same)

    return judge


def falling(rows: Rows) -> Verdict:
    """Judge whether every run comes closer from checkpoint to checkpoint, as long as it is above rounding."""
    runs = [run.column("distance") for _, run in rows.groups("n", "skew", "epsilon", "seed")]
    if not runs:
        return NOTHING
    good = sum(bool(((np.diff(run) < 0) | (run[1:] < 1e-20)).all()) for run in runs)
    ends = [run[-1] / run[0] for run in runs]
    kind = HOLDS if good == len(runs) else IN_PART if good >= 0.9 * len(runs) else FAILS
    numbers = (
        f"nearer at every checkpoint in {good} of {len(runs)} runs; what is left of the first distance at the end: "
    )
    return Verdict(kind, numbers + f"{min(ends):.1g} to {max(ends):.1g}", "every case counted")
