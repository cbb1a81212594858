"""Figure 1: two of the case studies side by side, the entropy of documents and a profile."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from papers.dlap import entropies, profiles
from papers.dlap.entropies import document_errors
from papers.dlap.profiles import measure as profile
from papers.dlap.tables import DOCUMENTS_FILE, SHAKESPEARE, WORDS_FILE
from papers.frame.experiment import Claim, Experiment, Grid, Lines
from papers.frame.judging import centred, never_above, only

ENTROPY, PROFILE = "entropy", "profile"
_EPSILONS = [0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def measure(seed: int, part: str, most: int | None, draws: int) -> list[dict[str, Any]]:
    """Panel (a): errors of the entropy against epsilon; panel (b): the profile of words."""
    if part == PROFILE:
        return profile(seed, SHAKESPEARE, epsilon=1.0, most=15, draws=draws)
    rows = []
    for epsilon in _EPSILONS:
        errors, label = document_errors(seed, epsilon, most)
        for name in (entropies.UNBIASED, entropies.NAIVE):
            mse = float(np.mean(errors[name] ** 2))
            rows.append({"epsilon": epsilon, "method": name, "mse": mse, "rmse": math.sqrt(mse), "data": label})
    return rows


FIGURE_1 = Experiment(
    paper="dlap",
    name="figure-1",
    title="Figure 1: (a) entropy of bags of words, (b) profile of Shakespeare's words",
    measure=measure,
    quick=Grid({"part": [ENTROPY, PROFILE], "most": [300], "draws": [50]}, repeats=6),
    full=Grid({"part": [ENTROPY, PROFILE], "most": [None], "draws": [200]}, repeats=40),
    claims=(
        Claim(
            "(a) debiasing lowers the error of the entropy of sparse histograms",
            only(never_above("mse", entropies.UNBIASED, [entropies.NAIVE], by=["epsilon"]), part=ENTROPY),
            "section 6",
        ),
        Claim(
            "(b) debiasing undoes the smoothing of the profile",
            only(centred("off", profiles.UNBIASED, by=["r"], within=0.005), part=PROFILE),
            "section 6",
        ),
        Claim(
            "(b) and lowers its error",
            only(never_above("squared", profiles.UNBIASED, [profiles.NAIVE], by=["r"]), part=PROFILE, r=1),
            "section 6",
        ),
    ),
    picture=(
        Lines("epsilon", "rmse", "method", log_y=True, labels=entropies.LABELS, only={"part": ENTROPY}),
        Lines(
            "r",
            "share",
            "method",
            log_y=True,
            labels=profiles.LABELS,
            band=("low", "high"),
            only={"part": PROFILE},
        ),
    ),
    note="(a) is Figure 5 on the first 300 documents in the quick grid; (b) is the right half of Figure 9. Which "
    "profile the paper shows here, the text at hand does not say.",
    data=(DOCUMENTS_FILE, WORDS_FILE),
)
