"""Cards of numbers with intervals: estimates, derived answers, and strings found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deniable.cards.markup import Html, Scale, card, facts, shortened, table
from deniable.core.defaults import LEVEL, SHOWN
from deniable.core.display import cells
from deniable.core.glosses import METHODS
from deniable.core.quantity import ABOUT

if TYPE_CHECKING:
    from deniable.core.estimate import Estimate
    from deniable.core.quantity import Quantity


def estimate_card(estimate: Estimate) -> str:
    """The most frequent values with simultaneous intervals, what they promise, and what the method does."""
    rows = estimate.top(SHOWN)
    shown = interval_table([row.label for row in rows], rows, len(estimate) - len(rows))
    gloss = METHODS.get(estimate.method)
    notes = [*estimate.remarks(), *([f"{estimate.method}: {gloss}"] if gloss else [])]
    return card("Estimate", estimate.title, shown, notes=notes)


def interval_table(names: Sequence[object], rows: Sequence[Any], hidden: int, level: float = LEVEL) -> Html:
    """Rows of frequency, standard error and interval, as `print` shows them, each with a bar."""
    scale = Scale(end for row in rows for end in (row.low, row.high, row.frequency))
    lines = []
    for name, row, (frequency, error, low, high) in zip(names, rows, cells(rows), strict=True):
        says = f"{shortened(name)}: {frequency}, {100 * level:g}% interval {low} to {high}"
        bar = scale.bar(row.low, row.frequency, row.high, says)
        lines.append((name, frequency, error, bar, f"{low} .. {high}"))
    return table(("value", "frequency", "std. error", "", f"{100 * level:g}% interval"), lines, hidden)


def quantity_card(quantity: Quantity) -> str:
    """One derived answer."""
    notes = [f"About {ABOUT[quantity.target]}.", *([quantity.note] if quantity.note else [])]
    headings, (row,) = _quantities([quantity])
    return card("Quantity", shortened(quantity.name), table(headings[1:], [row[1:]]), notes=notes)


def _quantities(rows: Sequence[Quantity]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Headings and cells of derived answers of one level, each with a bar."""
    scale = Scale(end for row in rows for end in (row.low, row.high, row.value))
    lines: list[tuple[object, ...]] = []
    for row in rows:
        value, error, low, high = row.numbers
        bar = scale.bar(row.low, row.value, row.high, str(row))
        lines.append((row.name, value, error or "unknown", bar, f"{low} .. {high}"))
    return ("value", "estimate", "std. error", "", f"{100 * rows[0].level:g}% interval"), lines


def differences_card(differences: Any) -> str:
    """The largest differences of two estimates."""
    rows = differences.largest(SHOWN)
    return card("", differences.title, table(*_quantities(rows), len(differences) - len(rows)))


def alike_card(alike: Any) -> str:
    """The outcome of a test that groups are alike, and the labels with the smallest p-values."""
    order = sorted(alike.p_values.items(), key=lambda pair: pair[1])
    rows = [(label, f"{p_value:.2g}") for label, p_value in order[:SHOWN]]
    groups = facts([("groups", ", ".join(map(shortened, alike.groups[:SHOWN])))])
    note = "The p-values of single values are not corrected for their number; that of the title is."
    return card("Alike", alike, groups, table(("value", "p-value"), rows, len(order) - len(rows)), notes=[note])
