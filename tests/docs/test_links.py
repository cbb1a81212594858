"""Links lead somewhere, and every page is in the navigation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown.extensions.toc import slugify

import deniable as dn
from tests import ROOT
from tests.docs.pages import ALL, DOCS, FENCE, PAGES, links, name_of


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {slugify(heading.replace("`", ""), "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in ALL if links(page)], ids=name_of)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{link}: there is no such heading"


def test_every_page_is_in_the_navigation_once() -> None:
    def listed(entries: Any) -> Iterator[str]:
        for entry in entries:
            if isinstance(entry, str):
                yield entry
            else:
                for children in entry.values():
                    yield from listed(children)

    pages = list(listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert sorted(pages) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


def test_every_decision_says_what_why_and_what_else_and_is_listed() -> None:
    decisions = [page for page in (DOCS / "decisions").glob("*.md") if page.name != "index.md"]
    assert decisions
    assert set(links(DOCS / "decisions/index.md")) == {page.name for page in decisions}
    for page in decisions:
        assert re.findall(r"^\*\*(.*?)\.\*\*", page.read_text(), re.MULTILINE) == [
            "What",
            "Why",
            "What else was considered",
        ], page


def test_every_mechanism_has_a_page_with_its_name_and_no_other_has() -> None:
    pages = {page.stem: page.read_text() for page in (DOCS / "mechanisms").glob("*.md") if page.stem != "index"}
    assert sorted(pages) == dn.list_mechanisms()
    assert [name for name, text in pages.items() if f"\n# {name}: " not in text] == []
