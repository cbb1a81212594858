"""The documents as the tests read them: their pages, fenced blocks, tables and links."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
EXECUTED = [ROOT / "README.md", *PAGES]
ALL = [*EXECUTED, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
LANGUAGES = {"python", "pycon", "console", "text", "markdown", "formula", "javascript", "typescript", "html"}

FENCE = re.compile(
    r"""^(?P<indent>\ *)(?P<ticks>`{3,})(?P<language>\w*)(?:\ title="(?P<title>[^"\n]+)")?\n
        (?P<body>.*?)
        ^(?P=indent)(?P=ticks)$""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class Block(NamedTuple):
    """A fenced block: its language, its text, the line it starts at, and the file that it shows if it has a title."""

    language: str
    text: str
    line: int
    title: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(
            match["language"],
            textwrap.dedent(match["body"]),
            text.count("\n", 0, match.start("body")),
            match["title"] or "",
        )
        for match in FENCE.finditer(text)
    ]


def rows(page: str) -> Iterator[list[str]]:
    """The cells of every table row of a page."""
    for line in (DOCS / page).read_text().splitlines():
        if line.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def links(page: Path) -> list[str]:
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def load(script: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{Path(script).stem}", DOCS / script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module
