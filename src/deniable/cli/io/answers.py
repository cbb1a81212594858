"""Answers about noisy counts, as lines on the screen or as one JSON document."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.cli.io.counts import Published
from deniable.core.errors import InvalidArgument
from deniable.counts.answer import Answer

_SHOWN = 20
_QUICK = 200  # up to this number of counts, the errors of other methods take seconds for every question


def show_questions() -> None:
    """Print all questions, one line each, with their parameters."""
    from deniable.cli.questions import option_name
    from deniable.cli.terminal import console, plain, table
    from deniable.counts.catalogue import QUESTIONS

    listed = table("", "question", "what it asks for", "parameters (* required)", "many parties", left=4)
    for each in QUESTIONS:
        needed = (f"{option_name(p.name)}{'*' if p.required else ''}" for p in each.parameters)
        listed.add_row(each.name, plain(each.help), " ".join(needed), each.parties)
    console().print(listed)


class Found:
    """An answer with its releases, the level of its interval, and the warnings raised."""

    def __init__(
        self, answer: Answer, published: list[Published], level: float, warned: list[str], of_single_counts: bool
    ) -> None:
        self.answer, self.published, self.level = answer, published, level
        self.warned = list(dict.fromkeys(warned))
        self.recommendation = self._recommendation(of_single_counts)

    def _recommendation(self, of_single_counts: bool) -> str:
        if not self.answer.unbiased:
            return next((note for note in self.answer.notes if note.startswith("biased")), self.answer.method)
        if self.answer.moments_rule is None:
            return "unbiased: there is no other method for this question"
        if self.answer.n > _QUICK and not of_single_counts:
            return "unbiased; --best auto compares it with biased methods, which takes a while"
        try:
            return self.answer.recommendation
        except InvalidArgument as error:  # such as counts beyond 2^53
            return f"unbiased: {error.name} must {error.rule}"

    def document(self) -> str:
        """The answer as JSON."""
        from deniable.cli.io.estimates import to_json

        releases = [
            {
                "epsilon": each.release.epsilon,
                "sensitivity": each.release.sensitivity,
                "counts": each.release.size,
                "simulated": each.release.simulated,
            }
            for each in self.published
        ]
        more = {"recommendation": self.recommendation, "warnings": self.warned, "releases": releases}
        names = self._names()
        return to_json({**self.answer.to_dict(self.level), **({"rows": names} if names else {}), **more})

    def show(self) -> None:
        """Print the answer, and the warnings on standard error."""
        from deniable.cli.terminal import console, note, plain

        out, answer = console(), self.answer
        kind = "unbiased" if answer.unbiased else f"{answer.method}, biased"
        out.print(plain(f"{answer.question} ({kind})"), style="bold")
        out.print(self._many() if np.ndim(answer.value) else self._one())
        shown_elsewhere = {text.partition(": ")[2] for text in self.warned} | set(self.warned)
        for text in answer.notes:
            if text.removeprefix("useless: ") not in shown_elsewhere and text != self.recommendation:
                out.print(plain(f"note: {text}"))
        if answer.simulated:
            out.print("This release is simulated: it was made with a seed.", style="yellow")
        for text in self.warned:
            note(f"warning: {text}")

    def _one(self) -> Any:
        from deniable.cli.terminal import plain, table

        answer, (low, high) = self.answer, self.answer.interval(self.level)
        lines = {
            "value": _number(answer.value),
            "standard error": _number(answer.std_error),
            f"{100 * self.level:g}% interval": f"{_number(low)} to {_number(high)}",
            "naive": f"{_number(answer.naive)} (computed from the noisy counts directly)",
            "arithmetic": f"off by at most {answer.width:.2g}",
            "best": self.recommendation,
            "release": self._releases(),
        }
        grid = table("", "", "", left=2)
        grid.show_header = False
        for name, text in lines.items():
            grid.add_row(f"[bold]{name}[/]", plain(text))
        return grid

    def _many(self) -> Any:
        from rich.console import Group

        from deniable.cli.terminal import plain, table

        answer, (low, high) = self.answer, self.answer.interval(self.level)
        listed = table("", "", "value", "std. error", "low", "high", "naive", "")
        columns = [np.ravel(part) for part in (answer.value, answer.std_error, low, high, answer.naive)]
        useless, names = np.ravel(answer.useless), self._names()
        for i in range(min(len(columns[0]), _SHOWN)):
            name = names[i] if names else str(i)
            numbers = [_number(float(column[i])) for column in columns]
            listed.add_row(plain(name), *numbers, "useless" if useless[i] else "")
        left = len(columns[0]) - _SHOWN
        more = [f"... and {left:,} more (--json)"] if left > 0 else []
        lines = [
            f"low to high: {100 * self.level:g}% interval per row; arithmetic off by at most {answer.width:.2g}",
            f"best: {plain(self.recommendation)}",
            f"release: {self._releases()}",
        ]
        return Group(listed, *more, *lines)

    def _names(self) -> list[str]:
        """The labels of the rows, if there is one answer per row."""
        labels = self.published[0].labels
        rows = len(self.published[0].columns) > 1 and np.shape(self.answer.value) == (labels.num_rows,)
        return [str(cell) for cell in labels.column(0).to_pylist()] if rows and labels.num_columns == 1 else []

    def _releases(self) -> str:
        first = self.published[0].release
        if len(self.published) == 1:
            return str(first)
        costs = sorted({each.release.epsilon for each in self.published})
        spent = f"epsilon {costs[0]:g}" + (f" to {costs[-1]:g}" if len(costs) > 1 else "")
        return f"{len(self.published)} parties with {self.answer.n:,} noisy counts, {spent} each"


def _number(number: float) -> str:
    if math.isnan(number):
        return "unknown"
    return f"{number:,.6g}" if math.isfinite(number) else ("infinite" if number > 0 else "-infinite")
