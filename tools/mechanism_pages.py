"""What the documents say of all mechanisms: tables, lists and entries, from the classes and the front of each page.

The front of docs/mechanisms/<name>.md holds what no code can say, such as a formula. All else is computed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import yaml

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.catalogue import ALL
from deniable.mechanisms.registry import load_class, parameters_of
from tests.contract import cases

PAGES = Path(__file__).parents[1] / "docs" / "mechanisms"
# The order in which families are read; one that is not here comes last.
_FAMILIES = ("response", "unary", "subsets", "designs", "hadamard", "hashing", "cohorts")
_COLUMNS = ("mechanism", "when", "guarantee", "error", "bits", "server time", "attack rate")
_USERS = 1_000_000


def classes() -> list[type[Mechanism]]:
    """The newest class of each mechanism, family by family."""

    def place(entry: tuple[str, int, str, str]) -> tuple[int, int]:
        family = entry[2].partition(".")[0]
        return _FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES), ALL.index(entry)

    newest = {entry[0]: entry for entry in sorted(ALL, key=lambda entry: entry[1])}
    return [load_class(entry[3]) for entry in sorted(newest.values(), key=place)]


def front(name: str) -> dict[str, str]:
    """What stands at the front of a mechanism's page: a cell of every column, and what its parameters mean."""
    page = PAGES / f"{name}.md"
    if not page.exists():
        raise LookupError(f"{name} has no page: write docs/mechanisms/{name}.md")
    text = page.read_text()
    found: dict[str, str] = yaml.safe_load(text.split("---\n")[1]) if text.startswith("---\n") else {}
    if missing := [column for column in _COLUMNS if not found.get(column)]:
        raise LookupError(f"docs/mechanisms/{name}.md does not say at its front: {', '.join(missing)}")
    return found


def simulated_at_once() -> list[str]:
    """The mechanisms that draw the counts of a summary without making its reports."""
    return [cls.name for cls in classes() if cls.simulated_counts is not Mechanism.simulated_counts]


def simulated() -> str:
    """These in a line."""
    return ", ".join(f"`{name}`" for name in simulated_at_once())


def navigation() -> str:
    """The pages, as mkdocs.yml lists them."""
    return "".join(f"      - mechanisms/{cls.name}.md\n" for cls in classes())


def overview() -> str:
    """The table of what each mechanism is, and when to use it."""
    return _of_columns("mechanism", "when")


def formulas() -> str:
    """The table of guarantees and errors."""
    return _of_columns("guarantee", "error")


def costs() -> str:
    """The table of bits, server time and attack rates."""
    return _of_columns("bits", "server time", "attack rate")


def _of_columns(*columns: str) -> str:
    rows = [["name", *columns], ["---"] * (len(columns) + 1)]
    for cls in classes():
        said = front(cls.name)
        rows.append([f"[`{cls.name}`]({cls.name}.md)", *(_marked(said[column]) for column in columns)])
    return _table(rows)


def _marked(cell: str) -> str:
    """A cell with its formulas marked for the site; other code in a cell is the name of a mechanism."""

    def mark(found: re.Match[str]) -> str:
        text = found[1]
        return found[0] if text in names else f'<code class="formula">{escape(text, quote=False)}</code>'

    names = dn.list_mechanisms()
    return re.sub("`(.*?)`", mark, cell)


def numbers() -> str:
    """The table of numbers, for epsilon = 1."""
    rows = [["name", "k", "p", "q", "error", "bits", "attack rate"], ["---", *["--:"] * 6]]
    for cls in classes():
        for m in _shown(cls.name):
            pure = m.channel
            chances = ["", ""] if pure is None else [f"{float(pure.p):.5f}", f"{float(pure.q):.5f}"]
            error = _USERS * m.variance(0.0, _USERS) ** 0.5
            costs = [f"{error:,.0f}", str(m.report_bits), f"{float(m.reconstruction_rate()):.4f}"]
            rows.append([f"`{m.name}`", str(m.k), *chances, *costs])
    return _table(rows)


def _shown(name: str) -> Iterator[Mechanism]:
    case = cases.of(name)
    for k in case.sizes:
        try:
            yield case.sized(k, epsilon=1.0)
        except dn.InvalidArgument:
            continue  # a size that it does not serve


def _table(rows: list[list[str]]) -> str:
    return "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows) + "\n"


def entries() -> str:
    """The classes, for the reference."""
    return "\n" + "".join(f"### `{cls.__name__}`\n\n`{_call(cls)}`\n\n{_entry(cls)}\n\n" for cls in classes())


def _entry(cls: type[Mechanism]) -> str:
    said = front(cls.name)
    meaning = " ".join(said.get("parameters", "").split())
    for parameter in parameters_of(cls.name):
        if parameter not in ("domain", "epsilon") and f"`{parameter}" not in meaning:
            raise LookupError(f"docs/mechanisms/{cls.name}.md does not say at its front what {parameter} means")
    return f"The class of the mechanism `{cls.name}`; see [its page](../mechanisms/{cls.name}.md). {meaning}".rstrip()


def _call(cls: type[Mechanism]) -> str:
    parameters = list(_parameters(cls).values())
    named = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    listed = [_argument(each) for each in parameters if each not in named]
    return f"{cls.__name__}({', '.join([*listed, *(['*'] if named else []), *map(_argument, named)])})"


def _parameters(cls: type[Mechanism]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(cls).parameters)


def _argument(parameter: inspect.Parameter) -> str:
    default: Any = parameter.default
    if default is inspect.Parameter.empty:
        return parameter.name
    return f'{parameter.name}="{default}"' if isinstance(default, str) else f"{parameter.name}={default!r}"
