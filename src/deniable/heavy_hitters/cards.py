"""The card of the strings found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.cards.intervals import interval_table
from deniable.cards.markup import card
from deniable.core.defaults import SHOWN

if TYPE_CHECKING:
    from deniable.heavy_hitters.findings import Findings


def findings_card(findings: Findings) -> str:
    """The most frequent strings with their intervals, what is promised of them, and what may have been missed."""
    rows = findings.top(SHOWN)
    shown = interval_table([row.text for row in rows], rows, len(findings) - len(rows))
    return card("Findings", findings.title, shown, notes=[findings.promise, findings.missed])
