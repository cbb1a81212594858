"""Draw docs/assets/federated.png: the error of combined answers against the number of parties, biased and unbiased.

Run from the project's root: `python docs/make_federated_picture.py`. The seeds are fixed, so the picture is
reproducible.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import deniable as dn

PARTIES, COUNTS, REPEATS = 3000, 20, 100
STEPS = np.unique(np.geomspace(1, PARTIES, 25).astype(int))
EPSILON = 1.0
INK, PALE, RED = "#1f4e79", "#9fb8cf", "#c0392b"

Floats = npt.NDArray[np.float64]


def main(path: Path = Path(__file__).parent / "assets" / "federated.png") -> None:
    """Simulate the parties and draw both panels."""
    source = np.random.default_rng(1)
    counts = source.poisson(source.gamma(1.0, 6.0, (PARTIES, COUNTS)))  # of different sizes, many of them small
    counts[:, 0] += counts.sum(axis=1) == 0
    totals = counts.sum(axis=1)
    shares = np.where(counts > 0, counts / totals[:, np.newaxis], 1.0)

    figure = Figure(figsize=(10, 4.2), layout="constrained", facecolor="white")
    squares, entropies = figure.subplots(1, 2, sharex=True)
    panel(
        squares,
        "Sum of squared counts",
        errors(lambda noisy: dn.debias(np.square, noisy, reduce="sum", axis=1), counts, 1, (counts**2).sum(axis=1)),
        f"error of the sum, relative ({COUNTS} counts per party)",
    )
    panel(
        entropies,
        "Mean entropy of the parties",
        errors(lambda noisy: dn.ask.entropy(noisy, totals), counts, 2, -(shares * np.log(shares)).sum(axis=1)),
        "error of the mean, relative (public totals)",
    )
    figure.savefig(path, dpi=130, metadata={"Software": None})


def errors(
    ask: Callable[[dn.Release], dn.Answer], counts: npt.NDArray[np.int64], sensitivity: int, truth: Floats
) -> dict[str, Floats]:
    """Relative root mean square errors of the naive and the unbiased sums over the first parties, for each of STEPS."""
    noise = dn.DiscreteLaplace(EPSILON, sensitivity)
    squares = {"naive": np.zeros(len(STEPS)), "unbiased": np.zeros(len(STEPS))}
    exact = np.cumsum(truth)[STEPS - 1]
    for seed in range(REPEATS):
        answer = ask(noise.release(counts, seed=seed))
        for name, found in (("naive", answer.naive), ("unbiased", answer.value)):
            squares[name] += (np.cumsum(found)[STEPS - 1] / exact - 1) ** 2
    return {name: np.sqrt(total / REPEATS) for name, total in squares.items()}


def panel(axes: Axes, title: str, found: dict[str, Floats], label: str) -> None:
    """Draw both errors against the number of parties, and the line of slope -1/2 that unbiased answers follow."""
    axes.loglog(STEPS, found["unbiased"][-1] * np.sqrt(PARTIES / STEPS), color=PALE, label="1 / √parties")
    axes.loglog(STEPS, found["naive"], "o-", color=RED, markersize=4, label="noisy counts used directly: biased")
    axes.loglog(STEPS, found["unbiased"], "o-", color=INK, markersize=4, label="unbiased answers, combined")
    axes.set_title(f"{title}, ε = {EPSILON:g} at each party", loc="left", fontsize=11)
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    axes.set_ylim(7e-4, 0.2)
    axes.set_yticks([0.001, 0.01, 0.1], ["0.1%", "1%", "10%"])
    axes.set_xlabel("parties")
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower left")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
