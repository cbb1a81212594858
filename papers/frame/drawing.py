"""Drawing the results of an experiment as it declares: lines, coloured grids, dots, or a table."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from deniable.plots.estimates import new_figure
from papers.frame.experiment import Experiment, Heat, Lines, Picture, Scatter, Table
from papers.frame.rows import Rows

_WIDTH, _HEIGHT, _DPI = 4.2, 3.1, 90
_COLUMNS, _WIDEST = 3, 5
_PALETTE = 160
_LETTERS = 12  # letters of a title per inch
_DECADES = 1e3  # above this ratio, a logarithmic axis needs no ticks within its decades
_COLOURS = ("#1f4e79", "#c2410c", "#15803d", "#7e22ce", "#111827", "#0891b2", "#be185d", "#ca8a04", "#94a3b8")


def png(experiment: Experiment, picture: Picture, rows: Rows) -> bytes:
    """Draw one picture of an experiment as PNG; the same rows give the same bytes."""
    from PIL import Image

    figure = draw(picture, rows, experiment.title)
    drawn, out = io.BytesIO(), io.BytesIO()
    box = "tight" if isinstance(picture, Table) else None  # panels fill their figure, and "tight" draws it twice
    figure.savefig(drawn, format="png", dpi=_DPI, bbox_inches=box)
    # a small palette is enough, and makes the page a third of the size
    Image.open(drawn).convert("RGB").quantize(_PALETTE, dither=Image.Dither.NONE).save(out, "png", optimize=True)
    return out.getvalue()


def draw(picture: Picture, rows: Rows, title: str = "") -> Any:
    """Draw a picture as a matplotlib figure."""
    if isinstance(picture, Table):
        return _table(picture, rows, title)
    if isinstance(picture, Lines):
        rows = rows.where(**picture.only)
    panels = list(_panels(picture.panels, rows))
    columns = _across(picture.panels, rows, len(panels))
    height = -(-len(panels) // columns)
    figure = new_figure(_WIDTH * columns, _HEIGHT * height)
    axes = figure.subplots(height, columns, squeeze=False).reshape(-1)
    for ax, (heading, part) in zip(axes, panels, strict=False):
        _one_panel(picture)(ax, picture, part)
        ax.set_title(heading, fontsize=9)
        ax.set_xlabel(_named(picture, picture.x), fontsize=8)
        ax.tick_params(labelsize=7)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    if title:
        figure.suptitle(textwrap.fill(title, int(_LETTERS * _WIDTH * columns)), fontsize=10)
    return figure


def _one_panel(picture: Lines | Heat | Scatter) -> Callable[[Any, Any, Rows], None]:
    drawers: dict[type, Callable[[Any, Any, Rows], None]] = {Lines: _lines, Heat: _heat, Scatter: _scatter}
    return drawers[type(picture)]


def _panels(names: tuple[str, ...], rows: Rows) -> Iterator[tuple[str, Rows]]:
    if not names:
        yield "", rows
        return
    places = {name: rows.values(name) for name in names}
    groups = sorted(rows.groups(*names), key=lambda group: [places[name].index(group[0][name]) for name in names])
    for key, part in groups:
        yield ", ".join(f"{name}={_short(value)}" for name, value in key.items()), part


def _across(names: tuple[str, ...], rows: Rows, panels: int) -> int:
    """The number of panels per row: one row per value of the first name, if two names make a complete grid."""
    if len(names) == 2:
        down, across = (len(rows.values(name)) for name in names)
        if down * across == panels and 1 < across <= _WIDEST:
            return across
    return min(_COLUMNS, panels)


def _lines(ax: Any, picture: Lines, rows: Rows) -> None:
    using = np.median if picture.median else np.mean
    for place, name in enumerate(rows.values(picture.by)):
        part = rows.where(**{picture.by: name})
        means = part.average(picture.y, picture.x, using=using)
        x, y, error = means.column(picture.x), means.column(picture.y), np.nan_to_num(means.column("error"))
        ends = [y - error, y + error]
        if picture.band is not None:
            ends = [part.average(end, picture.x, using=using).column(end) for end in picture.band]
        if picture.log_y:
            # values that are not positive leave a gap, instead of a line to the bottom of the axis
            y = np.where(y > 0, y, math.nan)
            ends = [np.where(end > 0, end, y) for end in ends]
        order = np.argsort(x)
        colour = _COLOURS[place % len(_COLOURS)]
        ax.plot(x[order], y[order], "o-", ms=2.5, lw=1.2, color=colour, label=_named(picture, name))
        ax.fill_between(x[order], ends[0][order], ends[1][order], color=colour, alpha=0.15, lw=0)
    _scales(ax, picture)
    ax.set_ylabel(_named(picture, picture.y), fontsize=8)
    ax.legend(fontsize=6.5, frameon=False)


def _scatter(ax: Any, picture: Scatter, rows: Rows) -> None:
    for place, name in enumerate(rows.values(picture.by)):
        part = rows.where(**{picture.by: name})
        colour = _COLOURS[place % len(_COLOURS)]
        ax.plot(part.column(picture.x), part.column(picture.y), "o", ms=3.5, color=colour, label=_named(picture, name))
    _scales(ax, picture)
    ax.set_ylabel(_named(picture, picture.y), fontsize=8)
    ax.legend(fontsize=6.5, frameon=False)


def _heat(ax: Any, picture: Heat, rows: Rows) -> None:
    across, down = rows.values(picture.x), rows.values(picture.y)
    grid = np.full((len(down), len(across)), math.nan)
    for row in rows.average(picture.value, picture.x, picture.y):
        grid[down.index(row[picture.y]), across.index(row[picture.x])] = row[picture.value]
    shown = grid[np.isfinite(grid)]
    reach = float(np.abs(shown).max()) if shown.size else 1.0
    limits = {"vmin": -reach, "vmax": reach, "cmap": "RdBu_r"} if picture.diverging else {"cmap": "viridis"}
    image = ax.imshow(grid, aspect="auto", origin="lower", **limits)
    ax.set_xticks(range(len(across)), [_short(value) for value in across], rotation=60)
    ax.set_yticks(range(len(down)), [_short(value) for value in down])
    ax.set_ylabel(_named(picture, picture.y), fontsize=8)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.ax.tick_params(labelsize=6)
    bar.set_label(_named(picture, picture.value), fontsize=7)


def _table(picture: Table, rows: Rows, title: str) -> Any:
    heading, body = table_cells(picture, rows)
    figure = new_figure(1.3 * len(heading), 0.6 + 0.24 * (len(body) + 1))
    ax = figure.add_subplot()
    ax.axis("off")
    made = ax.table(cellText=body, colLabels=heading, loc="center", cellLoc="right")
    made.auto_set_font_size(False)
    made.set_fontsize(7)
    ax.set_title(title, fontsize=10)
    return figure


def table_cells(picture: Table, rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the cells of a table, as text."""
    heading = [_named(picture, name) for name in (*picture.by, *picture.metrics)]
    body = []
    for key, part in rows.groups(*picture.by):
        numbers = [_short(float(part.column(metric).mean())) for metric in picture.metrics]
        body.append([*map(_short, key.values()), *numbers])
    return heading, body


def _scales(ax: Any, picture: Lines | Scatter) -> None:
    from matplotlib.ticker import NullLocator

    if picture.log_x:
        ax.set_xscale("log")
    if picture.log_y:
        ax.set_yscale("log")
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        if axis.get_scale() == "log" and high > _DECADES * low:
            axis.set_minor_locator(NullLocator())  # ticks take most of the drawing time
    ax.grid(alpha=0.25, lw=0.5)


def _named(picture: Picture, name: Any) -> str:
    return picture.labels.get(name, _short(name))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
