"""Coloured grids as SVG: panels with one colour scale for all."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from papers.frame.drawing import (
    GAP,
    HEIGHT,
    RIGHT,
    TITLE,
    WIDTH,
    Panel,
    columns_of,
    document,
    named,
    outline,
    panels_of,
    place,
)
from papers.frame.experiment import Heat
from papers.frame.rows import Rows
from papers.frame.scales import Scale
from papers.frame.words import short

_DIVERGING = ("#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b")
_RISING = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
_BAR, _STEPS = 96, 24  # width of the colour scale with its numbers, and its colours


def heat_svg(picture: Heat, rows: Rows, title: str = "") -> str:
    """Draw coloured grids as SVG; zero is white if `diverging`. The same rows give the same text."""
    means = rows.average(picture.value, *picture.panels, picture.x, picture.y).column(picture.value)
    finite = [each for each in means.tolist() if math.isfinite(each)] or [0.0]
    reach = max(map(abs, finite)) or 1.0
    colours = Scale(-reach, reach) if picture.diverging else Scale(min(finite), max(finite) + 1e-12)
    palette = _DIVERGING if picture.diverging else _RISING
    parts = list(panels_of(picture.panels, rows))
    columns = columns_of(picture.panels, rows, len(parts))
    placed = place(parts, columns, 0, GAP, TITLE)
    body = "".join(_panel(picture, panel, rows, colours, palette) for panel in placed)
    bar = _bar(picture, placed, colours, palette)
    return document(placed, body + bar, named(picture, picture.x), named(picture, picture.y), title, RIGHT + _BAR)


def _panel(picture: Heat, panel: Panel, rows: Rows, colours: Scale, palette: tuple[str, ...]) -> str:
    across, up = (sorted(rows.values(name)) for name in (picture.x, picture.y))
    wide, high = WIDTH / len(across), HEIGHT / len(up)
    parts = []
    for row in panel.rows.average(picture.value, picture.x, picture.y):
        x, y = across.index(row[picture.x]), up.index(row[picture.y])
        told = (
            f"{short(row[picture.value])} at {picture.x} {short(row[picture.x])}, {picture.y} {short(row[picture.y])}"
        )
        parts.append(
            f'<rect x="{panel.x + x * wide:.1f}" y="{panel.y + HEIGHT - (y + 1) * high:.1f}" width="{wide + 0.3:.1f}" '
            f'height="{high + 0.3:.1f}" fill="{_colour(colours.place(row[picture.value]), palette)}">'
            f"<title>{escape(told)}</title></rect>"
        )
    if panel.last:
        parts += [
            _text(panel.x + (n + 0.5) * wide, panel.y + HEIGHT + 14, short(each), "middle")
            for n, each in enumerate(across)
        ]
    if panel.first:
        parts += [
            _text(panel.x - 5, panel.y + HEIGHT - (n + 0.5) * high + 4, short(each), "end") for n, each in enumerate(up)
        ]
    return "".join(parts) + outline(panel)


def _bar(picture: Heat, panels: list[Panel], colours: Scale, palette: tuple[str, ...]) -> str:
    """Draw the colour scale to the right of the first row of panels."""
    x, y = max(panel.x for panel in panels) + WIDTH + 26, panels[0].y
    step = HEIGHT / _STEPS
    parts = [
        f'<rect x="{x:.1f}" y="{y + HEIGHT - (n + 1) * step:.1f}" width="12" height="{step + 0.3:.1f}" '
        f'fill="{_colour((n + 0.5) / _STEPS, palette)}"/>'
        for n in range(_STEPS)
    ]
    parts += [
        _text(x + 17, y + HEIGHT * (1 - colours.place(each)) + 4, text, "start") for each, text in colours.ticks()
    ]
    name = escape(named(picture, picture.value))
    middle = y + HEIGHT / 2
    parts.append(
        f'<text text-anchor="middle" transform="translate({x + 62:.0f},{middle:.0f}) rotate(-90)">{name}</text>'
    )
    return "".join(parts)


def _text(x: float, y: float, text: Any, anchor: str) -> str:
    return f'<text text-anchor="{anchor}" x="{x:.1f}" y="{y:.1f}">{escape(str(text))}</text>'


def _colour(place: float, palette: tuple[str, ...]) -> str:
    """The colour at a place between 0 and 1."""
    at = min(max(place, 0.0), 1.0) * (len(palette) - 1)
    first = min(int(at), len(palette) - 2)
    ends = [[int(palette[first + n][i : i + 2], 16) for i in (1, 3, 5)] for n in (0, 1)]
    mixed = [round(a + (b - a) * (at - first)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{each:02x}" for each in mixed)
