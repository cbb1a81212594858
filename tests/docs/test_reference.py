"""Every public name, member, command and option is described, and no others."""

from __future__ import annotations

import re
from typing import Any

import pytest

import deniable as dn
from tests.docs.pages import DOCS


@pytest.mark.parametrize("name", dn.__all__)
def test_every_public_name_has_an_entry(name: str) -> None:
    entry = rf"^(### `{re.escape(name)}\b.*|\| `{re.escape(name)}` \|.*|`{re.escape(name)}` is .*)$"
    assert re.search(entry, (DOCS / "reference/python.md").read_text(), re.MULTILINE)


def test_every_entry_is_a_public_name() -> None:
    headings = re.findall(r"^### `(\w+)", (DOCS / "reference/python.md").read_text(), re.MULTILINE)
    assert set(headings) <= set(dn.__all__)


def test_the_members_of_a_mechanism_exist() -> None:
    m = dn.mechanism("grr", k=3, epsilon=1.0)
    members = re.findall(r"`m\.(\w+)", (DOCS / "reference/python.md").read_text())
    assert members
    assert [name for name in members if not hasattr(m, name)] == []


def commands() -> dict[str, set[str]]:
    """The long options of every command, by its full name."""
    import typer

    from deniable.cli.program import app

    found: dict[str, set[str]] = {}

    def walk(command: Any, name: str) -> None:
        for part, child in getattr(command, "commands", {}).items():
            walk(child, f"{name} {part}")
        if not hasattr(command, "commands"):
            options = [option for each in command.params for option in (*each.opts, *each.secondary_opts)]
            found[name] = {option for option in options if option.startswith("--")}

    walk(typer.main.get_command(app), "deniable")
    return found


def test_every_command_and_option_is_described_and_no_others() -> None:
    page = (DOCS / "reference/cli.md").read_text()
    sections = dict(re.findall(r"^## `(.*?)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    known = commands()
    assert set(sections) == set(known)
    for name, options in known.items():
        described = set(re.findall(r"(?<!-)--[a-z][a-z-]*", sections[name]))
        default_on = {option for option in options if f"--no-{option[2:]}" in options}
        assert described <= options, f"{name} has no such option"
        assert options - default_on <= described, f"{name} has more options"
