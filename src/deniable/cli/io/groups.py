"""Estimates by group: a table on the screen, a tidy table in a file, and differences of two groups."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.io.estimates import to_json, write_table
from deniable.cli.running import CommandError
from deniable.cli.streams import echo, echo_json
from deniable.core.defaults import RATE

if TYPE_CHECKING:
    from deniable.core.summary import Summary
    from deniable.grouping.estimates import GroupEstimates
    from deniable.grouping.keys import Group
    from deniable.grouping.table import SummaryTable

_SHOWN_GROUPS, _SHOWN_VALUES = 10, 5


def group_named(table: SummaryTable, text: str) -> Group:
    """Find the group whose keys are written like this, with commas between them; those with commas are quoted."""
    from deniable.grouping.estimates import named

    wanted = tuple(part.strip() for part in text.split(","))
    for group in table:
        if tuple(map(str, group)) == wanted or named(group) == text:
            return group
    known = "; ".join(named(group) for group in list(table)[:5])
    raise CommandError(f"--group {text}: there is no such group by {', '.join(table.by)}. There are {known}, ...")


def one_group(table: SummaryTable, text: str) -> Summary:
    """The summary of one group."""
    return table[group_named(table, text)]  # type: ignore[return-value]


def show_groups(
    found: GroupEstimates,
    level: float,
    simultaneous: bool | None,
    top: int | None,
    *,
    as_json: bool,
    output: Path | None,
) -> None:
    """Print the most frequent values of each group, and whether the groups differ; write all values to a file."""
    test = found.alike(RATE) if len(found) > 1 else None
    if output is not None or as_json:
        document = _document(found, level, simultaneous, top if output is None else None)
        if test is not None:
            document["alike"] = {**test.to_dict(), "p_values": None} | {"label": test.label}
            del document["alike"]["p_values"]
        if output is not None:
            with ExitStack() as files:
                table = found.to_arrow(level, simultaneous=bool(simultaneous))
                write_table(files, output, table, to_json(document))
        if as_json:
            echo_json(to_json(document))
            return
    _print(found, level, simultaneous, top)
    if test is not None:
        echo(test)


def _document(found: GroupEstimates, level: float, simultaneous: bool | None, top: int | None) -> dict[str, Any]:
    groups = []
    for group, each in found.items():
        together = bool(simultaneous) if simultaneous is not None else top is not None
        rows = each.rows(level, simultaneous=together) if top is None else each.top(top, level, simultaneous=together)
        keys = {name: _plain(key) for name, key in zip(found.table.by, group, strict=True)}
        groups.append({"group": keys, **each.facts(level), "values": [row._asdict() for row in rows]})
    return {"by": list(found.table.by), "n": found.table.n, "groups": groups}


def _plain(key: Any) -> Any:
    return key.isoformat() if isinstance(key, (date, datetime)) else key


def _print(found: GroupEstimates, level: float, simultaneous: bool | None, top: int | None) -> None:
    from deniable.cli.terminal import console, plain, table
    from deniable.core.display import cells

    names, shown = found.table.by, list(found.items())[:_SHOWN_GROUPS]
    listed = table(
        found.title, *map(plain, names), "reports", "value", "frequency", "std. error", "low", "high", left=len(names)
    )
    listed.columns[len(names) + 1].justify = "left"
    for group, each in shown:
        rows = each.top(top or _SHOWN_VALUES, level, simultaneous=simultaneous is not False)
        for place, (row, numbers) in enumerate(zip(rows, cells(rows), strict=True)):
            first = [*map(plain, group), f"{each.n:,}"] if place == 0 else [""] * (len(names) + 1)
            listed.add_row(*first, plain(row.label), *numbers, end_section=place == len(rows) - 1)
    out = console()
    out.print(listed)
    if len(found) > len(shown):
        out.print(f"... and {len(found) - len(shown):,} more groups (--group, --json or -o)")
    about = "for all values of a group at once" if simultaneous is not False else "for each value"
    out.print(f"low to high: {100 * level:g}% interval, {about}", style="dim")
    if found.table.simulated:
        out.print("These reports are simulated: they were made with a seed.", style="yellow")


def show_difference(found: GroupEstimates, texts: list[str], level: float, *, as_json: bool) -> None:
    """Print the largest differences of two groups, with intervals that hold for all values at once."""
    first, second = (group_named(found.table, text) for text in texts)
    differences = found.difference(first, second)
    if as_json:
        echo_json(to_json({"groups": texts, **differences.to_dict(level, simultaneous=True)}))
    else:
        echo(f"{texts[0]} minus {texts[1]}: {differences}")
