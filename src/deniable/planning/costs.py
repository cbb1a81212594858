"""The table of a comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deniable.core.display import brief
from deniable.core.extras import needed


@dataclass(frozen=True)
class Costs:
    """What one mechanism costs for one question.

    `error` is the root mean squared error of the unbiased estimate of a rare value, by formula; `loss` and
    `simulated_loss` are mean squared errors over the asymptotic optimum 4e/(n(e - 1)^2) at the epsilon that is
    `spent`, by formula and measured; `simulated_loss_error` is its standard error, and not a number after a single
    run; `attack` is how often the best guess of a value from one report is right, at most. What was not measured is
    not a number.
    """

    mechanism: str
    error: float
    loss: float
    simulated_loss: float
    simulated_loss_error: float
    bits: int
    client_ns: float
    server_ms: float
    attack: float
    spent: float


@dataclass(frozen=True)
class Comparison:
    """Costs of the mechanisms that support the setting, most exact first; the others by name, each with the reason."""

    k: int
    epsilon: float
    n: int
    rows: tuple[Costs, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Costs]:
        return iter(self.rows)

    def to_json(self) -> str:
        """One JSON document; what was not measured is null."""
        clean = [{name: None if value != value else value for name, value in asdict(row).items()} for row in self]
        document = {"k": self.k, "epsilon": self.epsilon, "n": self.n, "mechanisms": clean}
        return json.dumps({**document, "left_out": dict(self.left_out)}, indent=1)

    def __repr__(self) -> str:
        best = {"best": self.rows[0].mechanism} if self.rows else {}
        facts = {"k": f"{self.k:,}", "epsilon": f"{self.epsilon:g}", "n": f"{self.n:,}", "mechanisms": len(self.rows)}
        return brief(self, **facts, **best)

    def _repr_html_(self) -> str:
        from deniable.planning.cards import comparison_card

        return comparison_card(self)

    def __str__(self) -> str:
        if not self.rows:
            return "\n".join(self.omission)
        lines = ["  ".join(line) for line in _aligned(self.table)]
        return "\n".join([*lines, *self.omission])

    def __rich__(self) -> Any:
        with needed():
            from rich.table import Table
            from rich.text import Text

        if not self.rows:
            return Text(str(self))
        caption = next(iter(self.omission), None)
        table = Table(title=self.title, title_justify="left", caption=caption, caption_justify="left")
        headings, *rows = self.table
        for place, heading in enumerate(headings):
            table.add_column(heading, justify="right" if place else "left")
        for row in rows:
            table.add_row(*row)
        return table

    def plot(self, path: str | Path | None = None) -> Any:
        """Error against bits; the size of a dot is the server's time, where it was measured."""
        from deniable.plots.costs import draw_costs

        return draw_costs(self.rows, path, title=self.title)

    @property
    def title(self) -> str:
        """The question, in one line."""
        return f"k={self.k:,}, epsilon={self.epsilon:g}, n={self.n:,}"

    @property
    def table(self) -> list[list[str]]:
        """Headings and cells, without the columns that were not measured."""
        lines = [_cells(row) for row in self.rows]
        kept = [name for name in _HEADINGS if any(line[name] for line in lines)]
        return [kept, *([line[name] for name in kept] for line in lines)]

    @property
    def omission(self) -> list[str]:
        """One line about the mechanisms that are not in the table; if none is in it, the reason for each."""
        count, all_ = len(self.left_out), len(self.left_out) + len(self.rows)
        if not self.rows:
            return [f"{name}: {reason}" for name, reason in self.left_out.items()]
        listed = ", ".join(self.left_out)
        return [f"left out, not possible for this setting ({count} of {all_}): {listed}"] if count else []


_HEADINGS = ["mechanism", "rms error", "loss", "simulated", "bits", "client", "server", "attack", "spent"]


def _cells(row: Costs) -> dict[str, str]:
    spread = "" if math.isnan(row.simulated_loss_error) else f" ± {row.simulated_loss_error:.3f}"
    client = f"{row.client_ns:.0f} ns" if row.client_ns < 1e4 else f"{row.client_ns / 1e3:.0f} us"
    return {
        "mechanism": row.mechanism,
        "rms error": f"{row.error:.3%}",
        "loss": f"{row.loss:.4f}",
        "simulated": "" if math.isnan(row.simulated_loss) else f"{row.simulated_loss:.3f}{spread}",
        "bits": f"{row.bits:,}",
        "client": "" if math.isnan(row.client_ns) else client,
        "server": "" if math.isnan(row.server_ms) else f"{row.server_ms:.2f} ms",
        "attack": f"{row.attack:.3%}",
        "spent": f"{row.spent:.4g}",
    }


def _aligned(lines: list[list[str]]) -> list[list[str]]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [[line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines]
