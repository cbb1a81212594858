"""Figures 1, 2, 5 and 6 as experiments, and Figure 4, the distribution that users are drawn from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.randomness.simulated import generator
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Heat, Lines, Verdict
from papers.frame.judging import NOTHING, never_above, only, share_of
from papers.frame.rows import Rows
from papers.kbr.decoders import BEST, HIGH_PRIVACY, LOW_PRIVACY, NORMALIZED, PROJECTED, best, decoders
from papers.kbr.sources import FLAT, K_RAPPOR, K_RR, LABELS, PAPER, SKEWED, drawn

_FEW = (4, 16, 64, 256, 1024)
_ALL = tuple(2**power for power in range(1, 13))
_BY = ("source", "n", "k", "epsilon")
_QUICK = ("geometric", "binomial 0.1", "zipf 1", "zipf 2", FLAT)
_HEAT = {**LABELS, "gain l1": "difference in l1 loss", "gain l2": "difference in l2 loss"}
_SETTING = (
    "Loss is the distance from the users' own histogram, as in section 4.4; all decoders see the same reports. The "
    "paper has 10,000 evaluations a cell and does not list its k and epsilon: here they are powers of two of k and of "
    "e^epsilon, "
)
_CONTRARY = (
    " On this distribution, with mean k/5, the normalized decoder loses less than the projected one wherever noise is "
    "large; on steeper ones, such as Zipf 2 in Figure 1, it is as the paper says. A plain computation outside this "
    "package gives the same losses."
)


def _grids(sources: tuple[str, ...], users: tuple[int, ...], few: int = 5) -> tuple[Grid, Grid]:
    def grid(sizes: tuple[int, ...], draws: int, repeats: int) -> Grid:
        epsilons = [round(math.log(size), 4) for size in sizes]
        return Grid({"source": sources, "n": users, "k": sizes, "epsilon": epsilons, "draws": [draws]}, repeats=repeats)

    return grid(_FEW, 10, few), grid(_ALL, 100, 10)


def _projected(text: str, norm: str, source: Any, name: str) -> Claim:
    others = ["mle", NORMALIZED] if name == K_RR else ["unbiased", NORMALIZED]
    return Claim(text, only(never_above(norm, PROJECTED, others, by=_BY), source=source, mechanism=name), "4.4.1")


def _normalized(name: str) -> Claim:
    others = ["mle", PROJECTED] if name == K_RR else ["unbiased", PROJECTED]
    judge = only(never_above("l1", NORMALIZED, others, by=_BY), source=FLAT, mechanism=name)
    return Claim(f"on the flat Dirichlet distribution the normalized decoder of {name} is the best", judge, "4.4.1")


def shrinks(rows: Rows) -> Verdict:
    """Judge whether the advantage of k-RR shrinks with more users where k < e^epsilon."""
    advantages = []
    for _, group in rows.where(region=LOW_PRIVACY).groups("source", "k", "epsilon"):
        means = group.average("gain l1", "n")
        order = np.argsort(means.column("n"))
        advantages.append(-means.column("gain l1")[order])
    if not advantages:
        return NOTHING
    few, many = (float(np.mean([each[place] for each in advantages])) for place in (0, -1))
    share = float(np.mean([each[-1] < each[0] for each in advantages]))
    kind = HOLDS if share == 1 else IN_PART if share >= 0.5 else FAILS
    text = f"mean advantage {few:.3g} with few users, {many:.2g} with many; smaller in {share:.0%} of {len(advantages)}"
    return Verdict(kind, text, "means of the runs")


def shape(seed: int, size: int) -> list[dict[str, Any]]:
    """Figure 4: the distribution at 64 places, with its sum and mean, before and after truncation."""
    p = drawn("geometric", size, generator(seed))
    ratio = p[1] / p[0]
    whole = {"sum": float(p.sum()), "mean": float(p @ np.arange(size)), "uncut": float(ratio / (1 - ratio))}
    return [{"value": int(i), "share": float(p[i]), **whole} for i in np.linspace(0, size - 1, 64).astype(int)]


def _improvement(number: int, norm: str, title: str, *sources: str) -> Experiment:
    quick, full = _grids(sources, (100, 30_000))
    return Experiment(
        PAPER,
        f"figure-{number}",
        title,
        decoders,
        quick,
        full,
        claims=(
            _projected("projected is the best decoder of k-RR on the geometric distribution", norm, "geometric", K_RR),
            _projected(
                "projected is the best decoder of k-RAPPOR on the geometric distribution", norm, "geometric", K_RAPPOR
            ),
        ),
        picture=Heat("epsilon", "k", f"gain {norm}", panels=("mechanism", "n"), diverging=True, labels=_HEAT),
        note=f"{_SETTING}5 times 10 evaluations in the quick grid and 1,000 in the full one.{_CONTRARY}",
    )


def _with_all_sources(figure: Experiment) -> Experiment:
    """Figure 1 also covers what section 4.4 says about other distributions."""
    skewed = SKEWED[1:]
    more = (
        _projected("the same for k-RR on all other skewed distributions", "l1", skewed, K_RR),
        _projected("the same for k-RAPPOR on all other skewed distributions", "l1", skewed, K_RAPPOR),
        _normalized(K_RR),
        _normalized(K_RAPPOR),
    )
    return Experiment(
        PAPER,
        figure.name,
        figure.title,
        decoders,
        quick=figure.quick,
        full=_grids((*SKEWED, FLAT), (30, 100, 30_000, 10**6))[1],
        claims=(*figure.claims, *more),
        picture=Heat("epsilon", "k", "gain l1", panels=("source", "with"), diverging=True, labels=_HEAT),
        note=figure.note
        + " Of the other skewed distributions the quick grid has binomial 0.1, Zipf 1 and Zipf 2. Proposition 7's "
        "likelihood of k-RAPPOR multiplies the bits of a report as if they were independent given p, which bits of a "
        'one-hot vector are not: it is a composite likelihood, the method "composite", measured beside the others.',
    )


def _comparison(number: int, norm: str, title: str) -> Experiment:
    krr, rappor = BEST.values()
    quick, full = _grids(("geometric", FLAT), (100, 30_000), 20)
    low = only(never_above(norm, krr, [rappor], by=_BY), region=LOW_PRIVACY)
    high = only(never_above(norm, rappor, [krr], by=_BY), region=HIGH_PRIVACY, source="geometric", k=_ALL[5:])
    high = only(high, epsilon=[round(math.log(size), 4) for size in _ALL[:4]])
    shrinking = (Claim("the advantage of k-RR there shrinks with more users", shrinks, "4.4.2"),)
    return Experiment(
        PAPER,
        f"figure-{number}",
        title,
        best,
        quick,
        full,
        claims=(
            Claim("k-RR is better than k-RAPPOR wherever k < e^epsilon", low, "4.4.2"),
            Claim("k-RAPPOR is better for large k, here 64 or more, and low epsilon, here up to ln 16", high, "4.4.2"),
            *(shrinking if norm == "l1" else ()),
        ),
        picture=Heat("epsilon", "k", f"gain {norm}", panels=("source", "n"), diverging=True, labels=_HEAT),
        note=f"{_SETTING}20 times 10 evaluations in the quick grid and 1,000 in the full one. The best decoder of a "
        "cell is that of the least mean loss over a seed's evaluations; negative numbers (blue) are better for k-RR.",
    )


FIGURE_1 = _with_all_sources(
    _improvement(1, "l1", "Figure 1: l1 loss of projected decoding less that of the next best", *_QUICK)
)
FIGURE_2 = _comparison(2, "l1", "Figure 2: l1 loss of the best k-RR decoder less that of the best k-RAPPOR decoder")
FIGURE_4 = Experiment(
    PAPER,
    "figure-4",
    "Figure 4: the geometric distribution that users are drawn from",
    shape,
    quick=Grid({"size": [256, 4096]}),
    full=Grid({"size": [256, 4096]}),
    claims=(
        Claim(
            "it is a geometric distribution with mean S/5, cut off at S and normalized",
            share_of(
                lambda row: abs(row["sum"] - 1) < 1e-12 and abs(row["uncut"] / (row["size"] / 5) - 1) < 1e-9,
                "sum 1, mean S/5",
            ),
            "H, Figure 4",
        ),
    ),
    picture=Lines("value", "share", "size", panels=("size",), labels={"value": "value", "share": "share of users"}),
    note="Once it is cut off at S, its mean is lower than S/5 (the column mean).",
)
FIGURE_5 = _improvement(5, "l2", "Figure 5: l2 loss of projected decoding less that of the next best", "geometric")
FIGURE_6 = _comparison(6, "l2", "Figure 6: l2 loss of the best k-RR decoder less that of the best k-RAPPOR decoder")
