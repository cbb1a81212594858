"""The picture of repeated reports: how often the best guess between two values is right, by the number of reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deniable.plots.estimates import DPI, INK, MISS, STATIC, check_suffix, new_axes


def draw_repeats(
    right: Sequence[float], most: Sequence[float], path: str | Path | None, *, title: str, bound: bool = False
) -> Any:
    """Draw the curve, which is exact or a bound, and the most that so many reports could give away."""
    if path is not None:
        check_suffix(path, STATIC)
    ax = new_axes(7.0, 4.2)
    counts = range(1, len(right) + 1)
    dots = "o-" if len(right) <= 60 else "-"
    ax.plot(counts, most, "--", color=MISS, label="at most, by the sum of the epsilons")
    ax.plot(counts, right, dots, color=INK, markersize=4, label=f"the best guess, {'at most' if bound else 'exactly'}")
    ax.set_ylim(0.5, 1.005)
    ax.set_xlim(0, len(right) + 1)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ax.set_xlabel("fresh reports about one value")
    ax.set_ylabel("guess between two values is right")
    ax.set_title(title, loc="left", fontsize=10)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="lower right")
    if path is not None:
        ax.figure.savefig(path, dpi=DPI, bbox_inches="tight")
    return ax
