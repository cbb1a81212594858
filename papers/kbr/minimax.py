"""Section E.2: the estimator of least worst-case l2 loss from raw data, compared with the empirical one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.randomness.simulated import generator
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import NOTHING, centred, exact
from papers.frame.rows import Rows
from papers.kbr.sources import PAPER, drawn

EMPIRICAL, MINIMAX = "empirical", "minimax"
_PULLS = (0.0, 0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0)  # times sqrt n
_SOURCES = ("zipf 0", "geometric", "zipf 2", "zipf 9")


def shrunk(counts: Counts, pull: float) -> Floats:
    """Frequencies from n raw values and `pull` imagined ones, distributed evenly; minimax if `pull` is sqrt n.

    >>> shrunk(np.array([3, 1]), 2.0).round(3).tolist()
    [0.667, 0.333]
    """
    # (a/k + T_i)/(a + n)
    frequencies: Floats = (pull / len(counts) + counts) / (pull + counts.sum())
    return frequencies


def risk(squares: float, k: int, n: int, pull: float) -> float:
    """E l2^2 of the shrunk estimator if the squares of the true frequencies add up to `squares`."""
    # (n (1 - s) + a^2 (s - 1/k)) / (n + a)^2
    return (n * (1 - squares) + pull**2 * (squares - 1 / k)) / (n + pull) ** 2


def measure(seed: int, k: int, n: int, draws: int) -> list[dict[str, Any]]:
    """For each estimator: its largest loss, and at some distributions its exact and measured loss and its bias."""
    random = generator(seed)
    least = (1 - 1 / k) / (math.sqrt(n) + 1) ** 2
    rows: list[dict[str, Any]] = []
    for pull in _PULLS:
        a = pull * math.sqrt(n)
        # linear in the sum of squares, so largest at a point or at the uniform distribution
        worst = max(risk(squares, k, n, a) for squares in (1 / k, 1.0))
        rows.append({"part": "worst", "pull": pull, "loss": worst / least})
    for source in _SOURCES:
        p = drawn(source, k, random)
        users = random.multinomial(n, p, size=draws)
        for name, pull in ((EMPIRICAL, 0.0), (MINIMAX, math.sqrt(n))):
            away = np.array([shrunk(each, pull) for each in users]) - p
            exactly = risk(float((p**2).sum()), k, n, pull)
            measured = float((away**2).sum(1).mean())
            bias = float(np.abs(pull / k - pull * p).sum()) / (n + pull)
            rows.append(
                {
                    "part": "at",
                    "method": name,
                    "source": source,
                    "loss": exactly / least,
                    "off": measured / exactly - 1,
                    "bias": bias,
                }
            )
    return rows


def asymptotic_bias(rows: Rows) -> Verdict:
    """Judge whether the bias of the minimax estimator does not vanish for many users."""
    part = rows.where(part="at", method=MINIMAX)
    if not part:
        return NOTHING
    largest = part.average("bias", "n", using=np.max)
    n, bias = largest.column("n"), largest.column("bias")
    slope = float(np.polyfit(np.log(n), np.log(bias), 1)[0])
    kind = HOLDS if slope > -0.05 else IN_PART if slope > -0.25 else FAILS
    text = f"largest l1 bias {bias[0]:.2g} at n = {n[0]:.0f}, {bias[-1]:.2g} at n = {n[-1]:.0f}: as n^{slope:.2f}"
    return Verdict(kind, text, "exact arithmetic")


def _spread(rows: Rows) -> float:
    loss = rows.where(part="at", method=MINIMAX).column("loss")
    return float(np.abs(loss - 1).max())


def _least_pulls(rows: Rows) -> list[float]:
    found = []
    for _, group in rows.where(part="worst").groups("k", "n"):
        means = group.average("loss", "pull")
        found.append(float(means.column("pull")[np.argmin(means.column("loss"))]))
    return found


def _saved(rows: Rows) -> float:
    """The excess of the empirical estimator's worst loss over the least, at the largest number of users."""
    return float(rows.where(part="worst", pull=0.0, n=max(rows.values("n"))).column("loss").max()) - 1


SECTION_E_2 = Experiment(
    PAPER,
    "section-e.2",
    "Section E.2: the minimax estimator of raw data",
    measure,
    quick=Grid({"k": (2, 16, 256), "n": (10, 100, 10**4, 10**6), "draws": [400]}, repeats=60),
    full=Grid({"k": (2, 16, 256), "n": (10, 100, 10**4, 10**6), "draws": [1000]}, repeats=60),
    claims=(
        Claim(
            "its loss is (1 - 1/k)/(sqrt n + 1)^2 whatever the distribution",
            exact(lambda rows: _spread(rows) < 1e-9, lambda rows: f"the same up to {_spread(rows):.0e}"),
            "(25), (26)",
        ),
        Claim("measured losses are those", centred("off", MINIMAX, by=("k", "n", "source"), within=0.1), "(25), (26)"),
        Claim(
            "no other weight of the uniform distribution has a smaller worst loss",
            exact(
                lambda rows: set(_least_pulls(rows)) == {1.0},
                lambda rows: f"least at {', '.join(f'{each:g}' for each in sorted(set(_least_pulls(rows))))} sqrt n",
                f"exact arithmetic, weights {', '.join(f'{each:g}' for each in _PULLS)} times sqrt n",
            ),
            "(24)",
        ),
        Claim(
            "it improves on the empirical estimator only slightly for many users",
            exact(
                lambda rows: _saved(rows) < 0.01, lambda rows: f"the worst loss by {_saved(rows):.2%} at the most users"
            ),
            "E.2",
        ),
        Claim("unlike the empirical one it is not even asymptotically unbiased", asymptotic_bias, "E.2"),
    ),
    picture=(
        Lines(
            "pull",
            "loss",
            "n",
            panels=("k",),
            log_y=True,
            labels={"pull": "weight of the uniform distribution / sqrt n", "loss": "worst loss / least"},
            only={"part": "worst"},
        ),
        Lines(
            "n",
            "bias",
            "method",
            panels=("k", "source"),
            log_x=True,
            labels={"n": "users n", "bias": "l1 bias"},
            only={"part": "at"},
        ),
    ),
    note="The estimator is the posterior mean under a symmetric Dirichlet prior of total weight sqrt n; its loss being "
    "the same everywhere makes it minimax (Lehmann and Casella 1998). Its bias, (1/k - p_i)/(1 + sqrt n), does vanish "
    "for many users, so it is asymptotically unbiased in the usual sense; what does not vanish is its ratio to the "
    "standard error.",
)
