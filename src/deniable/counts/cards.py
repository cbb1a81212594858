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
    shape = np.shape(answer.value)
    parts = (answer.value, answer.std_error, *answer.interval(), answer.naive)
    columns = [np.broadcast_to(part, shape).reshape(-1)[:SHOWN].tolist() for part in parts]
    scale = Scale(end for column in (columns[0], *columns[2:4]) for end in column)
    lines: list[tuple[object, ...]] = []
    for place, value, error, low, high, naive in zip(np.ndindex(shape), *columns, strict=False):
        interval = f"{low:.6g} .. {high:.6g}"
        bar = scale.bar(low, value, high, f"{value:.6g}, {LEVEL:.0%} interval {interval}")
        first = (", ".join(map(str, place)),) if shape else ()
        lines.append((*first, f"{value:.6g}", f"{error:.3g}", bar, interval, f"{naive:.6g}"))
    headings = (*(("index",) if shape else ()), "value", "std. error", "", f"{LEVEL:.0%} interval", "naive")
    notes = [*answer.notes, *([SIMULATED] if answer.simulated else [])]
    many = f": {np.size(answer.value):,} answers" if shape else ""
    title = f"{answer.question}{many} ({answer.kind})"
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
