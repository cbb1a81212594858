"""Cards of a plan and of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.cards.markup import card, facts, table
from deniable.planning import plan_text

if TYPE_CHECKING:
    from deniable.planning.answer import Plan
    from deniable.planning.costs import Comparison

_NOTE = (
    "rms error: of a rare value. loss: mean squared error over the best possible one for many values. "
    "attack: how often the best guess from one report is right."
)


def plan_card(plan: Plan) -> str:
    """The chosen mechanism, the numbers, the margins to expect, and the runners-up."""
    headings, *rows = plan_text.picture(plan)
    others = [(f"instead: {name}", reason) for name, reason in plan_text.others(plan)]
    parts = [facts(plan_text.facts(plan)), table(headings, rows), *([facts(others)] if others else [])]
    return card("Plan", plan_text.heading(plan), *parts, notes=plan.notes)


def comparison_card(comparison: Comparison) -> str:
    """The table that `print` shows, with the first row marked: that of the least error."""
    if not comparison.rows:
        return card("Comparison", comparison.title, notes=comparison.omission)
    headings, *rows = comparison.table
    return card("Comparison", comparison.title, table(headings, rows, best=0), notes=[*comparison.omission, _NOTE])
