"""The paper's statements about cost, validity and bias, as experiments."""

from __future__ import annotations

import math

from papers.frame.experiment import Claim, Experiment, Grid, Lines, Scatter, Table
from papers.frame.judging import between, exact, only, share_of
from papers.rr_mle.comparison import ALL, INV_N, INV_P, MLE, bias
from papers.rr_mle.statements import SURE, negative
from papers.rr_mle.timing import far_faster, near_linear, seconds
from papers.rr_mle.verdicts import near_half

PAPER = "rr_mle"
SKEWS = (0.01, 1.3, 2.5)

PROPERTIES = (
    Experiment(
        PAPER,
        "table-1",
        "Table 1: what each estimator costs",
        seconds,
        quick=Grid({"k": (100, 10**4, 10**5, 10**6), "epsilon": [4.0], "n": [10**6], "repeats": [7]}, repeats=3),
        full=Grid({"k": [10**e for e in range(2, 8)], "epsilon": [4.0], "n": [10**6], "repeats": [15]}, repeats=5),
        claims=(
            Claim("MLE* is vastly faster than the iterations of IBU", far_faster, "5.3, 7"),
            Claim("Inv, InvN, InvP and MLE* cost O(K) or O(K log K)", near_linear(*ALL.values()), "5.3, Table 1"),
        ),
        picture=(
            Lines("k", "milliseconds", "method", log_x=True, log_y=True, labels={"k": "values K"}),
            Table(("k", "method"), ("milliseconds",)),
        ),
        note="Table 1 gives orders, no times; these are times of one machine. InvP is O(K log K) in the table and "
        "O(K) in section 5.3; here InvP and MLE* both drop small counts in a few passes without sorting. Inv and "
        "InvN do a fixed number of operations a value; that InvN's exponent is above 1 may come from memory, its "
        "time jumping at some size, but no test here separates that from other causes. The exponent came out as "
        "1.27, 1.41 and 1.42 in three runs, on both sides of the limit, so this verdict can turn. The time of 7,000 "
        "iterations is that of 20, scaled.",
        timed=True,
    ),
    Experiment(
        PAPER,
        "validity",
        "Section 5.1: how often the unbiased estimate of an absent value is negative",
        negative,
        quick=Grid(
            {
                "k": (50, 1000, 10_000),
                "epsilon": (1.0, 4.0),
                "n": (10**2, 10**3, 10**4, 10**5, 10**6, 10**8),
                "draws": [40],
            }
        ),
        full=Grid(
            {
                "k": (50, 1000, 10_000),
                "epsilon": (1.0, 2.0, 4.0, 10.0),
                "n": tuple(10**e for e in range(2, 10)),
                "draws": [500],
            }
        ),
        claims=(
            Claim("the probability is close to 1/2, whatever N", near_half, "5.1"),
            Claim(
                "it is never negligible",
                exact(
                    lambda rows: bool(rows.where(kind="exact").column("share").min() >= 1 / math.e - 0.01),
                    lambda rows: f"exactly {rows.where(kind='exact').column('share').min():.3f} at least",
                    "binomial probabilities",
                ),
                "5.1",
            ),
            Claim(
                "it is that of a binomial variable below Nq",
                only(
                    share_of(lambda row: abs(row["share"] - row["exact"]) <= row["allowed"], f"within {SURE} errors"),
                    kind="counted",
                ),
                "5.1",
            ),
        ),
        picture=Scatter(
            "expected",
            "share",
            "kind",
            log_x=True,
            labels={"expected": "Nq, the expected count of an absent value", "share": "share of negative estimates"},
        ),
        note="1/2 is the limit for many expected counts. Where Nq is small, as for 1,000 users and 10,000 values, "
        "nobody reports most absent values, and the probability is near 1: the estimate is invalid even more often "
        "than the paper says. Where Nq is at most 1 it is at least 1/e, or nearly.",
    ),
    Experiment(
        PAPER,
        "bias",
        "Published code: squared bias and variance of the valid estimators",
        bias,
        quick=Grid(
            {
                "k": (50, 1000),
                "epsilon": (1.0, 4.0),
                "n": (10**3, 10**4, 10**5, 10**6),
                "skew": SKEWS,
                "draws": [50],
            },
            repeats=10,
        ),
        full=Grid(
            {
                "k": (50, 1000, 10_000),
                "epsilon": (1.0, 2.0, 4.0, 10.0),
                "n": (10**2, 10**3, 10**4, 10**5, 10**6),
                "skew": SKEWS,
                "draws": [100],
            },
            repeats=20,
        ),
        claims=(
            Claim(
                "the bias of MLE* lies between those of InvP and InvN",
                between("bias", MLE, (INV_P, INV_N), by=("k", "epsilon", "n", "skew")),
                "notes of the published code",
            ),
        ),
        picture=(
            Lines(
                "n",
                "bias",
                "method",
                panels=("k", "skew"),
                log_x=True,
                log_y=True,
                labels={"n": "users N", "bias": "squared bias"},
            ),
            Lines("n", "variance", "method", panels=("k", "skew"), log_x=True, log_y=True, labels={"n": "users N"}),
        ),
        note="The users are the same for all seeds; only their randomisation changes. The variance of a mean over the "
        "draws is taken off the squared bias, which can therefore come out below zero, and off the picture, where "
        "there is hardly any. The pictures average over epsilon.",
    ),
)
