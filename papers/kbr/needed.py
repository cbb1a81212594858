"""Figures 9, 10 and 14: the epsilon at which a given number of users reaches a given loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.randomness.simulated import generator
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import NOTHING, never_above
from papers.frame.rows import Rows
from papers.kbr.hashed import CLOSED, OPEN, SHOWN, TUNED, best, loss, sample
from papers.kbr.sources import K_RAPPOR, K_RR, LABELS, O_RAPPOR, O_RR, PAPER
from papers.kbr.utility_figures import SIZES

_SAME = 0.05
_BY = ("n", "target")


def needed(
    seed: int, size: int, n: int, alphabet: str, targets: Sequence[float], epsilons: Sequence[float]
) -> list[dict[str, Any]]:
    """For each mechanism and each loss within reach, the epsilon needed.

    Between epsilons the logarithm of the loss is interpolated linearly. A loss that is already reached at the smallest
    epsilon, or not at the largest, has no row.
    """
    random = generator(seed)
    samples = [sample(size, n, random) for _ in epsilons]
    rows = []
    for name in SHOWN[alphabet]:
        found = np.array(
            [loss(best(name, alphabet, size, each, n, TUNED), one) for each, one in zip(epsilons, samples, strict=True)]
        )
        for target in targets:
            reached = crossing(np.array(epsilons), found, target)
            if reached is not None:
                rows.append({"method": name, "target": target, "needed": reached})
    return rows


def crossing(epsilons: Any, found: Any, target: float) -> float | None:
    """The point where the loss first falls to the target, if it does.

    >>> crossing(np.array([1.0, 2.0, 3.0]), np.array([0.4, 0.2, 0.1]), 0.2)
    2.0
    """
    below = np.flatnonzero(found <= target)
    if not below.size or below[0] == 0:
        return None
    high = int(below[0])
    slope = np.log(found[high] / found[high - 1])
    part = np.log(target / found[high - 1]) / slope
    return float(epsilons[high - 1] + part * (epsilons[high] - epsilons[high - 1]))


def falls_with_users(rows: Rows) -> Verdict:
    """Judge whether the epsilon needed falls with the number of users, and with the loss allowed."""
    steps: list[float] = []
    for x, other in (("n", "target"), ("target", "n")):
        for _, group in rows.groups("method", other):
            means = group.average("needed", x)
            order = np.argsort(means.column(x))
            steps.extend(np.diff(means.column("needed")[order]))
    if not steps:
        return NOTHING
    falling = sum(step < 0 for step in steps)
    kind = HOLDS if falling == len(steps) else IN_PART if 2 * falling >= len(steps) else FAILS
    return Verdict(kind, f"lower in {falling} of {len(steps)} steps of n and of the loss", "means of the runs")


def _figure(number: int, alphabet: str, size: int, quick: Grid, full: Grid) -> Experiment:
    others = [O_RAPPOR] if alphabet == OPEN else [O_RAPPOR, K_RR, K_RAPPOR]
    judge = never_above("needed", O_RR, others, by=_BY, slack=_SAME)
    text = f"O-RR needs no larger epsilon than {' or '.join(others)} for the same loss and users"
    return Experiment(
        PAPER,
        f"figure-{number}",
        f"Figure {number}: epsilon needed for a given l1 loss, {alphabet} alphabets, S = {size}",
        needed,
        quick=quick,
        full=full,
        claims=(
            Claim(text, judge, "H, 6"),
            Claim("more users, or a larger loss, need a lower epsilon", falls_with_users, "H"),
        ),
        picture=Lines("n", "needed", "method", panels=("target",), log_x=True, labels=LABELS),
        note=f"{SIZES.partition(';')[0]}. The epsilon is interpolated, each sample by itself, between those of the "
        "grid, the logarithm of the loss taken as linear; a loss that they do not enclose has no point. No larger is "
        "read as at most 5% larger. The paper does not list its numbers of users.",
    )


def _grid(
    alphabet: str, size: int, users: Sequence[int], targets: Sequence[float], epsilons: Sequence[float], repeats: int
) -> Grid:
    lists = {"targets": [list(targets)], "epsilons": [list(epsilons)]}
    return Grid({"size": [size], "n": users, "alphabet": [alphabet], **lists}, repeats=repeats)


_TARGETS, _LARGE = (0.02, 0.05, 0.1, 0.2, 0.3), (0.1, 0.2, 0.3, 0.4)
_EPSILONS = (0.1, 0.2, 0.4, 0.8, 1.5, 2.5, 3.5, 4.5, 6.0, 8.0, 10.0)
_MANY = tuple(0.05 * 1.25**step for step in range(25))
_USERS = tuple(10**power for power in range(4, 9))

FIGURE_9 = _figure(
    9,
    OPEN,
    256,
    _grid(OPEN, 256, (10**5, 10**6, 10**7, 10**8), _TARGETS, _EPSILONS, 4),
    _grid(OPEN, 256, _USERS, _TARGETS, _MANY, 20),
)
FIGURE_10 = _figure(
    10,
    CLOSED,
    256,
    _grid(CLOSED, 256, _USERS[1:], _TARGETS, _EPSILONS, 5),
    _grid(CLOSED, 256, _USERS, _TARGETS, _MANY, 50),
)
FIGURE_14 = _figure(
    14,
    OPEN,
    4096,
    _grid(OPEN, 4096, (10**6, 10**8), _LARGE, (1.5, 2.5, 4.0, 6.0, 8.0), 3),
    _grid(OPEN, 4096, _USERS[2:], _LARGE, _MANY[10:], 10),
)
