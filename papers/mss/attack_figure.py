"""Figure 3 as an experiment: its grid, claims and picture."""

from __future__ import annotations

from math import log

import numpy as np

from papers.frame.experiment import FAILS, HOLDS, Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import NOTHING, exact, never_above
from papers.frame.rows import Rows
from papers.mss.attack import NUMBERED, measure
from papers.mss.oracles import LABELS
from papers.mss.published_moduli import FLOOR, NEAREST
from papers.mss.utility import EPSILONS

_CELL = ("k", "rounding", "epsilon")
_FEWER = [0.5, 1.0, 2.0, 3.5, 5.0]
_LESS, _EXACTLY = 0.95, 1e-9


def _times(rows: Rows, metric: str, name: str, other: str) -> dict[tuple[object, ...], float]:
    """For each cell, the mean metric of one mechanism over that of the other."""
    return {
        tuple(key.values()): float(
            cell.where(method=name).column(metric).mean() / cell.where(method=other).column(metric).mean()
        )
        for key, cell in rows.groups(*_CELL)
    }


def _identity(rows: Rows) -> float:
    return max(abs(float(row["uniform"]) / float(row["shares"]) - 1) for row in rows if "shares" in row)


def _parts(rows: Rows) -> Verdict:
    """Split the lower attack rate of mss against ss into the effect of w/m and that of where frequent values lie."""
    if not rows:
        return NOTHING
    both = rows.where(method=("mss", "ss"))
    seen, shares = _times(both, "rate", "mss", "ss"), _times(both, "shares", "mss", "ss")
    cells = [cell for cell, times in seen.items() if times < _LESS]
    text = f"exact rates are e/(k(1+(w/m)(e-1))) within {_identity(rows):.0e}: {_range(shares)} times those of ss"
    if cells:
        sizes = float(np.median([log(shares[cell]) / log(seen[cell]) for cell in cells]))
        text += (
            f"; on Zipf data {_range(seen)} times, below {_LESS} in {len(cells)} of {len(seen)} cells, where the "
            f"rounding of w gives {sizes:.0%} of it (median, in logarithms) and the place of frequent values the rest"
        )
    return Verdict(HOLDS if _identity(rows) < _EXACTLY else FAILS, text, "exact rates beside simulated ones")


def _range(found: dict[tuple[object, ...], float]) -> str:
    return f"{min(found.values()):.3g} to {max(found.values()):.3g}"


def _rise(rows: Rows) -> dict[tuple[object, ...], float]:
    return _times(rows, "rate", NUMBERED, "ss")


def _rises(rows: Rows) -> str:
    published, singer = max(_rise(rows).values()), max(_times(rows, "rate", "pgr", "ss").values())
    text = f"with the published numbering up to {published:.2g} times the rate of ss"
    return f"{text}; the same geometry in Singer's numbering up to {singer:.2g} times"


FIGURE_3 = Experiment(
    paper="mss",
    name="figure-3",
    title="Figure 3: how often a value is guessed from its report, Zipf data, n=10,000",
    measure=measure,
    quick=Grid({"k": [100, 1024], "rounding": [FLOOR, NEAREST], "n": [10_000], "epsilon": _FEWER}, repeats=8),
    full=Grid({"k": [100, 1024], "rounding": [FLOOR, NEAREST], "n": [10_000], "epsilon": EPSILONS}, repeats=300),
    claims=(
        Claim(
            "mss is attacked least at every epsilon",
            never_above("rate", "mss", ["grr", "oue", "ss", "pgr"], by=list(_CELL)),
            "section 5, attackability",
        ),
        Claim(
            "the same with values equally likely, as section 4.4 defines the attack (exact)",
            never_above("uniform", "mss", ["grr", "oue", "ss", "pgr"], by=list(_CELL)),
            "section 4.4",
        ),
        Claim(
            "grr is attacked most",
            never_above("rate", "ss", ["grr"], by=list(_CELL)),
            "section 1",
        ),
        Claim(
            "with k below the K of its geometry, pgr gives values away at large epsilon",
            exact(
                lambda rows: max(_rise(rows).values()) > 1.5,
                _rises,
                "exact for the published numbering, given the data",
            ),
            "section 5, attackability",
        ),
        Claim(
            "ours: with values equally likely the rate of mss differs from that of ss by the rounding of w only",
            _parts,
        ),
    ),
    picture=(
        Lines(
            "epsilon",
            "rate",
            "method",
            panels=("k", "rounding"),
            log_y=True,
            labels={**LABELS, "rate": "rate of right guesses"},
        ),
        Lines(
            "epsilon",
            "over",
            "method",
            panels=("k", "rounding"),
            log_y=True,
            labels={**LABELS, "over": "exact rate, values uniform, over (e+1)/(2k)"},
        ),
    ),
    note="The exact rate, values being equally likely, depends on one number: if a report supports a share rho of the "
    "values and is e times as likely from those, it is e/(k(1+rho(e-1))); for mss rho = w_j/m_j. Unrounded, rho "
    "= 1/(e+1), and ss and mss have the same rate, (e+1)/(2k). They differ where w is a small number made whole: "
    "larger subsets are attacked less, at more error. On Zipf data in order of rank mss gains once more, since "
    "the first values have the residues that most values share (1 + floor((k-1-x)/m_j) of them): that is a "
    "property of how values are numbered, and is gone when ranks are dealt at random. The printed brackets round "
    "w down, the nearest number is the usual choice: both are shown. For pgr with the published numbering no "
    "reports are simulated: its rate is exact given the data. Its values are given away by a numbering whose "
    "first points form subspaces, and by data that are mostly the first value; Singer's numbering does not do "
    "that, and averaged over values both are attacked like ss. 8 trials instead of 300 in the quick grid.",
)
