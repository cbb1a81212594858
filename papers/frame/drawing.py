"""Pictures of experiments as SVG: lines and dots in panels with shared axes and one legend, on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from papers.frame.experiment import Heat, Lines, Scatter, Table
from papers.frame.rows import Rows
from papers.frame.scales import Scale, scale, share
from papers.frame.styles import Style, styles
from papers.frame.words import setting, short

WIDTH, HEIGHT = 230, 150  # of one panel
LEFT, RIGHT, BOTTOM, GAP, TITLE = 64, 14, 42, 14, 22
_OWN_AXIS = 44  # the gap, if every panel has an axis of its own
_COLUMNS, _WIDEST = 3, 5
_LETTER = 6.1  # mean width of a letter
_FLAT = 0.05  # panels whose numbers cover less of a shared axis get their own
_MARKED = 24  # lines with more points have markers at some of them
STYLE = (
    "<style>text{font:11px system-ui,sans-serif;fill:#334155}.t{font-weight:600}.f{fill:none;stroke:#94a3b8}"
    ".g{stroke:#94a3b8;stroke-opacity:.3}"
    "@media(prefers-color-scheme:dark){text{fill:#cbd5e1}.f{stroke:#64748b}}</style>"
)


@dataclass(frozen=True)
class Panel:
    """One panel: its title, its rows, and the corner of its frame."""

    title: str
    rows: Rows
    x: float
    y: float
    first: bool  # of its row of panels
    last: bool  # of its column of panels


def svg(picture: Lines | Scatter, rows: Rows, title: str = "") -> str:
    """Draw lines or dots as SVG; the same rows give the same text."""
    if isinstance(picture, Lines):
        rows = rows.where(**picture.only)
    used = styles(rows.values(picture.by))
    series = _line_series if isinstance(picture, Lines) else _dot_series
    parts = list(panels_of(picture.panels, rows))
    found = [[series(picture, part, name) for name in part.values(picture.by)] for _, part in parts]
    across, x_shared = _axes([[v for s in panel for v in s.x] for panel in found], log=picture.log_x)
    up, y_shared = _axes([[v for s in panel for v in s.reach()] for panel in found], log=picture.log_y)
    columns = columns_of(picture.panels, rows, len(parts))
    keys, top = legend([(_in_legend(picture, name), style) for name, style in used.items()], columns)
    placed = place(parts, columns, top, GAP if y_shared else _OWN_AXIS, TITLE if x_shared else TITLE + 16)
    drawn = []
    for panel, lines, horizontal, vertical in zip(placed, found, across, up, strict=True):
        drawn.append(
            frame(panel, horizontal, vertical, x_ticks=panel.last or not x_shared, y_ticks=panel.first or not y_shared)
        )
        names = panel.rows.values(picture.by)
        drawn += [_one(panel, each, used[name], horizontal, vertical) for each, name in zip(lines, names, strict=True)]
    return document(placed, "".join([keys, *drawn]), named(picture, picture.x), named(picture, picture.y), title)


@dataclass(frozen=True)
class _Series:
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()

    def reach(self) -> Iterator[float]:
        yield from self.y
        yield from self.low
        yield from self.high


def _line_series(picture: Any, rows: Rows, name: Any) -> _Series:
    using = np.median if picture.median else np.mean
    part = rows.where(**{picture.by: name})
    means = part.average(picture.y, picture.x, using=using)
    x, y, error = means.column(picture.x), means.column(picture.y), np.nan_to_num(means.column("error"))
    low, high = y - error, y + error
    if picture.band is not None:
        low, high = (part.average(end, picture.x, using=using).column(end) for end in picture.band)
    if picture.log_y:  # a band that reaches zero ends at the line
        low, high = np.where(low > 0, low, y), np.where(high > 0, high, y)
    order = np.argsort(x)
    return _Series(*(each[order].tolist() for each in (x, y, low, high)))


def _dot_series(picture: Any, rows: Rows, name: Any) -> _Series:
    part = rows.where(**{picture.by: name})
    return _Series(part.column(picture.x).tolist(), part.column(picture.y).tolist())


def _axes(values: list[list[float]], *, log: bool) -> tuple[list[Scale], bool]:
    """Return an axis for each panel: the same for all, unless that would flatten one of them."""
    whole = scale([each for panel in values for each in panel], log=log)
    own = [scale(panel, log=log) for panel in values]
    shared = all(share(each, whole) >= _FLAT for each in own)
    return ([whole] * len(own) if shared else own), shared


def _one(panel: Panel, series: _Series, style: Style, across: Scale, up: Scale) -> str:
    def at(x: float, y: float) -> tuple[float, float]:
        return panel.x + WIDTH * across.place(x), panel.y + HEIGHT * (1 - up.place(y))

    points = [at(x, y) for x, y in zip(series.x, series.y, strict=True)]
    parts = []
    if series.low:
        ends = [[at(x, y) for x, y in zip(series.x, side, strict=True)] for side in (series.low, series.high)]
        band = [*_whole(ends[0]), *reversed(_whole(ends[1]))] if ends[0] != ends[1] else []
        parts.append(f'<path fill-opacity=".15" d="{_path(band)}z"/>' if len(band) > 2 else "")
        parts += [
            f'<path fill="none" stroke="{style.colour}" stroke-width="1.4" d="{_path(run)}"/>'
            for run in _runs(points)
            if len(run) > 1
        ]
    shown = _whole(points)
    step = -(-len(shown) // 8) if series.low and len(shown) > _MARKED else 1
    parts += [f'<use href="#m{style.marker}" x="{x:.1f}" y="{y:.1f}"/>' for x, y in shown[::step]]
    return f'<g fill="{style.colour}">{"".join(parts)}</g>'


def _whole(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [point for point in points if not math.isnan(point[0] + point[1])]


def _runs(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Split a line where a number has no place on the axis, and leave out points on top of one another."""
    runs: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if math.isnan(point[0] + point[1]):
            runs.append([])
        elif not runs[-1] or max(abs(point[0] - runs[-1][-1][0]), abs(point[1] - runs[-1][-1][1])) >= 0.5:
            runs[-1].append(point)
    return runs


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _in_legend(picture: Lines | Scatter, name: Any) -> str:
    """A method by its name, a number with the name of what it is a number of."""
    return named(picture, name) if isinstance(name, str) else setting({picture.by: name})


def panels_of(names: tuple[str, ...], rows: Rows) -> Iterator[tuple[str, Rows]]:
    """Yield the title and the rows of each panel, in the order of the names' values."""
    if not names:
        yield "", rows
        return
    places = {name: rows.values(name) for name in names}
    varying = [name for name in names if len(places[name]) > 1]
    groups = sorted(rows.groups(*names), key=lambda group: [places[name].index(group[0][name]) for name in names])
    for key, part in groups:
        yield setting(key, varying), part


def columns_of(names: tuple[str, ...], rows: Rows, panels: int) -> int:
    """The number of panels per row: one row per value of the first name, if two names make a complete grid."""
    if len(names) == 2:
        down, across = (len(rows.values(name)) for name in names)
        if down * across == panels and 1 < across <= _WIDEST:
            return across
    return min(_COLUMNS, panels)


def place(parts: Sequence[tuple[str, Rows]], columns: int, top: float, gap: float, below: float) -> list[Panel]:
    """Place the panels in rows."""
    many = len(parts)
    return [
        Panel(
            title,
            rows,
            LEFT + number % columns * (WIDTH + gap),
            top + number // columns * (HEIGHT + below) + TITLE,
            number % columns == 0,
            number + columns >= many,
        )
        for number, (title, rows) in enumerate(parts)
    ]


def legend(items: Sequence[tuple[str, Style]], columns: int) -> tuple[str, float]:
    """Draw the legend above the panels, in as many lines as it takes; return it and its height."""
    width = LEFT + columns * (WIDTH + GAP)
    x, y, drawn = float(LEFT), 12.0, []
    for text, style in items:
        needed = 26 + _LETTER * len(text)
        if x + needed > width and x > LEFT:
            x, y = float(LEFT), y + 17
        drawn.append(
            f'<g fill="{style.colour}"><path stroke="{style.colour}" stroke-width="1.4" d="M{x:.0f},{y:.0f}h16"/>'
            f'<use href="#m{style.marker}" x="{x + 8:.0f}" y="{y:.0f}"/></g>'
            f'<text x="{x + 21:.0f}" y="{y + 4:.0f}">{escape(text)}</text>'
        )
        x += needed + 8
    marks = "".join(f'<path id="m{each.marker}" d="{each.outline}"/>' for each in dict.fromkeys(s for _, s in items))
    return f"<defs>{marks}</defs>{''.join(drawn)}", y + 8


def frame(panel: Panel, across: Scale, up: Scale, *, x_ticks: bool, y_ticks: bool) -> str:
    """Draw the frame of a panel, its title, its grid, and the numbers at its axes."""
    parts = []
    for value, text in across.ticks():
        x = panel.x + WIDTH * across.place(value)
        parts.append(f'<path class="g" d="M{x:.1f},{panel.y:.1f}v{HEIGHT}"/>')
        if x_ticks:
            parts.append(f'<text text-anchor="middle" x="{x:.1f}" y="{panel.y + HEIGHT + 14:.1f}">{text}</text>')
    for value, text in up.ticks():
        y = panel.y + HEIGHT * (1 - up.place(value))
        parts.append(f'<path class="g" d="M{panel.x:.1f},{y:.1f}h{WIDTH}"/>')
        if y_ticks:
            parts.append(f'<text text-anchor="end" x="{panel.x - 5:.1f}" y="{y + 4:.1f}">{text}</text>')
    return "".join(parts) + outline(panel)


def outline(panel: Panel) -> str:
    """Draw the frame of a panel and its title."""
    title = (
        f'<text class="t" x="{panel.x:.1f}" y="{panel.y - 6:.1f}">{escape(panel.title)}</text>' if panel.title else ""
    )
    return f'<rect class="f" x="{panel.x:.1f}" y="{panel.y:.1f}" width="{WIDTH}" height="{HEIGHT}"/>{title}'


def document(panels: Sequence[Panel], body: str, x: str, y: str, title: str, right: float = RIGHT) -> str:
    """Return the whole SVG, with one name for each axis."""
    width = max(panel.x for panel in panels) + WIDTH + right
    bottom = max(panel.y for panel in panels) + HEIGHT
    middle, height = (panels[0].y + bottom) / 2, bottom + BOTTOM
    names = (
        f'<text text-anchor="middle" x="{(LEFT + width - right) / 2:.0f}" y="{bottom + 34:.0f}">{escape(x)}</text>'
        f'<text text-anchor="middle" transform="translate(14,{middle:.0f}) rotate(-90)">{escape(y)}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img"><title>{escape(title)}</title>{STYLE}{body}{names}</svg>\n'
    )


def table_cells(picture: Table, rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the cells of a table, as text."""
    heading = [named(picture, name) for name in (*picture.by, *picture.metrics)]
    body = []
    for key, part in rows.groups(*picture.by):
        numbers = [short(float(part.column(metric).mean())) for metric in picture.metrics]
        body.append([*(named(picture, value) for value in key.values()), *numbers])
    return heading, body


def named(picture: Lines | Scatter | Heat | Table, name: Any) -> str:
    """The words for a metric, a parameter or a method, as the picture has them."""
    try:
        found = picture.labels.get(name)
    except TypeError:  # a value that is a list
        found = None
    return found if found is not None else short(name)
