"""Every public name, member, command and option is described, and no others."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import pytest

import deniable as dn
from tests.contract import cases
from tests.docs.pages import DOCS, rows


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
        own = name if not name.startswith("deniable ask") else "deniable ask"  # one section for all questions
        if own != name or not hasattr(command, "commands") or name == "deniable ask":
            options = [option for each in command.params for option in (*each.opts, *each.secondary_opts)]
            found.setdefault(own, set()).update(option for option in options if option.startswith("--"))
        for part, child in getattr(command, "commands", {}).items():
            walk(child, f"{name} {part}")

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


def test_every_estimation_method_is_described() -> None:
    shared = {name for row in rows("methods.md") for name in re.findall(r"`([\w-]+)`", row[0])}
    for name in dn.list_mechanisms():
        page = (DOCS / "mechanisms" / f"{name}.md").read_text() + (DOCS / "estimation.md").read_text()
        methods = cases.of(name).one().methods
        assert [method for method in methods if method not in shared and f"`{method}`" not in page] == []


def test_every_question_is_described() -> None:
    described = {row[0].strip("`").partition("(")[0] for row in rows("questions.md") if row[0].startswith("`")}
    assert described == set(dn.ask.__all__) - {"QUESTIONS", "Parameter", "Question", "question"}


def test_what_many_parties_add_up_is_what_the_code_adds() -> None:
    summed, averaged = [
        set(re.findall(r"`([\w-]+)`", row[0])) for row in rows("federated.md") if row[0].startswith("`")
    ]
    assert summed == {each.name for each in dn.ask.QUESTIONS if each.parties == "sum"}
    assert averaged == {each.name for each in dn.ask.QUESTIONS if each.parties == "mean"}


def test_every_signature_is_that_of_the_code() -> None:
    page = (DOCS / "reference/python.md").read_text()
    assert re.findall(r"^### .*\(", page, re.MULTILINE) == []  # a signature stands below its heading, which is a name
    signatures = re.findall(r"^### `(\w+)`\n\n`(\1\(.*\))`$", page, re.MULTILINE)
    assert len(signatures) > 30
    for name, written in signatures:
        parameters = inspect.signature(getattr(dn, name)).parameters.values()
        bare = inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters])
        assert spelled(written) == spelled(f"{name}{bare}")


def spelled(signature: str) -> str:
    """A signature in one spelling, defaults included."""
    function = ast.parse(f"def {signature}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    return ast.unparse(function.args)
