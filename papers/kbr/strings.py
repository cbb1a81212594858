"""Section G: the number of strings that cohorts of hashes tell apart, and the number of equations they give."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.registry import mechanism
from deniable.planning.tuning import numbered
from papers.frame.experiment import Claim, Experiment, Grid, Table
from papers.frame.judging import centred, only, share_of
from papers.kbr.hashed import OPEN
from papers.kbr.sources import NAMES, O_RR, PAPER


def measure(seed: int, size: int, design: str) -> list[dict[str, Any]]:
    """The share of strings with unique buckets, the share of pairs with the same buckets, and the design's rank."""
    cohorts, buckets = map(int, design.split("x"))
    server = mechanism(
        NAMES[O_RR], domain=Domain.open(), epsilon=1.0, cohorts=cohorts, buckets=buckets, candidates=1, seed=seed
    )
    assert isinstance(server, CohortMechanism)
    table = server.functions.table(server.domain.indices(numbered(size)))
    times = Counter(map(tuple, table.T.tolist()))
    own = sum(each == 1 for each in times.values()) / size
    pairs = size * (size - 1) / 2
    together = sum(each * (each - 1) / 2 for each in times.values()) / pairs
    marks = (table[:, np.newaxis, :] == np.arange(buckets)[np.newaxis, :, np.newaxis]).reshape(-1, size)
    rank = int(np.linalg.matrix_rank(marks.astype(float)))
    words = float(buckets) ** cohorts
    return [
        {
            "alphabet": OPEN,
            "method": O_RR,
            "own": own,
            "own off": own - (1 - 1 / words) ** (size - 1),
            "together": together,
            "together off": together - 1 / words,
            "rank": rank,
            "said": cohorts * buckets,
            "most": cohorts * (buckets - 1) + 1,
            "enough": size >= 8 * cohorts * buckets,
        }
    ]


_BY = ("size", "design")
SECTION_G = Experiment(
    PAPER,
    "section-g",
    "Section G: strings that are told apart, and equations",
    measure,
    quick=Grid({"size": [256], "design": ("1x64", "1x256", "2x16", "2x32", "4x4")}, repeats=60),
    full=Grid({"size": (256, 512), "design": ("1x64", "1x256", "2x16", "2x32", "3x8", "4x4")}, repeats=1000),
    claims=(
        Claim(
            "a string has buckets of its own with probability (1 - k^-C)^(S-1)",
            centred("own off", O_RR, by=_BY, within=0.02),
            "G",
        ),
        Claim(
            "two strings share all buckets with probability k^-C",
            centred("together off", O_RR, by=_BY, within=5e-4),
            "G",
        ),
        Claim(
            "the system has kC independent equations",
            only(share_of(lambda row: row["rank"] == row["said"], "rank kC, of 8 kC strings or more"), enough=True),
            "G",
            slip="there are C(k - 1) + 1, since the buckets of each cohort add up to the same whole",
        ),
        Claim(
            "rather, there are C(k - 1) + 1",
            only(
                share_of(lambda row: row["rank"] == row["most"], "rank C(k - 1) + 1, of 8 kC strings or more"),
                enough=True,
            ),
        ),
    ),
    picture=Table(
        _BY, ("own", "together", "rank", "most", "said"), labels={"most": "C(k-1)+1", "said": "kC", "design": "C x k"}
    ),
    note="The text gives 1/k^C as the probability that two strings are distinguishable; it is that of the contrary, as "
    "the formulas after it have it. The buckets of a cohort add up to the same whole, so that kC equations have rank "
    "C(k - 1) + 1 at most; with one cohort the two agree.",
)
