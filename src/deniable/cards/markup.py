"""The parts of a card: title, facts, table, bars and notes. All text is escaped here, and nowhere else."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from deniable.cards.style import BAR, CSS

_LONGEST = 120  # letters of a label that are shown
_WIDTH, _HEIGHT, _EDGE = 150, 14, 5  # of a bar, in pixels; the edge leaves room for round ends


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def card(kind: str, title: object, *parts: Html, notes: Iterable[str] = ()) -> str:
    """Return a card: the kind of object unless the title says it, a title, its parts, and notes below them."""
    below = "".join(f'<div class="dn-note">{_safe(note)}</div>' for note in notes)
    said = f'<span class="dn-kind">{_safe(kind)}</span> ' if kind else ""
    heading = f'<div class="dn-title">{said}{_safe(title)}</div>'
    name = html.escape(f"{kind}: {title}" if kind else str(title))
    opening = f'<style>{CSS}</style><div class="dn-card" role="group" aria-label="{name}">'
    return f"{opening}{heading}{''.join(parts)}{below}</div>"


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """Return names and what there is to say of each; those of which there is nothing to say are left out."""
    lines = (
        f'<tr><th scope="row">{_safe(name)}</th><td class="dn-text">{_safe(text)}</td></tr>'
        for name, text in pairs
        if text != ""
    )
    return Html(f'<table class="dn-facts"><tbody>{"".join(lines)}</tbody></table>')


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], hidden: int = 0, best: int | None = None) -> Html:
    """Return a table whose first column is text; `hidden` is how many rows it leaves out, `best` the row to mark.

    A column without a heading shares that of the next.
    """
    head, span = "", 1
    for place, heading in enumerate(headings):
        kind = "" if place else ' class="dn-text"'
        head += f'<th scope="col" colspan="{span}"{kind}>{_safe(heading)}</th>' if heading else ""
        span = 1 if heading else span + 1
    body = "".join(_row(row, place == best) for place, row in enumerate(rows))
    rest = f'<div class="dn-note">... and {hidden:,} more</div>' if hidden else ""
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}")


def _row(cells: Sequence[object], best: bool) -> str:
    first, *others = cells
    name = f'<th scope="row" class="dn-text" dir="auto">{_safe(shortened(first))}</th>'
    opening = '<tr class="dn-best">' if best else "<tr>"
    return f"{opening}{name}{''.join(f'<td>{_safe(cell)}</td>' for cell in others)}</tr>"


class Scale:
    """The scale that the bars of one table share: from 0, or the lowest end below it, to the highest."""

    def __init__(self, ends: Iterable[float]) -> None:
        known = [0.0, *(end for end in ends if abs(end) < float("inf"))]
        self._low, self._high = min(known), max(known)

    def bar(self, low: float, value: float, high: float, says: str) -> Html:
        """Return an interval as a picture that is legible without the style, and in words for who cannot see it."""
        start, middle, end, zero = map(self._place, (low, value, high, 0.0))
        half = _HEIGHT / 2
        return Html(
            f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
            f"<title>{html.escape(says)}</title>"
            f'<line class="dn-track" stroke="#999" x1="0" x2="{_WIDTH}" y1="{half:g}" y2="{half:g}"/>'
            f'<line class="dn-track" stroke="#999" x1="{zero}" x2="{zero}" y1="0" y2="{_HEIGHT}"/>'
            f'<line class="dn-span" stroke="{BAR}" x1="{start}" x2="{end}" y1="{half:g}" y2="{half:g}"/>'
            f'<circle class="dn-dot" fill="{BAR}" cx="{middle}" cy="{half:g}" r="3.5"/></svg>'
        )

    def _place(self, number: float) -> str:
        span = self._high - self._low or 1.0
        share = (min(max(number, self._low), self._high) - self._low) / span if number == number else 0.0
        return f"{_EDGE + share * (_WIDTH - 2 * _EDGE):.1f}"


def shortened(text: Any) -> str:
    """Return a label without the end that is too long to show."""
    words = str(text)
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def _safe(text: object) -> str:
    return text if isinstance(text, Html) else html.escape(str(text))
