"""Figure 4: the number of k-stars of a graph from noisy degrees, against three other methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import deniable as dn
from deniable.counts.continuous.conversions import ContinuousRelease
from deniable.counts.continuous.noises import Laplace
from papers.dlap.local_stars import LocalLapKStars
from papers.dlap.tables import DEGREES_FILE, degrees
from papers.frame.experiment import Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import centred, exact, never_above, only
from papers.frame.rows import Rows

UNBIASED, NAIVE, CONTINUOUS, LOCAL = "Unbiased DLap", "Naive DLap", "Unbiased Lap", "LocalLapKStars"
EPSILONS = [0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0]
_AGREES = 0.3  # relative to the exact error: simulated errors are means of some hundred squares
_OFTEN = 4.0  # up to this epsilon, a release has at least a hundred nonzero noises


def measure(seed: int, k: int, epsilon: float, draws: int) -> list[dict[str, Any]]:
    """Mean squared relative errors of the four methods over some releases, and their exact values."""
    found = degrees()
    true = math.fsum(math.comb(int(degree), k) for degree in found.counts)
    mechanism, choose = dn.DiscreteLaplace(epsilon), falling(k)
    rival = LocalLapKStars(epsilon, k, int(found.counts.max()))
    errors: dict[str, list[float]] = {name: [] for name in (UNBIASED, NAIVE, CONTINUOUS, LOCAL)}
    for draw in range(seed * draws, (seed + 1) * draws):
        release = mechanism.release(found.counts, seed=draw)
        answer = dn.ask.stars(release, k)
        errors[UNBIASED].append(answer.value - true)
        errors[NAIVE].append(answer.naive - true)
        converted = dn.to_laplace(release, seed=draw)
        errors[CONTINUOUS].append(dn.debias_continuous(choose, converted, reduce="sum").value - true)
        errors[LOCAL].append(rival.estimate(found.counts, seed=draw).value - true)
    known = _exact(found.counts, k, epsilon, choose, rival)
    return [
        {
            "method": name,
            "mse": float(np.mean(np.square(each))) / true**2,
            "off": float(np.mean(each)) / true,
            "exact": known[name] / true**2,
            "data": found.label,
        }
        for name, each in errors.items()
    ]


def falling(k: int) -> Any:
    """C(x, k) as a polynomial."""
    return np.polynomial.Polynomial.fromroots(range(k)) / math.factorial(k)


def _exact(counts: Any, k: int, epsilon: float, choose: Any, rival: Any) -> dict[str, float]:
    """Exact mean square errors of all methods: the plug-in formulas at the true counts."""
    ours = dn.ask.stars(counts, k, epsilon=epsilon).moments
    release = ContinuousRelease(counts.astype(float), Laplace(dn.DiscreteLaplace(epsilon).q), epsilon, 1)
    continuous = dn.debias_continuous(choose, release, reduce="sum").moments
    assert ours is not None
    assert continuous is not None
    local = float(rival.estimate(counts, seed=0).std_error) ** 2
    return {UNBIASED: ours.variance, NAIVE: ours.naive_mse, CONTINUOUS: continuous.variance, LOCAL: local}


def times(rows: Rows, other: str, **wanted: Any) -> dict[tuple[int, float], float]:
    """The ratio of another method's exact error to the unbiased one's, for each k and epsilon."""
    made = {}
    for key, part in rows.where(**wanted).groups("k", "epsilon"):
        by = {row["method"]: row["exact"] for row in part}
        made[key["k"], key["epsilon"]] = by[other] / by[UNBIASED]
    return made


def lowest(rows: Rows) -> Verdict:
    """Judge whether the unbiased discrete answer has the lowest exact error everywhere."""
    found = {other: times(rows, other) for other in (NAIVE, CONTINUOUS, LOCAL)}
    return exact(
        lambda _: all(min(each.values()) >= 1 - 1e-9 for each in found.values()),
        lambda _: "; ".join(f"{o}'s error is {min(f.values()):.6g} times ours or more" for o, f in found.items()),
        "exact moments at the true degrees",
    )(rows)


def two_orders(rows: Rows) -> Verdict:
    """Judge whether the gap to LocalLapKStars is at least a factor of 100."""
    return exact(
        lambda found: min(times(found, LOCAL).values()) >= 100,
        lambda found: f"{min(times(found, LOCAL).values()):.3g} to {max(times(found, LOCAL).values()):.3g} times",
        "exact moments at the true degrees",
    )(rows)


def naive_catches_up(rows: Rows) -> Verdict:
    """Judge whether naive is worse at small epsilon, and about the same at large epsilon."""
    found = times(rows, NAIVE)
    ks, low, high = rows.values("k"), min(rows.values("epsilon")), max(rows.values("epsilon"))
    return exact(
        lambda _: all(found[k, low] > 1.5 and found[k, high] < 1.05 for k in ks),
        lambda _: "; ".join(
            f"k={k}: {found[k, low]:.3g} times ours at epsilon {low:g}, below 1.05 times from {_below(found, k):g} on"
            for k in ks
        ),
        "exact moments at the true degrees",
    )(rows)


def _below(found: dict[tuple[int, float], float], k: int) -> float:
    return min((e for (each, e), ratio in found.items() if each == k and ratio < 1.05), default=math.inf)


def continuous_falls_behind(rows: Rows) -> Verdict:
    """Judge whether Laplace noise is as good at small epsilon, and exponentially worse at large epsilon."""
    found = times(rows, CONTINUOUS)
    low, high = min(rows.values("epsilon")), max(rows.values("epsilon"))
    near = [ratio for (_, e), ratio in found.items() if e <= 1]
    # for x itself: variance 2/epsilon^2 against 2q/(1-q)^2, a ratio near e^epsilon/epsilon^2
    far = [found[k, high] / (math.exp(high) / high**2) for k in rows.values("k")]
    return exact(
        lambda _: max(near) < 1.2 and min(far) > 0.5,
        lambda _: (
            f"{max(found[k, low] for k in rows.values('k')):.4g} times ours at epsilon {low:g}, at most {max(near):.3g}"
            f" times up to 1, {min(found[k, high] for k in rows.values('k')):.3g} times at {high:g}"
        ),
        "exact moments at the true degrees",
    )(rows)


def agreement(rows: Rows) -> Verdict:
    """Judge whether simulated mean errors agree with the exact ones."""
    ratios = {
        tuple(key.values()): float(part.column("mse").mean() / part.column("exact").mean())
        for key, part in rows.groups("k", "epsilon", "method")
    }
    return exact(
        lambda _: all(abs(ratio - 1) < _AGREES for ratio in ratios.values()),
        lambda _: f"simulated errors are {min(ratios.values()):.2f} to {max(ratios.values()):.2f} times the exact ones",
        "means of squares of some hundred releases",
    )(rows)


FIGURE_4 = Experiment(
    paper="dlap",
    name="figure-4",
    title="Figure 4: k-stars of the Facebook graph from noisy degrees",
    measure=measure,
    quick=Grid({"k": [2, 3], "epsilon": EPSILONS, "draws": [40]}, repeats=10),
    full=Grid({"k": [2, 3], "epsilon": EPSILONS, "draws": [100]}, repeats=50),
    claims=(
        Claim("Unbiased DLap has the lowest error at every epsilon (exact errors)", lowest, "E.1"),
        Claim(
            "Unbiased DLap has the lowest error at every epsilon (simulated)",
            never_above("mse", UNBIASED, [NAIVE, CONTINUOUS, LOCAL], by=["k", "epsilon"]),
            "E.1",
        ),
        Claim("the gap with LocalLapKStars is at least two orders of magnitude", two_orders, "E.1"),
        Claim("Naive DLap is worse at small epsilon and about the same beyond a threshold", naive_catches_up, "E.1"),
        Claim(
            "Unbiased Lap is as good at small epsilon; then the error of Unbiased DLap falls exponentially below it",
            continuous_falls_behind,
            "E.1",
        ),
        Claim("Unbiased DLap has no bias", centred("off", UNBIASED, by=["k", "epsilon"], within=0.01), "Theorem 1"),
        Claim(
            "simulated errors are those of the formulas, up to epsilon 4",
            only(agreement, epsilon=[epsilon for epsilon in EPSILONS if epsilon <= _OFTEN]),
        ),
    ),
    picture=Lines(
        "epsilon",
        "mse",
        "method",
        panels=("k",),
        log_x=True,
        log_y=True,
        labels={"mse": "mean squared relative error", UNBIASED: "Unbiased DLap (ours: ask.stars)"},
    ),
    note="Local privacy of edges: every node publishes its degree, epsilon at sensitivity 1. Unbiased Lap has the same "
    "noise as Unbiased DLap plus the step of Theorem 10, so both are compared draw by draw. LocalLapKStars is told the "
    "largest true degree, 1,045, so that it cuts nothing. Values of k and epsilon are ours: the text has lost them.",
    data=(DEGREES_FILE,),
)
