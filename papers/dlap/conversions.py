"""Figures 2 and 3: discrete Laplace noise plus a step is Laplace noise, or Staircase noise, at the same epsilon."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

import deniable as dn
from deniable.counts.continuous.conversions import ContinuousRelease
from deniable.counts.continuous.noises import ContinuousNoise, Laplace, Staircase, converted_density
from papers.frame.experiment import Claim, Experiment, Grid, Lines
from papers.frame.judging import exact, only, share_of
from papers.frame.rows import Rows

BEST = 0.0  # means the shape that minimises E|noise|: 1/(1 + e^(epsilon/2))
GOAL, MADE, STEP = "goal", "discrete plus step", "step alone"
_BINS, _REACH = 10, 4  # bins per unit, and units on either side
_ROUNDING = 1e-12


def laplace(seed: int, epsilon: float, draws: int) -> list[dict[str, Any]]:
    """Densities of Laplace noise, of the step, and of converted releases."""
    release = dn.DiscreteLaplace(epsilon).release(np.zeros(draws, np.int64), seed=seed)
    return _densities(dn.to_laplace(release, seed=seed))


def staircase(seed: int, epsilon: float, shape: float, draws: int) -> list[dict[str, Any]]:
    """Densities of Staircase noise, of the step, and of converted releases."""
    release = dn.DiscreteLaplace(epsilon).release(np.zeros(draws, np.int64), seed=seed)
    used = shape or 1 / (1 + math.exp(epsilon / 2))
    return [{**row, "gamma": round(used, 3)} for row in _densities(dn.to_staircase(release, used, seed=seed))]


def _densities(made: ContinuousRelease) -> list[dict[str, Any]]:
    noise = made.noise
    edges = np.arange(-_REACH * _BINS, _REACH * _BINS + 1) / _BINS
    middles = (edges[1:] + edges[:-1]) / 2
    counted = np.histogram(made.values, edges)[0] / len(made.values) * _BINS
    fine = np.linspace(-8, 8, 3201) + 1e-7  # beside the jumps
    gap = float(np.abs(converted_density(noise, fine) / noise.density(fine) - 1).max())
    common = {
        "gap": gap,
        "lowest": float(noise.step_density(fine).min()),
        "distance": _distance(made),
        "chance_bound": math.sqrt(math.log(2 / 1e-4) / (2 * len(made.values))),  # Dvoretzky, Kiefer, Wolfowitz
        **_errors(noise, made.epsilon),
    }
    lines = ((GOAL, noise.density(middles)), (MADE, counted), (STEP, noise.step_density(middles)))
    return [
        {"noise": name, "u": float(u), "density": float(y), **common}
        for name, density in lines
        for u, y in zip(middles, density, strict=True)
    ]


def _distance(made: ContinuousRelease) -> float:
    """The largest difference between the empirical and the exact distribution function (Kolmogorov-Smirnov)."""
    found = np.sort(made.values)
    chances = _distribution(made.noise, found)
    ranks = np.arange(len(found) + 1) / len(found)
    return float(max(np.abs(chances - ranks[1:]).max(), np.abs(chances - ranks[:-1]).max()))


def _distribution(noise: ContinuousNoise, u: Any) -> Any:
    """Pr[noise <= u]."""
    size = np.abs(u)
    if isinstance(noise, Staircase):
        # the unit from k to k + 1 has the mass (1 - q) q^k / 2, in steps of heights A q^k and A q^(k+1)
        q, gamma, height = float(noise.q), noise.shape, float(noise.height)
        k = np.floor(size)
        rest = size - k
        within = height * q**k * (np.minimum(rest, gamma) + q * np.maximum(rest - gamma, 0))
        half = (1 - q**k) / 2 + within
    else:
        half = (1 - np.exp(-noise.rate * size)) / 2
    return 0.5 + np.sign(u) * half


def _errors(noise: ContinuousNoise, epsilon: float) -> dict[str, float]:
    """Exact variances of the unbiased squares of a count of 10, from the converted and from the discrete release."""
    counts = np.array([10])
    discrete = dn.debias(lambda x: x**2, counts, epsilon=epsilon, reduce="sum").moments
    square = np.polynomial.Polynomial([0, 0, 1])
    release = ContinuousRelease(counts.astype(float), noise, epsilon, 1)
    converted = dn.debias_continuous(square, release, reduce="sum").moments
    assert discrete is not None
    assert converted is not None
    return {"times": float(converted.variance / discrete.variance)}


def _same(rows: Rows) -> str:
    return f"densities differ by at most {max(rows.column('gap')):.1g}, relative; the step's is nowhere below zero"


def _claims(kind: str, where: str) -> tuple[Claim, ...]:
    return (
        Claim(
            f"discrete Laplace noise plus an independent step within (-1, 1) has the density of {kind} noise",
            exact(
                lambda rows: max(rows.column("gap")) < _ROUNDING and min(rows.column("lowest")) >= 0,
                _same,
                "Lemma 9 at 3,201 places, in floats",
            ),
            where,
        ),
        Claim(
            f"converted releases are {kind} releases",
            only(
                share_of(
                    lambda row: row["distance"] < row["chance_bound"],
                    "distribution function within what chance allows in 99.99% of cases",
                ),
                noise=MADE,
            ),
            where,
        ),
        Claim(
            "no unbiased answer from the converted release varies less than the discrete one's (here, of a square)",
            exact(
                lambda rows: min(rows.column("times")) >= 1,
                lambda rows: (
                    f"its variance is {min(rows.column('times')):.3g} to {max(rows.column('times')):.3g} times as large"
                ),
                "exact moments",
            ),
            "section 4, Theorem 4",
        ),
    )


_LINES = partial(
    Lines,
    "u",
    "density",
    "noise",
    labels={"u": "noise", MADE: "discrete Laplace plus step, simulated", STEP: "density of the step"},
)

FIGURE_2 = Experiment(
    paper="dlap",
    name="figure-2",
    title="Figure 2: from discrete Laplace to Laplace noise",
    measure=laplace,
    quick=Grid({"epsilon": [0.5, 1.0, 3.0], "draws": [200_000]}),
    full=Grid({"epsilon": [0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0], "draws": [2_000_000]}, repeats=5),
    claims=_claims(Laplace.__name__, "Theorem 10"),
    picture=_LINES(panels=("epsilon",)),
    note="The text at hand has the figure's caption, not its parameters. Simulated noise in bins of a tenth.",
)

FIGURE_3 = Experiment(
    paper="dlap",
    name="figure-3",
    title="Figure 3: from discrete Laplace to Staircase noise",
    measure=staircase,
    quick=Grid({"epsilon": [1.0, 3.0], "shape": [BEST, 0.5, 0.7], "draws": [200_000]}),
    full=Grid({"epsilon": [0.5, 1.0, 2.0, 3.0, 5.0], "shape": [BEST, 0.1, 0.3, 0.5, 0.7, 0.9], "draws": [2_000_000]}),
    claims=_claims(Staircase.__name__, "Theorem 17"),
    picture=_LINES(panels=("epsilon", "gamma")),
    note="The first shape of every epsilon is 1/(1 + e^(epsilon/2)), which minimises the mean size of the noise (Geng "
    "and Viswanath). The text at hand has the figure's caption, not its parameters.",
)
