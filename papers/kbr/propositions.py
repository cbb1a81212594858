"""Propositions 3 and 4: the losses of the empirical estimators against their formulas, and section 4.3."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Lines, Table, Verdict
from papers.frame.judging import NOTHING, centred, share_of
from papers.frame.rows import Row, Rows
from papers.kbr.formulas import absolute_loss, extra, squared_loss
from papers.kbr.sources import FLAT, K_RAPPOR, K_RR, LABELS, NAMES, PAPER, drawn

UNIFORM = "zipf 0"
_BY = ("source", "k", "epsilon", "n")
_NEAR = 0.05  # shares of the loss that count as none, for many users
_RANDOM = 50  # random distributions compared with the uniform one
SMALL, LOG = "epsilon = 0.01", "epsilon = ln k"


def losses(seed: int, name: str, source: str, k: int, epsilon: float, n: int, draws: int) -> list[dict[str, Any]]:
    """Mean losses of the empirical estimator over some draws of users and reports, relative to the formulas."""
    random = generator(seed)
    p = drawn(source, k, random)
    server = mechanism(NAMES[name], k=k, epsilon=epsilon)
    squared = absolute = 0.0
    for _ in range(draws):
        summary = simulate(server, random.multinomial(n, p), seed=int(random.integers(2**62)))
        away = server.estimate(summary, "unbiased").frequencies - p
        squared += float((away**2).sum()) / draws
        absolute += float(np.abs(away).sum()) / draws
    l2, l1 = squared / squared_loss(name, p, epsilon, n), absolute / absolute_loss(name, p, epsilon, n)
    return [
        {"mechanism": name, "l2 ratio": l2, "l2 off": l2 - 1, "l1 ratio": l1, **_worst(name, k, epsilon, n, random)}
    ]


def _worst(name: str, k: int, epsilon: float, n: int, random: np.random.Generator) -> dict[str, float]:
    """The largest loss by the formulas among random distributions, relative to the uniform one."""
    even = np.full(k, 1 / k)
    others = [drawn(FLAT, k, random) ** power for power in (1, 3) for _ in range(_RANDOM)]
    return {
        f"{norm} over uniform": max(loss(name, p / p.sum(), epsilon, n) for p in others) / loss(name, even, epsilon, n)
        for norm, loss in (("l2", squared_loss), ("l1", absolute_loss))
    }


def _no_worse(norm: str, row: Row) -> bool:
    return bool(row[f"{norm} over uniform"] <= 1 + 1e-12)


def tends_to_one(name: str) -> Callable[[Rows], Verdict]:
    """Judge whether the measured l1 loss matches the formula at the largest number of users of every setting."""
    near = centred("l1 off", name, by=_BY, among="mechanism", within=_NEAR)

    def judge(rows: Rows) -> Verdict:
        most = max(rows.values("n"), default=0)
        return near(Rows({**row, "l1 off": row["l1 ratio"] - 1} for row in rows.where(n=most)))

    return judge


def factors(seed: int, k: int) -> list[dict[str, Any]]:
    """Section 4.3: the factor by which privacy raises the number of users needed, exact and as stated."""
    del seed  # nothing is random
    rows = []
    for name, regime, said in (
        (K_RR, SMALL, (k / 0.01) ** 2),
        (K_RAPPOR, SMALL, 4 * k / 0.01**2),
        (K_RR, LOG, 4.0),
        (K_RAPPOR, LOG, math.sqrt(k)),
    ):
        epsilon = math.log(k) if regime == LOG else 0.01
        even = np.full(k, 1 / k)
        squared = 1 + extra(name, k, epsilon) / (1 - 1 / k)
        absolute = (absolute_loss(name, even, epsilon, 1) / math.sqrt(2 * (k - 1) / math.pi)) ** 2
        rows.append({"mechanism": name, "regime": regime, "said": said, "l2": squared, "l1": absolute})
    return rows


def approaches(name: str, regime: str) -> Callable[[Rows], Verdict]:
    """Judge whether the exact factors approach the stated one as k grows."""

    def judge(rows: Rows) -> Verdict:
        part = rows.where(mechanism=name, regime=regime)
        if not part:
            return NOTHING
        off = {
            k: max(abs(row[norm] / row["said"] - 1) for row in part.where(k=k) for norm in ("l1", "l2"))
            for k in part.values("k")
        }
        first, last = min(off), max(off)
        kind = HOLDS if off[last] <= 0.1 else IN_PART if off[last] < off[first] else FAILS
        return Verdict(kind, f"off by {off[first]:.1%} at k = {first}, {off[last]:.1%} at k = {last}", "exact formulas")

    return judge


def _proposition(number: int, name: str, full_title: str) -> Experiment:
    parameters = {"name": [name], "source": (UNIFORM, "geometric", "zipf 2"), "k": (4, 64), "epsilon": (0.5, 2.0, 5.0)}
    users = {"n": (30, 1000, 10**6), "draws": [100]}
    judge = centred("l2 off", name, by=_BY, among="mechanism", within=0.1)
    return Experiment(
        PAPER,
        f"proposition-{number}",
        full_title,
        losses,
        quick=Grid({**parameters, **users}, repeats=25),
        full=Grid({**parameters, **users, "k": (2, 4, 64, 1024)}, repeats=200),
        claims=(
            Claim("the l2 squared loss is that of the formula, for every n", judge, f"Proposition {number}"),
            Claim("for many users the l1 loss is that of the formula", tends_to_one(name), f"Proposition {number}"),
            *(
                Claim(
                    f"no distribution has a larger {norm} loss than the uniform one",
                    share_of(partial(_no_worse, norm), "of random ones none has"),
                    "(8), (9)" if number == 3 else "(12), (13)",
                )
                for norm in ("l2", "l1")
            ),
        ),
        picture=(
            Lines(
                "n",
                "l1 ratio",
                "epsilon",
                panels=("k", "source"),
                log_x=True,
                labels={**LABELS, "l1 ratio": "l1, measured / formula"},
            ),
            Lines(
                "n",
                "l2 ratio",
                "epsilon",
                panels=("k", "source"),
                log_x=True,
                labels={**LABELS, "l2 ratio": "l2^2, measured / formula"},
            ),
        ),
        note="Users are drawn anew each time, so that their own chance is part of the loss. Zipf 0 is the uniform "
        "distribution.",
    )


PROPOSITION_3 = _proposition(3, K_RR, "Proposition 3: losses of the empirical estimator of k-RR")
PROPOSITION_4 = _proposition(4, K_RAPPOR, "Proposition 4: losses of the empirical estimator of k-RAPPOR")
SECTION_4_3 = Experiment(
    PAPER,
    "section-4.3",
    "Section 4.3: how many more users privacy takes",
    factors,
    quick=Grid({"k": (16, 256, 4096, 65_536)}),
    full=Grid({"k": tuple(2**power for power in range(2, 21))}),
    claims=(
        Claim("for small epsilon, k-RR has n eps^2/k^2 effective users", approaches(K_RR, SMALL), "4.3"),
        Claim("for small epsilon, k-RAPPOR has n eps^2/(4k)", approaches(K_RAPPOR, SMALL), "4.3"),
        Claim("at epsilon = ln k, k-RR has n/4", approaches(K_RR, LOG), "4.3"),
        Claim("at epsilon = ln k, k-RAPPOR has n/sqrt k", approaches(K_RAPPOR, LOG), "4.3"),
    ),
    picture=Table(("regime", "mechanism", "k"), ("said", "l2", "l1"), labels={"l2": "by l2^2", "l1": "by l1"}),
    note="Factors of the number of users, by the formulas for the uniform distribution; they are stated for large k.",
)
