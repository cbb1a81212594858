"""Table 1: the cost of each estimator as the number of values grows."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from deniable.estimation.methods.likelihood import most_likely
from deniable.estimation.methods.linear import rescaled
from deniable.estimation.methods.simplex import projected
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Verdict
from papers.frame.judging import NOTHING
from papers.frame.rows import Rows
from papers.rr_mle.comparison import MLE, zipf
from papers.rr_mle.iterations import updated

ITERATIONS = 7000  # the paper's number for n = 1e4 and epsilon = 1
ITERATED = f"IBU, {ITERATIONS:,} iterations"
_TIMED_ITERATIONS = 20


def seconds(seed: int, k: int, epsilon: float, n: int, repeats: int) -> list[dict[str, Any]]:
    """The shortest of several times of each estimator; many iterations are extrapolated from a few."""
    source = generator(seed)
    server = mechanism("grr", k=k, epsilon=epsilon)
    channel, operator = server.channel, server.operator()
    assert channel is not None
    assert operator is not None
    summary = simulate(server, source.multinomial(n, zipf(k, 1.3)), seed=int(source.integers(2**62)))
    counts, shares, start = summary.counts, summary.counts / n, np.full(k, 1 / k)
    methods: dict[str, Callable[[], Any]] = {
        "Inv": lambda: channel.unbiased(counts, n),
        "InvN": lambda: rescaled(channel.excess(counts, n)),
        "InvP": lambda: projected(counts, n, channel),
        MLE: lambda: most_likely(counts, channel),
        ITERATED: lambda: updated(start, shares, operator, _TIMED_ITERATIONS),
    }
    scale = {ITERATED: ITERATIONS / _TIMED_ITERATIONS}
    return [
        {"method": name, "milliseconds": 1e3 * scale.get(name, 1.0) * _shortest(method, repeats)}
        for name, method in methods.items()
    ]


def _shortest(work: Callable[[], Any], repeats: int) -> float:
    work()  # compiles
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def far_faster(rows: Rows) -> Verdict:
    """Judge whether MLE* takes less than a tenth of the time of the iterations, for every number of values."""
    factors = {}
    for key, group in rows.groups("k"):
        exact, iterated = (group.where(method=name).column("milliseconds").min() for name in (MLE, ITERATED))
        factors[key["k"]] = float(iterated / exact)
    if not factors:
        return NOTHING
    good = sum(factor >= 10 for factor in factors.values())
    kind = HOLDS if good == len(factors) else IN_PART if good else FAILS
    text = ", ".join(f"{factor:,.0f} times at K = {k:,}" for k, factor in factors.items())
    return Verdict(kind, f"{ITERATED} take {text} as long", "one machine, shortest times")


def near_linear(*methods: str, largest: float = 1.3) -> Callable[[Rows], Verdict]:
    """Judge whether times grow nearly in proportion to the number of values, by the exponent at the end."""

    def judge(rows: Rows) -> Verdict:
        if not rows:
            return NOTHING
        top = max(rows.values("k"))
        exponents = {}
        for name in methods:
            means = rows.where(method=name).average("milliseconds", "k", using=np.min)
            large = [(row["k"], row["milliseconds"]) for row in means if row["k"] >= top / 100]
            sizes, times = zip(*large, strict=True)
            exponents[name] = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        good = sum(each <= largest for each in exponents.values())
        kind = HOLDS if good == len(methods) else IN_PART if good else FAILS
        text = ", ".join(f"{name} K^{exponent:.2f}" for name, exponent in exponents.items())
        return Verdict(
            kind,
            f"time grows as {text}",
            f"one machine, shortest times; up to K^{largest} is read as near linear",
        )

    return judge
