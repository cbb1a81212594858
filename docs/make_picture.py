"""Draw docs/assets/demo.png: what a server receives, and what it can infer.

Run from the project's root: `python docs/make_picture.py`. The seed is fixed, so the picture is reproducible.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

import deniable as dn

TRUTH = {
    "walk": 0.292,
    "car": 0.233,
    "bus": 0.158,
    "bicycle": 0.121,
    "train": 0.077,
    "tram": 0.052,
    "metro": 0.034,
    "motorbike": 0.019,
    "ferry": 0.009,
    "taxi": 0.005,
    "horse": 0.0,
    "balloon": 0.0,
}
USERS = 500_000
EPSILON = 1.0
INK, PALE, RED = "#1f4e79", "#9fb8cf", "#c0392b"


def main(path: Path = Path(__file__).parent / "assets" / "demo.png") -> None:
    """Simulate the users and draw both panels."""
    mechanism = dn.mechanism("grr", labels=TRUTH, epsilon=EPSILON)
    truth = np.round(np.array(list(TRUTH.values())) * USERS).astype(np.int64)
    summary = dn.simulate(mechanism, truth, seed=7)
    estimate = mechanism.estimate(summary)
    low, high = estimate.interval(simultaneous=True)

    figure = Figure(figsize=(10, 4.2), layout="constrained", facecolor="white")
    received, told = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(TRUTH))

    received.barh(places, summary.counts / summary.n, color=PALE, label="reports", height=0.7)
    received.plot(truth / USERS, places, "|", color=RED, markersize=13, markeredgewidth=2.2, label="truth")
    received.set_title(f"What the server receives: {USERS:,} reports, ε = {EPSILON:g}", loc="left", fontsize=11)
    received.set_yticks(places, list(TRUTH))
    received.invert_yaxis()

    f = estimate.frequencies
    told.errorbar(
        f,
        places,
        xerr=[f - low, high - f],
        fmt="o",
        color=INK,
        capsize=4,
        zorder=3,
        label="estimate, 95% simultaneous",
    )
    told.plot(truth / USERS, places, "|", color=RED, markersize=13, markeredgewidth=2.2, label="truth")
    told.set_title("What it can tell: frequencies with error bars", loc="left", fontsize=11)

    received.set_xlabel("share of reports")
    told.set_xlabel("share of users")
    for axes in (received, told):
        axes.set_xlim(-0.005, 0.32)
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
