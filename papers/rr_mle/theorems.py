"""The paper's theorems, its algorithm and its variance formula, as experiments."""

from __future__ import annotations

from papers.frame.experiment import Claim, Experiment, Grid, Lines, Scatter, Table
from papers.frame.judging import only, share_of
from papers.rr_mle.comparison import four_errors
from papers.rr_mle.statements import EXACT, ONE, PRINTED, RUNNING, SQUARED, collinear, maximal, totals, variances
from papers.rr_mle.verdicts import adds_up, falls_like_one_over_n, grows_like_k, off_the_line, right_ratio

PAPER = "rr_mle"
SKEWS = (0.01, 1.3, 2.5)

_MAXIMAL = {"k": (10, 500, 10_000), "epsilon": (0.5, 2.0, 6.0), "n": (10**4, 10**6), "skew": SKEWS}
_TOTALS = {"k": (10**4, 10**5, 1_423_000), "epsilon": [4.0], "n": [10**6], "skew": [0.01]}
_VARIANCES = {"k": (2, 10, 100), "epsilon": (1.0, 3.0), "frequency": (0.0, 0.3), "n": [1000], "draws": [1000]}

THEOREMS = (
    Experiment(
        PAPER,
        "theorem-1",
        "Theorem 1: MLE* is the maximum of the likelihood",
        maximal,
        quick=Grid(_MAXIMAL, repeats=2),
        full=Grid(_MAXIMAL, repeats=40),
        claims=(
            Claim(
                "no distribution is more likely than MLE*",
                share_of(lambda row: row["gap"] <= 1e-9, "average log-likelihood certified within 1e-9 of the maximum"),
                "Theorem 1",
            ),
            Claim(
                "it is the limit of IBU",
                share_of(lambda row: row["distance"] <= 1e-7, "within 1e-7 in L1 of the maximum found by iteration"),
                "Theorem 1, 6.4",
            ),
        ),
        picture=Table(("k", "epsilon", "n"), ("gap", "distance"), labels={"distance": "L1 to limit"}),
        note="The likelihood is concave, so the largest entry of its gradient bounds what is left to gain. The limit "
        "of IBU is found by accelerated updates and Newton's steps, which know nothing of MLE*.",
    ),
    Experiment(
        PAPER,
        "algorithm-1",
        "Algorithm 1: what the estimate adds up to",
        totals,
        quick=Grid(_TOTALS, repeats=3),
        full=Grid(_TOTALS, repeats=20),
        claims=(
            Claim("the estimate adds up to 1, from exact integers", adds_up(EXACT), "Algorithm 1"),
            Claim(
                "it does with the running sum s in floating point",
                adds_up(RUNNING),
                "Algorithm 1, A",
                slip="in floating point the estimate must be divided by its sum at the end, as the published code does",
            ),
        ),
        picture=Scatter("k", "off", "sum", log_x=True, log_y=True, labels={"k": "values K", "off": "|1 - sum|"}),
        note="The algorithm is right. Taken literally in floating point, its running sum gathers a rounding error for "
        "every value it drops: small, but growing with K. The published code divides by the sum at the end. A sum that "
        "is exactly 1 is not in the picture, whose axis is logarithmic.",
    ),
    Experiment(
        PAPER,
        "theorem-2",
        "Theorem 2: InvP, MLE* and InvN on one line",
        collinear,
        quick=Grid({"k": (4, 10, 50), "epsilon": (1.0, 4.0), "n": [10**6]}, repeats=30),
        full=Grid({"k": (4, 10, 50, 100), "epsilon": (1.0, 2.0, 4.0), "n": [10**6, 10**7]}, repeats=200),
        claims=(
            Claim(
                "with one value below q the three are on a line, MLE* in the middle",
                only(share_of(lambda row: row["off"] <= 1e-7 and 0 < row["place"] < 1, "on it and inside"), case=ONE),
                "Theorem 2",
            ),
            Claim(
                "MLE* is at the share (p - v)/(1 - v) of the way from InvP to InvN, v the smallest entry",
                only(share_of(lambda row: abs(row["place"] - row["formula"]) <= 1e-7, "within 1e-7"), case=ONE),
                "proof of Theorem 8",
            ),
            Claim("without the condition they need not be on a line", off_the_line, "our addition to Theorem 2"),
        ),
        picture=Scatter(
            "place",
            "off",
            "case",
            panels=("epsilon", "k"),
            log_y=True,
            labels={"place": "from InvP (0) to InvN (1)", "off": "distance off the line"},
        ),
        note="Reports are simulated until the condition is met, in exact arithmetic; as a contrast, others that do not "
        "meet it. The condition is sufficient, not necessary: the three are on a line whenever they have the same "
        "zeros. Theorem 2 is Theorem 8 of the supplement.",
    ),
    Experiment(
        PAPER,
        "equation-8",
        "Equation 8: the variance of the unbiased estimate",
        variances,
        quick=Grid(_VARIANCES, repeats=3),
        full=Grid(_VARIANCES, repeats=100),
        claims=(
            Claim(
                "the variance of Inv is as printed, over N(p - q)",
                right_ratio(PRINTED),
                "Equation 8",
                slip="the divisor is N(p - q)^2",
            ),
            Claim("it is the same over N(p - q)^2", right_ratio(SQUARED), "Equation 8, corrected"),
        ),
        picture=Table(("formula", "k", "epsilon", "frequency"), ("ratio",), labels={"ratio": "measured/formula"}),
        note="A slip of the pen, in equation 8 and again in the proof of Theorem 9: dividing an estimate by p - q "
        "divides its variance by the square. Theorem 2 of Wang et al. 2017 and Proposition 3 of Kairouz et al. 2016 "
        "have it.",
    ),
    Experiment(
        PAPER,
        "theorem-9",
        "Theorem 9: squared error of all four estimators by users",
        four_errors,
        quick=Grid(
            {
                "k": (10, 100, 1000),
                "epsilon": (1.0, 4.0),
                "skew": (0.01, 1.3),
                "n": tuple(10**e for e in range(4, 15, 2)),
            },
            repeats=20,
        ),
        full=Grid(
            {"k": (10, 100, 1000), "epsilon": (1.0, 4.0), "skew": SKEWS, "n": tuple(10**e for e in range(2, 15, 2))},
            repeats=100,
        ),
        claims=(
            Claim("all four are consistent: the error falls to zero, as 1/N", falls_like_one_over_n, "Theorem 9"),
            Claim("the error of Inv is O(K/N)", grows_like_k, "Theorem 9"),
        ),
        picture=Lines(
            "n",
            "total",
            "method",
            panels=("epsilon", "k"),
            log_x=True,
            log_y=True,
            labels={"n": "users N", "total": "squared error, summed over values"},
        ),
        note="With the square that equation 8 has lost, N times the error of Inv is K(K - 2 + e^epsilon)/(e^epsilon "
        "- 1)^2 for absent values: at a fixed epsilon it grows as K^2, not K, once K is large against e^epsilon. In "
        "N the rate is right, and so is consistency, but it can take many users: for K = 1,000, epsilon 1 and s = "
        "1.3 the error of InvP and MLE* still falls as N^-0.88 from N = 1e10 to 1e12, which is why N goes up to "
        "1e14. The pictures average over the distributions.",
    ),
)
