"""The cards of a table of summaries and of its estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.cards.markup import card, table
from deniable.core.defaults import SHOWN

if TYPE_CHECKING:
    from deniable.grouping.estimates import GroupEstimates
    from deniable.grouping.table import SummaryTable


def table_card(summaries: SummaryTable) -> str:
    """The groups and how many reports each has."""
    rows = [(*map(str, group), f"{summary.n:,}") for group, summary in list(summaries.items())[:SHOWN]]
    shown = table((*summaries.by, "reports"), rows, max(0, len(summaries) - SHOWN))
    notes = ["Simulated: made with a seed."] if summaries.simulated else []
    return card("Table of summaries", f"{len(summaries):,} groups, {summaries.n:,} reports", shown, notes=notes)


def estimates_card(estimates: GroupEstimates) -> str:
    """The most frequent label of each group, with its interval."""
    rows = []
    for group, estimate in list(estimates.items())[:SHOWN]:
        (first,) = estimate.top(1)
        interval = f"{first.low:.1%} to {first.high:.1%}"
        rows.append((*map(str, group), f"{estimate.n:,}", first.label, f"{first.frequency:.1%}", interval))
    heads = (*estimates.table.by, "reports", "first label", "frequency", "interval")
    note = "Intervals hold for all labels of a group at once."
    return card("Estimates by group", estimates.title, table(heads, rows, max(0, len(estimates) - SHOWN)), notes=[note])
