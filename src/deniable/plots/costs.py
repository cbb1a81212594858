"""The picture of a comparison: mechanisms by bits and error, with labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deniable.plots.estimates import DPI, INK, MISS, STATIC, check_suffix, new_axes

_LETTER, _LINE = 5.2, 10.0  # width of a letter and height of a line, in points
_MOST = 5.0  # larger errors, relative to the least, are shown at the top edge with their value

Box = tuple[float, float, float, float]


def draw_costs(rows: Sequence[Any], path: str | Path | None, *, title: str) -> Any:
    """Draw mechanisms by bits and error, on logarithmic axes; dots grow with the server's time, if measured."""
    if path is not None:
        check_suffix(path, STATIC)
    ax = new_axes(9.0, 5.5)
    least = min((row.loss for row in rows), default=1.0)
    edge = _MOST * least
    timed = any(row.server_ms == row.server_ms for row in rows)
    for row in rows:
        near = row.loss <= edge
        took = 0.0 if math.isnan(row.server_ms) else row.server_ms
        area = 12 + 22 * max(0.0, math.log10(max(took, 1e-3)) + 2) if timed else 40
        style = {"color": INK, "marker": "o"} if near else {"color": MISS, "marker": "^"}
        ax.scatter(row.bits, min(row.loss, edge), s=area, alpha=0.6, linewidths=0, **style)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("bits per report")
    ax.set_ylabel("mean squared error over the optimum")
    ticks = [tick for tick in (0.5, 1, 1.2, 1.5, 2, 3, 4, 5, 10, 20, 50) if 0.9 * least <= tick <= 1.1 * edge]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    shown = "error, bits, and the server's time (area)" if timed else "error and bits"
    ax.set_title(f"{title}: {shown}", loc="left", fontsize=10)
    ax.grid(alpha=0.3)
    ax.margins(0.08, 0.14)
    _name(ax, rows, edge)
    if path is not None:
        ax.figure.savefig(path, dpi=DPI, bbox_inches="tight")
    return ax


def _name(ax: Any, rows: Sequence[Any], edge: float) -> None:
    """Write each name at the nearest position where it covers no dot and no other name."""
    points = 72 / ax.figure.dpi
    dots = [ax.transData.transform((row.bits, min(row.loss, edge))) * points for row in rows]
    taken: list[Box] = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    for row, (x, y) in sorted(zip(rows, dots, strict=True), key=lambda pair: (pair[1][0], pair[1][1])):
        far = f" ({row.loss:,.0f})" if row.loss > edge else ""
        text = f"{row.mechanism}{far}"
        wide = _LETTER * len(text)
        for right, up in _places():
            box = (x + right - wide / 2, y + up - _LINE / 2, x + right + wide / 2, y + up + _LINE / 2)
            if not any(_overlap(box, other) for other in taken):
                break
        taken.append(box)
        line = {"arrowstyle": "-", "lw": 0.5, "color": "#94a3b8", "shrinkA": 0, "shrinkB": 2}
        ax.annotate(
            text,
            (row.bits, min(row.loss, edge)),
            (right, up),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=8,
            arrowprops=line,
        )


def _places() -> Iterator[tuple[float, float]]:
    """Yield offsets in points, nearest first: above, below, to the sides, and between."""
    for reach in range(13, 130, 9):
        for turn in range(12):
            angle = math.pi * (0.5 + turn * (-1) ** turn / 12)
            yield 1.6 * reach * math.cos(angle), reach * math.sin(angle)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
