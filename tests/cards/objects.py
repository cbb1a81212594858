"""One object of every kind that a notebook shows, with labels that try to be markup."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import deniable as dn
from deniable.heavy_hitters.findings import Findings, LevelNote
from deniable.heavy_hitters.strings import CUT

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "a & b", "'</style><b>")
COUNTS = np.array([5_000, 3_000, 1_500, 500])


def mechanism() -> Any:
    return dn.mechanism("oue", labels=HOSTILE, epsilon=2.0)


def estimate(seed: int = 1, method: str | None = None) -> dn.Estimate:
    return mechanism().estimate(dn.simulate(mechanism(), COUNTS, seed=seed), method)


def findings() -> Findings:
    texts = tuple(text.encode() + bytes([CUT]) for text in HOSTILE)
    shares = np.array([0.4, 0.3, 0.05, 0.02])
    note = LevelNote(8, 5_000, 100, 10, 4, 0.01, 0.9, 0.01)
    limits = ((8, 0.02),)
    return Findings(
        texts, shares, shares / 20, shares / 3, 5_000, 0.05, "users", 400, (note,), limits, "<i>", "0" * 64, True
    )


def release() -> dn.Release:
    return dn.DiscreteLaplace(1.0).release([18, 4, 250, 33], seed=5)


MAKERS: dict[str, Callable[[], Any]] = {
    "estimate": estimate,
    "unbiased": lambda: estimate(method="unbiased"),
    "mechanism": mechanism,
    "open mechanism": lambda: dn.mechanism("orr", domain=dn.Domain.open(key="<key>"), epsilon=2.0),
    "spec": lambda: mechanism().spec,
    "guarantee": lambda: mechanism().guarantee(),
    "reports": lambda: mechanism().privatize(HOSTILE, seed=1),
    "no reports": lambda: mechanism().privatize([]),
    "summary": lambda: mechanism().empty_summary(),
    "sum": lambda: estimate().sum(HOSTILE[:2]),
    "differences": lambda: estimate() - estimate(2),
    "alike": lambda: dn.alike({HOSTILE[0]: estimate(), HOSTILE[1]: estimate(2)}),
    "findings": findings,
    "plan": lambda: dn.plan(labels=HOSTILE, epsilon=1.0, margin=0.01),
    "comparison": lambda: dn.compare(9, 1.0, n=20_000),
    "impossible comparison": lambda: dn.Comparison(9, 1.0, 10, (), {"grr": "<b>no</b>"}),
    "release": release,
    "answer": lambda: dn.ask.threshold(release(), 20),
    "answers": lambda: dn.debias(np.square, release()),
    "table of answers": lambda: dn.Answer("table", np.arange(30).reshape(5, 6) / 3, np.ones((5, 6)), np.zeros((5, 6))),
    "answer of no use": lambda: dn.Answer("<i>x</i>", 3.5, np.inf, 3.0, notes=("<b>useless</b>",)),
}


@cache
def shown(name: str) -> Any:
    """The object of this name, made once."""
    return MAKERS[name]()
