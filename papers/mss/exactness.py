"""Theorems 1 and 2: privacy and unbiasedness, by enumerating all reports of small domains."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np

from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
from papers.frame.experiment import Claim, Experiment, Grid, Table
from papers.frame.judging import exact, only, share_of
from papers.frame.rows import Rows
from papers.mss.oracles import drawn_modular
from papers.mss.theory import regularized

_SMALL = [[5, [3, 4]], [7, [4, 5]], [8, [3, 4, 5]], [10, [5, 7]]]  # k and moduli that determine its histogram
_ROUNDING = 1e-9
UNBIASED, RIDGE, PRINTED = "unbiased", "ridge", "n_j as printed"


def privacy(seed: int, case: list[Any], epsilon: float) -> list[dict[str, Any]]:
    """The exact largest ratio of probabilities over all reports and pairs of values, against the stated one."""
    k, moduli = case
    if moduli:
        mechanism = ModularSubsetSelection(k, epsilon, moduli=tuple(moduli))
        largest = max(_ratio(mechanism, report) for report in mechanism.layout.all())
    else:  # all reports are too many: the ratio of the spec's integers, cohort by cohort
        mechanism = drawn_modular(k, epsilon, seed)
        largest = mechanism.ratio()
    stated = mechanism.guarantee()
    return [
        {
            "k": k,
            "cohorts": mechanism.cohorts,
            "ratio": float(largest),
            "bound": exp(epsilon),
            "below": float(stated.slack),
            "private": bool(stated.ratio >= largest and stated.epsilon <= epsilon),
        }
    ]


def _ratio(mechanism: ModularSubsetSelection, report: Any) -> Fraction:
    chances = [mechanism.probability(report, value) for value in range(mechanism.k)]
    return max(chances) / min(chances)


def bias(seed: int, case: list[Any], epsilon: float) -> list[dict[str, Any]]:
    """The largest bias of any estimate for any user, from the mean over all reports of the estimate from one report."""
    del seed
    k, moduli = case
    mechanism = ModularSubsetSelection(k, epsilon, moduli=tuple(moduli))
    reports = list(mechanism.layout.all())
    summaries = [mechanism.summarize(np.array([report], np.uint64)) for report in reports]
    chances = np.array([[float(mechanism.probability(report, x)) for report in reports] for x in range(k)])
    rows = []
    for method, ridge in ((UNBIASED, 0.0), *((RIDGE, ridge) for ridge in (1e-4, 1e-3, 1e-2, 0.1, 1.0))):
        if method == UNBIASED:
            made = [mechanism.estimate(summary, "unbiased").frequencies for summary in summaries]
        else:
            made = [regularized(mechanism, summary, ridge) for summary in summaries]
        rows.append({"method": method, "ridge": ridge, "bias": _largest(chances, np.array(made))})
    printed = np.array([_as_printed(mechanism, summary.counts) for summary in summaries])
    rows.append({"method": PRINTED, "ridge": 0.0, "bias": _largest(chances, printed)})
    return [{"k": k, **row} for row in rows]


def _largest(chances: Any, estimates: Any) -> float:
    return float(np.abs(chances @ estimates - np.eye(len(chances))).max())


def _as_printed(mechanism: ModularSubsetSelection, counts: Any) -> Any:
    """Section 3.2 to the letter: y_j = c_j/n_j with n_j the sum of the counts, which is w_j times the reports.

    For cohorts without reports, y_j is replaced by its mean, so that their error is not blamed on the formula.
    """
    parts = []
    blocks = mechanism.system.blocks(counts[: sum(mechanism.moduli)])
    for block, channel, m in zip(blocks, mechanism.channels, mechanism.moduli, strict=True):
        share = block / block.sum() if block.any() else np.full(m, np.nan)
        parts.append((share - float(channel.q)) / float(channel.gain))
    own = np.concatenate(parts)
    # unbiased over cohorts: l times the part of the cohort that reported
    centred = np.where(np.isnan(own), 0.0, own * mechanism.cohorts)
    return mechanism.system.least_squares(centred)[0]


def _falls(rows: Rows) -> bool:
    """Whether the bias goes to zero with the ridge, at least in proportion to it (within a factor of two)."""
    groups = [part.column("bias") / part.column("ridge") for _, part in rows.groups("k", "epsilon")]
    return all(ratios.max() <= 2 * ratios[0] for ratios in groups)


def _biases(rows: Rows) -> str:
    return f"largest bias {min(rows.column('bias')):.2g} to {max(rows.column('bias')):.2g} of a user"


THEOREM_1 = Experiment(
    paper="mss",
    name="theorem-1",
    title="Theorem 1: modular subset selection is private",
    measure=privacy,
    quick=Grid({"case": [*_SMALL, [100, []], [1024, []]], "epsilon": [0.5, 1.0, 2.0, 4.0]}),
    full=Grid({"case": [*_SMALL, [100, []], [1024, []], [22_000, []]], "epsilon": [0.5, 1.0, 2.0, 4.0]}, repeats=10),
    claims=(
        Claim(
            "no report is more than e^eps times as likely from one value as from another",
            exact(
                lambda rows: all(row["private"] for row in rows),
                lambda rows: f"{len(rows)} settings; epsilon is missed by {max(rows.column('below')):.1g} at most",
                "rational arithmetic on the integers that run",
            ),
            "Theorem 1",
        ),
    ),
    picture=Table(("k", "cohorts", "epsilon"), ("ratio", "bound", "below"), labels={"below": "epsilon left over"}),
    note="Up to k = 10 every report and every pair of values is enumerated, beyond that the ratio of each cohort is "
    "taken.",
)

THEOREM_2 = Experiment(
    paper="mss",
    name="theorem-2",
    title="Theorem 2 and Corollary 1: least squares are unbiased, with a ridge nearly so",
    measure=bias,
    quick=Grid({"case": _SMALL, "epsilon": [0.5, 1.0, 2.0, 4.0]}),
    full=Grid({"case": _SMALL, "epsilon": [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0]}),
    claims=(
        Claim(
            "without a ridge the estimate is exactly unbiased",
            only(share_of(lambda row: row["bias"] < _ROUNDING, "bias zero but for rounding"), method=UNBIASED),
            "Theorem 2",
        ),
        Claim(
            "a ridge of lambda gives a bias of O(lambda)",
            only(exact(_falls, _biases, "all reports enumerated"), method=RIDGE),
            "Corollary 1",
        ),
        Claim(
            "with n_j = sum_a c_j[a], as printed, it is unbiased",
            only(
                exact(lambda rows: max(rows.column("bias")) < _ROUNDING, _biases, "all reports enumerated"),
                method=PRINTED,
            ),
            "section 3.2",
            slip="n_j is the number of reports of cohort j; the printed sum counts each of them w_j times",
        ),
    ),
    picture=Table(("method", "ridge"), ("bias",), labels={"bias": "largest bias, mean"}),
    note="The mean of the estimate from one report, over all reports there are and for every value of its sender; the "
    "estimate is a mean over reports, so that is its bias for any number of users. The system is divided by n/l "
    "instead of by the number n_j of a cohort's reports, which may be zero. As printed, n_j = sum_a c_j[a] "
    "counts every report w_j times; what is meant is the number of reports. The ridge is relative to the "
    "diagonal of the system.",
)
