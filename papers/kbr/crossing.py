"""Proposition 5: the epsilon above which k-RR has a smaller l2 loss than k-RAPPOR, with the numbers of its proof."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from papers.frame.experiment import Claim, Experiment, Grid, Lines
from papers.frame.judging import exact
from papers.frame.rows import Rows
from papers.kbr.formulas import advantage
from papers.kbr.sources import PAPER

AT_HALF, AT_K, LEAST = "ln(k/2), Proposition 5", "ln k, its proof", "least that does"
_SAID = 3.1559


def measure(seed: int, first: int, last: int) -> list[dict[str, Any]]:
    """For each k in a range and each epsilon named: that epsilon, f there, and whether f grows with epsilon."""
    del seed  # nothing is random
    rows = []
    for k in range(first, last):
        steps = [advantage(epsilon, k) for epsilon in np.linspace(0, 2 * math.log(k), 50)]
        places = {AT_HALF: math.log(k / 2), AT_K: math.log(k), LEAST: _least(k)}
        growing = bool(np.all(np.diff(steps) > 0))
        rows += [
            {"k": k, "rule": rule, "epsilon": at, "f": advantage(at, k), "growing": growing}
            for rule, at in places.items()
        ]
    return rows


def _least(k: int) -> float:
    """The least epsilon with f >= 1, by bisection; 0 if there is no positive one."""
    low, high = 0.0, math.log(k)
    if advantage(low, k) >= 1:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if advantage(middle, k) >= 1 else (middle, high)
    return high


def _f(rows: Rows, rule: str) -> dict[int, float]:
    return {row["k"]: row["f"] for row in rows.where(rule=rule)}


def _minimum(rows: Rows) -> tuple[int, float]:
    found = _f(rows, AT_K)
    k = min(found, key=lambda each: found[each])
    return k, found[k]


def _lowest(rows: Rows, rule: str) -> str:
    found = _f(rows, rule)
    k = min(found, key=lambda each: found[each])
    return f"f is {found[k]:.4f} at least, at k = {k}, of k = {min(found)} to {max(found)}"


PROPOSITION_5 = Experiment(
    PAPER,
    "proposition-5",
    "Proposition 5: from which epsilon on k-RR has the smaller l2 loss",
    measure,
    quick=Grid({"first": [2], "last": [1000]}),
    full=Grid({"first": [2], "last": [5001]}),
    claims=(
        Claim(
            "k-RR loses no more than k-RAPPOR in l2 from epsilon = ln(k/2) on",
            exact(
                lambda rows: min(_f(rows, AT_HALF).values()) >= 1 and all(row["growing"] for row in rows),
                lambda rows: _lowest(rows, AT_HALF),
            ),
            "Proposition 5",
        ),
        Claim(
            "k-RR loses no more than k-RAPPOR in l2 from epsilon = ln k on",
            exact(
                lambda rows: min(_f(rows, AT_K).values()) >= 1 and all(row["growing"] for row in rows),
                lambda rows: _lowest(rows, AT_K),
            ),
            "D",
        ),
        Claim(
            "f grows with epsilon",
            exact(
                lambda rows: all(row["growing"] for row in rows),
                lambda rows: f"at 50 epsilons up to 2 ln k, for {len(rows.values('k'))} k",
            ),
            "D",
        ),
        Claim(
            "f(ln k, k) is least at k = 7",
            exact(
                lambda rows: _minimum(rows)[0] == 7,
                lambda rows: "it is least at k = {}, {:.4f}".format(*_minimum(rows)),
            ),
            "D",
            slip="it is least at k = 8; the proof does not need it",
        ),
        Claim(
            f"f(ln 7, 7) = {_SAID}",
            exact(
                lambda rows: abs(_f(rows, AT_K)[7] - _SAID) < 1e-3, lambda rows: f"f(ln 7, 7) = {_f(rows, AT_K)[7]:.4f}"
            ),
            "D",
            slip="f(ln 7, 7) = 2.1593; the proof does not need it",
        ),
    ),
    picture=(
        Lines("k", "epsilon", "rule", log_x=True, labels={"k": "values k"}),
        Lines(
            "k", "f", "rule", log_x=True, log_y=True, labels={"k": "values k", "f": "cost of k-RAPPOR / cost of k-RR"}
        ),
    ),
    note="f is what privacy adds to the loss of k-RAPPOR over what it adds to that of k-RR, by Propositions 3 and 4. "
    "The statement has epsilon >= ln(k/2), its proof ln k; it is true of both. The minimum of f(ln k, k) is at k = 8, "
    "and f(ln 7, 7) is 2.159: neither slip matters to the proof. The least such epsilon is drawn beside them.",
)
