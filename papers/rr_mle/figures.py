"""The figures of the paper as experiments: what is measured where, what is claimed, how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from papers.frame.experiment import Claim, Experiment, Grid, Lines
from papers.frame.judging import always_lowest, between, never_above, never_worst, only
from papers.rr_mle.columns import FILES
from papers.rr_mle.comparison import EPSILONS, INV_N, INV_P, MLE, by_epsilon, by_users, real
from papers.rr_mle.iterations import distances, falling, not_reached, takes_about

PAPER = "rr_mle"
SKEWS = (0.01, 1.3, 2.5)
LABELS = {
    "n": "users N",
    "k": "values K",
    "epsilon": "epsilon",
    "skew": "Zipf s",
    "mse": "mean squared error",
    "nll": "negative log-likelihood of a report",
    "iteration": "iteration",
    "distance": "squared distance to MLE*",
}
SAME_REPORTS = (
    "All estimators see the same simulated reports. The error is taken against the users' own histogram and averaged "
    "over values, as in the published code."
)
REPEATS = (
    "Users are drawn anew for every seed. The text speaks of 100 repetitions, the published code of 10; the full grid "
    "has 100, the quick one fewer."
)


def _never_worst(by: Sequence[str]) -> Claim:
    return Claim("MLE* is never the worst of the three in MSE", never_worst("mse", MLE, [INV_P, INV_N], by=by), "6.2")


def _lowest(by: Sequence[str]) -> Claim:
    return Claim("MLE* always has the lowest negative log-likelihood", always_lowest("nll", MLE, by=by), "6.2")


def _overview(name: str, title: str, x: str, fixed: dict[str, Any], quick: int) -> Experiment:
    """Figures 1 and 2: three distributions, both metrics."""
    by = ("skew", x)
    parameters = {"skew": SKEWS, **{key: [value] for key, value in fixed.items()}}
    steep = never_above("mse", INV_P, [MLE, INV_N], by=by)
    flat = never_above("mse", INV_N, [MLE, INV_P], by=by)
    return Experiment(
        PAPER,
        name,
        title,
        by_users if x == "n" else by_epsilon,
        quick=Grid(parameters, repeats=quick),
        full=Grid(parameters, repeats=100),
        claims=(
            _never_worst(by),
            Claim(
                "the MSE of MLE* lies between those of InvP and InvN", between("mse", MLE, (INV_P, INV_N), by=by), "6.2"
            ),
            Claim("InvP is the best in MSE under high concentration, s = 2.5", only(steep, skew=2.5), "6.2"),
            Claim("InvN is the best in MSE near uniformity, s = 0.01", only(flat, skew=0.01), "6.2"),
            _lowest(by),
        ),
        picture=(
            Lines(x, "mse", "method", panels=("skew",), log_x=x == "n", log_y=True, labels=LABELS),
            Lines(x, "nll", "method", panels=("skew",), log_x=x == "n", labels=LABELS),
        ),
        note=f"{SAME_REPORTS} {REPEATS} The caption says s = 5.0 for the most concentrated distribution, the text 2.5, "
        "which is used here; the histograms beside the curves, i^-s, are not redrawn.",
    )


def _grid(number: int, metric: str, skew: float) -> Experiment:
    """Figures 5 to 10: one distribution, one metric, all domain sizes."""
    by = ("k", "epsilon", "n")
    parameters = {"k": (50, 100, 1000, 5000, 10000), "epsilon": (1.0, 2.0, 4.0, 10.0), "skew": [skew]}
    name = {"mse": "MSE", "nll": "negative log-likelihood"}[metric]
    log = metric == "mse"
    return Experiment(
        PAPER,
        f"figure-{number}",
        f"Figure {number}: {name} over the whole grid, Zipf s = {skew}",
        by_users,
        quick=Grid(parameters, repeats=40 if log else 10),
        full=Grid(parameters, repeats=100),
        claims=((_never_worst if log else _lowest)(by),),
        picture=Lines("n", metric, "method", panels=("k", "epsilon"), log_x=True, log_y=log, labels=LABELS),
        note=f"{SAME_REPORTS} {REPEATS}",
    )


FIGURES = (
    _overview(
        "figure-1",
        "Figure 1: MSE and likelihood by users, K = 10,000, epsilon = 4",
        "n",
        {"k": 10_000, "epsilon": 4.0},
        40,
    ),
    _overview(
        "figure-2",
        "Figure 2: MSE and likelihood by epsilon, K = 10,000, N = 1e6",
        "epsilon",
        {"k": 10_000, "n": 10**6},
        40,
    ),
    Experiment(
        PAPER,
        "figure-3",
        "Figure 3: MSE by epsilon on real columns",
        real,
        quick=Grid(
            {"dataset": ("Kosarak", "PUMA", "PINCP"), "epsilon": [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0]}, repeats=15
        ),
        full=Grid({"dataset": ("Kosarak", "PUMA", "PINCP"), "epsilon": EPSILONS}, repeats=100),
        claims=(
            Claim(
                "MLE* is never the worst of the three in MSE",
                never_worst("mse", MLE, [INV_P, INV_N], by=("dataset", "epsilon")),
                "6.3",
            ),
            Claim(
                "InvP is the best in MSE on Kosarak",
                only(never_above("mse", INV_P, [MLE, INV_N], by=("epsilon",)), dataset="Kosarak"),
                "6.3",
            ),
            _lowest(("dataset", "epsilon")),
        ),
        picture=Lines("epsilon", "mse", "method", panels=("data",), log_y=True, labels=LABELS),
        note=f"{SAME_REPORTS} The columns differ from the paper's. Kosarak: the first page of the first 100,000 visits "
        "instead of all 990,002, on the same 41,270 pages. PINCP: 100,000 persons of the ACS 2013-17 in 20 states, "
        "those with 100 dollars or more, in one-dollar values from 100 on, instead of the ACSIncome file. PUMA is "
        "not at hand: a stand-in with 703 codes among 70,201 and 1,664,500 persons. The published code cuts real "
        "columns into K bins of equal width, which for these columns is about one value a bin. The histograms are "
        "not redrawn.",
        data=FILES,
    ),
    Experiment(
        PAPER,
        "figure-4",
        "Figure 4: distance of the Bayesian update from MLE* by iteration, K = 500",
        distances,
        quick=Grid(
            {
                "n": (10**4, 500_000),
                "skew": (0.01, 1.3),
                "epsilon": (0.5, 1.0, 2.0),
                "k": [500],
                "iterations": [40_000],
            },
            repeats=4,
        ),
        full=Grid(
            {
                "n": (10**4, 500_000),
                "skew": (0.01, 1.3),
                "epsilon": (0.5, 1.0, 2.0),
                "k": [500],
                "iterations": [40_000],
            },
            repeats=100,
        ),
        claims=(
            Claim("the iterations of IBU converge to MLE*", falling, "6.4"),
            Claim("about 7,000 iterations at N = 1e4, epsilon = 1", takes_about(7_000, 10**4, 1.0, fitted=True), "6.4"),
            Claim("about 25,000 iterations at N = 1e4, epsilon = 0.5", takes_about(25_000, 10**4, 0.5), "6.4"),
            Claim("about 20,000 iterations at N = 5e5, epsilon = 1", takes_about(20_000, 500_000, 1.0), "6.4"),
            Claim("40,000 iterations are not enough at N = 5e5, epsilon = 0.5", not_reached(500_000, 0.5), "6.4"),
        ),
        picture=Lines("iteration", "distance", "privacy", panels=("n", "skew"), log_y=True, labels=LABELS),
        note="The paper does not say which distance counts as reached. The level here, a squared distance of 0.001, "
        "was chosen so that 7,000 iterations at N = 1e4 and epsilon = 1 fit; only the other three numbers are "
        "checks, and rough ones. It is about 1% of the paper's axis. Convergence is judged by "
        "the distance falling in 40,000 iterations; that the limit is MLE* is shown by Theorem 1's entry. The "
        "distance goes on falling long after: on a logarithmic axis, unlike the paper's, convergence is seen to be "
        "slow. One run each in the paper.",
    ),
    *(_grid(5 + place, "mse", skew) for place, skew in enumerate(SKEWS)),
    *(_grid(8 + place, "nll", skew) for place, skew in enumerate(SKEWS)),
)
