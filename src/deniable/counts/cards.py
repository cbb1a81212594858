"""Cards of noisy counts and of answers about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.cards.markup import Scale, card, facts, table
from deniable.core.defaults import LEVEL, SHOWN
from deniable.core.display import SIMULATED

if TYPE_CHECKING:
    from deniable.counts.answer import Answer
    from deniable.counts.release import Release


def answer_card(answer: Answer) -> str:
    """One answer or the first of many, with intervals and the naive answers beside."""
    low, high = answer.interval()
    columns = [np.ravel(np.broadcast_to(each, np.shape(answer.value))) for each in (answer.value, answer.std_error)]
    columns += [np.ravel(np.broadcast_to(each, np.shape(answer.value))) for each in (low, high, answer.naive)]
    rows = list(zip(*(column[:SHOWN].tolist() for column in columns), strict=True))
    scale = Scale(end for value, _, below, above, _ in rows for end in (value, below, above))
    lines = []
    for place, (value, error, below, above, naive) in enumerate(rows):
        interval = f"{below:.6g} .. {above:.6g}"
        bar = scale.bar(below, value, above, f"{value:.6g}, {LEVEL:.0%} interval {interval}")
        lines.append((place + 1, f"{value:.6g}", f"{error:.3g}", bar, interval, f"{naive:.6g}"))
    headings = ("answer", "value", "std. error", "", f"{LEVEL:.0%} interval", "naive")
    notes = [*answer.notes, *([SIMULATED] if answer.simulated else [])]
    title = f"{answer.question} ({answer.kind})"
    return card("Answer", title, table(headings, lines, np.size(answer.value) - len(lines)), notes=notes)


def release_card(release: Release) -> str:
    """The noise and its guarantee, and the first counts."""
    first = ", ".join(f"{count:,}" for count in release.values.reshape(-1)[:SHOWN].tolist())
    left = release.size - SHOWN
    lines = [
        ("counts", f"{first}, ... and {left:,} more" if left > 0 else first),
        ("guarantee", release.guarantee()),
    ]
    return card("Release", release, facts(lines))
