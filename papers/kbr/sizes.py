"""Figures 11, 12, 15 and 16: the loss when k, C or h is fixed, and the other sizes are set for each epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.randomness.simulated import generator
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import NOTHING, alike, never_above, only
from papers.frame.rows import Rows
from papers.kbr.hashed import CLOSED, OPEN, SEARCHED, TUNED, Sample, grid, loss, make, median_loss, sample
from papers.kbr.sources import LABELS, O_RAPPOR, O_RR, PAPER

BUCKETS, COHORTS, HASHES = "k", "C", "h"
_ORDER = (COHORTS, BUCKETS, HASHES)  # the order of sizes in a search
_SAMPLES = 5  # samples per choice of sizes in a search
_BY = ("size", "n", "epsilon")
_SAME = 0.05


def varied(
    seed: int, size: int, n: int, alphabet: str, epsilon: float, sizes: str, fixed: dict[str, Sequence[int]]
) -> list[dict[str, Any]]:
    """The loss for every value of each fixed size, with the other sizes chosen by formula or by search."""
    random = generator(seed)
    if sizes == SEARCHED:
        return _searched([sample(size, n, random) for _ in range(_SAMPLES)], size, alphabet, epsilon)
    one = sample(size, n, random)
    rows = []
    for name in (O_RR, O_RAPPOR):
        for varying in (BUCKETS, COHORTS, HASHES)[: 2 + (name == O_RAPPOR)]:
            for value in fixed[varying]:
                found = _best_others(name, alphabet, size, epsilon, varying, value)
                if found is not None:
                    rows.append(_row(name, varying, value, loss(found, one)))
    return rows


def _best_others(name: str, alphabet: str, size: int, epsilon: float, varying: str, value: int) -> Any:
    chosen = dict(zip(_ORDER, (None, None, 1), strict=True)) | {varying: value}
    found = make(name, alphabet, size, epsilon, *(chosen[each] for each in _ORDER))  # type: ignore[arg-type]
    if found is None and varying == COHORTS and alphabet == OPEN:
        # too few cohorts to tell all strings apart in any number of buckets: as many buckets as the search has
        found = make(name, alphabet, size, epsilon, value, 4096, 1)
    return found


def _searched(samples: list[Sample], size: int, alphabet: str, epsilon: float) -> list[dict[str, Any]]:
    rows = []
    for name in (O_RR, O_RAPPOR):
        found = {each: median_loss(name, alphabet, size, epsilon, each, samples) for each in grid(name, alphabet, size)}
        for place, varying in enumerate(_ORDER[: 2 + (name == O_RAPPOR)]):
            for value in sorted({each[place] for each in found}):
                least = min(lost for each, lost in found.items() if each[place] == value)
                if least < math.inf:
                    rows.append(_row(name, varying, value, least))
    return rows


def _row(name: str, varying: str, value: int, lost: float) -> dict[str, Any]:
    return {"varied": f"{name} varying {varying}", "value": f"{varying}={value}", "number": value, "l1": lost}


def grows_with_epsilon(rows: Rows) -> Verdict:
    """Judge whether the best k of O-RR never falls as epsilon grows, and grows overall."""
    part = rows.where(varied=f"{O_RR} varying {BUCKETS}")
    if not part:
        return NOTHING
    best = []
    for epsilon in sorted(part.values("epsilon")):
        means = part.where(epsilon=epsilon).average("l1", "number")
        best.append(int(means.column("number")[np.argmin(means.column("l1"))]))
    rising = all(low <= high for low, high in pairwise(best))
    kind = HOLDS if rising and best[-1] > best[0] else IN_PART if best[-1] > best[0] else FAILS
    return Verdict(kind, f"the best k is {', '.join(map(str, best))} as epsilon grows", "means of the runs")


def _few_against_many(
    name: str, varying: str, low: Sequence[int], high: int, slack: float
) -> Callable[[Rows], Verdict]:
    """Judge whether the loss at `high` is no larger than at each of `low`."""
    values = [f"{varying}={value}" for value in low]
    judge = never_above("l1", f"{varying}={high}", values, by=_BY, among="value", slack=slack)
    return only(judge, varied=f"{name} varying {varying}")


def _claims(alphabet: str, fixed: dict[str, Sequence[int]]) -> tuple[Claim, ...]:
    cohorts, buckets = list(fixed[COHORTS]), list(fixed[BUCKETS])
    several = [each for each in cohorts if each > 1]
    where = "5.3"
    claims = [
        Claim("the best k of O-RR grows with epsilon", grows_with_epsilon, where),
        Claim(
            "more cohorts improve O-RR, up to 5%",
            _few_against_many(O_RR, COHORTS, several[:-1], several[-1], _SAME),
            where,
        ),
        Claim(
            "O-RAPPOR improves with k, up to 5%",
            _few_against_many(O_RAPPOR, BUCKETS, buckets[:-1], buckets[-1], _SAME),
            where,
        ),
        Claim(
            "h = 1 is the best for O-RAPPOR",
            only(
                never_above("l1", "h=1", [f"h={each}" for each in fixed[HASHES][1:]], by=_BY, among="value"),
                varied=f"{O_RAPPOR} varying {HASHES}",
            ),
            where,
        ),
        *(
            Claim(
                f"O-RAPPOR is the same within 5% for C = {few} and C = {several[-1]}",
                only(
                    alike("l1", f"C={few}", f"C={several[-1]}", by=_BY, among="value", slack=_SAME),
                    varied=f"{O_RAPPOR} varying {COHORTS}",
                ),
                where,
            )
            for few in several[:1]
        ),
    ]
    if alphabet == OPEN and 1 in cohorts:
        for name in (O_RR, O_RAPPOR):
            judge = _few_against_many(name, COHORTS, [1], several[-1], -_SAME)
            claims.append(Claim(f"one cohort makes {name} clearly worse, by 5% or more", judge, where))
    return tuple(claims)


def _figure(number: int, alphabet: str, size: int, n: int, quick: Grid, full: Grid, note: str) -> Experiment:
    return Experiment(
        PAPER,
        f"figure-{number}",
        f"Figure {number}: l1 loss by k, C and h, {alphabet} alphabets, S = {size}, n = {n:.0e}".replace("e+0", "e"),
        varied,
        quick=quick,
        full=full,
        claims=_claims(alphabet, quick.parameters["fixed"][0]),
        picture=Lines("epsilon", "l1", "value", panels=("varied", "sizes"), log_y=True, median=True, labels=LABELS),
        note=f"{note}The other sizes are the best by formula; in the full grid those of the paper's search too, for "
        "which the loss is the median of 5 samples. Where strings cannot be told apart, least squares has the "
        "solution of least norm (closed designs of that kind are refused by this package and left out).",
    )


def _grid(
    size: int, n: int, alphabet: str, epsilons: Sequence[float], sizes: Sequence[str], fixed: Any, repeats: int
) -> Grid:
    return Grid(
        {"size": [size], "n": [n], "alphabet": [alphabet], "sizes": sizes, "fixed": [fixed], "epsilon": epsilons},
        repeats=repeats,
    )


_SMALL = {BUCKETS: [2, 4, 16, 64, 256, 1024], COHORTS: [1, 2, 8, 64, 1024], HASHES: [1, 2, 4]}
_SMALL_CLOSED = {BUCKETS: [2, 4, 16, 64, 256], COHORTS: [1, 8, 64, 1024], HASHES: [1, 2, 4]}
_LARGE = {BUCKETS: [32, 128, 512], COHORTS: [16, 128, 1024], HASHES: [1, 2]}
_EPSILONS, _BOTH = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0), (TUNED, SEARCHED)
_TWICE = "Figures 11 and 15 have the same caption, S = 4096; the text cites Figure 11 for S = 256, which is used here. "

FIGURE_11 = _figure(
    11,
    OPEN,
    256,
    10**6,
    _grid(256, 10**6, OPEN, (1.0, 3.0, 5.0, 7.0), [TUNED], _SMALL, 6),
    _grid(256, 10**6, OPEN, _EPSILONS, _BOTH, _SMALL, 10),
    _TWICE,
)
FIGURE_12 = _figure(
    12,
    CLOSED,
    256,
    10**6,
    _grid(256, 10**6, CLOSED, (1.0, 3.0, 5.0, 7.0), [TUNED], _SMALL_CLOSED, 5),
    _grid(256, 10**6, CLOSED, _EPSILONS, _BOTH, _SMALL_CLOSED, 10),
    _TWICE.replace("11 and 15", "11, 12 and 15").replace("which is used here", "which is used here too"),
)
FIGURE_15 = _figure(
    15,
    OPEN,
    4096,
    10**6,
    _grid(4096, 10**6, OPEN, (3.0, 6.0), [TUNED], _LARGE, 3),
    _grid(4096, 10**6, OPEN, (2.0, 4.0, 6.0, 8.0), _BOTH, _LARGE, 2),
    "",
)
FIGURE_16 = _figure(
    16,
    OPEN,
    4096,
    10**8,
    _grid(4096, 10**8, OPEN, (3.0, 6.0), [TUNED], _LARGE, 3),
    _grid(4096, 10**8, OPEN, (2.0, 4.0, 6.0, 8.0), _BOTH, _LARGE, 2),
    "",
)
