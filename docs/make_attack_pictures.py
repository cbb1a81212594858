"""Draw docs/assets/repeats.png and shuffling.png, and write the table of docs/attacks.md between its marks.

Everything is computed, nothing is drawn at random. Run from the project's root: `python docs/make_attack_pictures.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import deniable as dn

HERE = Path(__file__).parent
PAGE = HERE / "attacks.md"
START, END = "<!-- gains: written by docs/make_attack_pictures.py -->", "<!-- end of gains -->"
NAMES = ("grr", "csr", "pgr", "clh", "ss", "oue", "sue", "the", "olh", "blh", "hr", "rhr", "hpgr", "mss", "she")
COLOURS = ("#9fb8cf", "#3a9d8f", "#1f4e79", "#c0392b")
EPSILONS = (0.5, 1.0, 2.0, 4.0)
USERS = np.unique(np.geomspace(1e3, 1e7, 13).astype(int)).tolist()
REPORTS, DELTA = 60, 1e-6


def gains() -> str:
    """What false reports gain at k = 100 and epsilon 1, a row per mechanism."""
    lines = [
        "| mechanism | one adds at most | at least | to the best ten values together | lies per standard error |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in NAMES:
        m = dn.mechanism(name, k=100, epsilon=1.0)
        found = dn.poisoning(m, 10, n=10_000)
        together = f"{found.together:.1f}"
        if found.rule != "exact":
            together = f"{found.reached:.1f} to {together}"
        row = f"{found.most:.2f} | {found.least:.2f} | {together} | {found.hidden:.0f}"
        lines.append(f"| `{name}` | {row} |")
    return "\n".join(lines)


def draw_repeats(path: Path) -> None:
    """How often a guess between two values is right after several reports, by epsilon."""
    figure = Figure(figsize=(9, 3.6), layout="constrained", facecolor="white")
    fresh, spent = figure.subplots(1, 2, sharey=True)
    for epsilon, colour in zip(EPSILONS, COLOURS, strict=True):
        found = dn.averaging(dn.mechanism("csr", k=100, epsilon=epsilon), REPORTS)
        counts = range(1, REPORTS + 1)
        fresh.plot(counts, found.right, color=colour, label=f"epsilon {epsilon:g}")
        spent.plot(found.epsilons, found.right, color=colour)
    limit = np.linspace(0.01, 40, 400)
    spent.plot(limit, 1 / (1 + np.exp(-limit)), "--", color="#64748b", label="at most")
    fresh.set(xlabel="fresh reports about one value", ylabel="guess between two values is right", ylim=(0.5, 1.01))
    spent.set(xlabel="epsilons added up", xlim=(0, 40))
    fresh.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    for axes in (fresh, spent):
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, dpi=130, metadata={"Software": None})


def draw_shuffling(path: Path) -> None:
    """Central epsilon against users, by local epsilon; and by bound."""
    figure = Figure(figsize=(9, 3.6), layout="constrained", facecolor="white")
    users, bounds = figure.subplots(1, 2, sharey=True)
    for epsilon, colour in zip(EPSILONS, COLOURS, strict=True):
        m = dn.mechanism("ss", k=100, epsilon=epsilon)
        found = [dn.amplify(m, n=n, delta=DELTA).epsilon for n in USERS]
        users.plot(USERS, found, "o-", markersize=3, color=colour, label=f"local epsilon {epsilon:g}")
    for name, colour in (("grr", "#1f4e79"), ("ss", "#3a9d8f"), ("sue", "#9fb8cf")):
        m = dn.mechanism(name, k=100, epsilon=4.0)
        found = [dn.amplify(m, n=n, delta=DELTA).epsilon for n in USERS]
        bounds.plot(USERS, found, "o-", markersize=3, color=colour, label=f"{name}, blanket")
    each = [dn.amplify(4.0, n=n, delta=DELTA) for n in USERS]
    bounds.plot(USERS, [found.epsilon for found in each], "--", color="#c0392b", label="any mechanism, clones")
    closed = [(found.n, found.closed) for found in each if found.closed is not None]
    bounds.plot(*zip(*closed, strict=True), ":", color="#c0392b", label="any mechanism, closed form")
    users.set(ylabel=f"central epsilon (delta {DELTA:g})", title="subset selection, 100 values")
    bounds.set(title="local epsilon 4")
    for axes in (users, bounds):
        axes.set(xscale="log", yscale="log", xlabel="honest reports shuffled together")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def main(folder: Path = HERE / "assets") -> None:
    """Write the pictures, and the table where the pictures of the documents are written."""
    draw_repeats(folder / "repeats.png")
    draw_shuffling(folder / "shuffling.png")
    if folder == HERE / "assets":
        write_gains()


def write_gains() -> None:
    """Put the table into its place on the page."""
    before, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(f"{before}{START}\n{gains()}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
