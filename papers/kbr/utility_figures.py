"""Figures 3, 7, 8 and 13: the loss of O-RR and O-RAPPOR by epsilon, with sizes set for each epsilon."""

from __future__ import annotations

from collections.abc import Sequence

from papers.frame.experiment import Claim, Experiment, Grid, Lines
from papers.frame.judging import alike, never_above, only
from papers.kbr.hashed import CLOSED, OPEN, SEARCHED, TUNED, losses
from papers.kbr.sources import K_RAPPOR, K_RR, LABELS, O_RAPPOR, O_RR, PAPER

_BY = ("sizes", "size", "n", "epsilon")
_SAME, _CLEARLY = 0.05, -0.05  # shares of the loss: about the same, clearly better
SIZES = (
    "The sizes k, C and h are those of least error by formula (deniable.tune), which replace a search; the full grid "
    "also has the paper's search over k, C and h, by the median of 3 samples each."
)
_NOTE = (
    f"{SIZES} Loss is the distance from the distribution that users are drawn from. Lines are medians. Baselines are "
    "exact: the raw data's is the limit for many users. The paper has 50 samples a point. About the same is read as "
    "within 5%."
)


def _grid(alphabets: Sequence[str], epsilons: Sequence[float], repeats: int, searched: bool) -> Grid:
    sizes = (TUNED, SEARCHED) if searched else (TUNED,)
    return Grid(
        {"alphabet": alphabets, "size": [256], "n": [10**6], "sizes": sizes, "epsilon": epsilons}, repeats=repeats
    )


def _open(epsilons: Sequence[float]) -> tuple[Claim, ...]:
    judge = only(never_above("l1", O_RR, [O_RAPPOR], by=_BY, slack=_SAME), alphabet=OPEN)
    middle = [each for each in epsilons if 3 <= each <= 6]
    better = only(never_above("l1", O_RR, [O_RAPPOR], by=_BY, slack=_CLEARLY), alphabet=OPEN, epsilon=middle)
    claims = [Claim("open: O-RR meets or beats O-RAPPOR at every epsilon", judge, "5.3")]
    if middle:
        claims.append(Claim("open: O-RR is clearly better at midrange epsilon, 3 to 6", better, "5.3"))
    return tuple(claims)


def _closed() -> tuple[Claim, ...]:
    others = [K_RR, K_RAPPOR, O_RAPPOR]
    judge = only(never_above("l1", O_RR, others, by=_BY, slack=_SAME), alphabet=CLOSED)
    same = only(alike("l1", O_RAPPOR, K_RAPPOR, by=_BY, slack=_SAME), alphabet=CLOSED)
    return (
        Claim("closed: O-RR meets or beats all others at every epsilon", judge, "5.4"),
        Claim("closed: O-RAPPOR and k-RAPPOR are nearly indistinguishable", same, "5.4"),
    )


def _between_alphabets(name: str) -> Claim:
    if name == O_RR:
        judge = never_above("l1", CLOSED, [OPEN], by=_BY, among="alphabet", slack=_CLEARLY)
        text = "permutations in place of hashes improve O-RR clearly"
    else:
        judge = alike("l1", CLOSED, OPEN, by=_BY, among="alphabet", slack=_SAME)
        text = "permutations in place of hashes change O-RAPPOR little"
    return Claim(text, only(judge, method=name), "5.4")


def _lines(*panels: str) -> Lines:
    return Lines("epsilon", "l1", "method", panels=panels, log_y=True, median=True, labels=LABELS)


_EPSILONS = tuple(0.5 * step for step in range(1, 21))
_FEW = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_LOW = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0)

FIGURE_3 = Experiment(
    PAPER,
    "figure-3",
    "Figure 3: l1 loss of open and closed alphabets, S = 256, n = 1e6",
    losses,
    quick=_grid((OPEN, CLOSED), _FEW, 25, False),
    full=_grid((OPEN, CLOSED), _FEW, 50, True),
    claims=(*_open(_FEW), *_closed(), _between_alphabets(O_RR), _between_alphabets(O_RAPPOR)),
    picture=_lines("alphabet", "sizes"),
    note=_NOTE,
)
FIGURE_7 = Experiment(
    PAPER,
    "figure-7",
    "Figure 7: l1 loss of open alphabets, full and low range of epsilon, S = 256, n = 1e6",
    losses,
    quick=_grid((OPEN,), (*_LOW, 2.0, 4.0, 6.0, 8.0), 20, False),
    full=_grid((OPEN,), (*_LOW, *_EPSILONS[2:]), 50, False),
    claims=_open((*_LOW, 2.0, 4.0, 6.0, 8.0)),
    picture=_lines("sizes"),
    note=f"{_NOTE} Figure 3 has the search.",
)
FIGURE_8 = Experiment(
    PAPER,
    "figure-8",
    "Figure 8: l1 loss of closed alphabets, full and low range of epsilon, S = 256, n = 1e6",
    losses,
    quick=_grid((CLOSED,), (*_LOW, 2.0, 4.0, 6.0, 8.0), 20, False),
    full=_grid((CLOSED,), (*_LOW, *_EPSILONS[2:]), 50, False),
    claims=_closed(),
    picture=_lines("sizes"),
    note=f"{_NOTE} Figure 3 has the search.",
)
FIGURE_13 = Experiment(
    PAPER,
    "figure-13",
    "Figure 13: l1 loss of open alphabets, S = 4096, n = 1e6 and 1e8",
    losses,
    quick=Grid(
        {
            "alphabet": [OPEN],
            "size": [4096],
            "n": (10**6, 10**8),
            "sizes": [TUNED],
            "epsilon": (2.0, 4.0, 6.0, 8.0),
        },
        repeats=3,
    ),
    full=Grid(
        {
            "alphabet": [OPEN],
            "size": [4096],
            "n": (10**6, 10**8),
            "sizes": (TUNED, SEARCHED),
            "epsilon": (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0),
        },
        repeats=20,
    ),
    claims=_open((2.0, 4.0, 6.0, 8.0)),
    picture=_lines("n", "sizes"),
    note=f"{_NOTE} The full grid has 20 samples.",
)
