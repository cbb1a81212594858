"""The built site is complete, loads nothing from another host, and its search works from disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests import ROOT
from tests.docs.pages import DOCS, PAGES


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation, built once and strictly; it must have nothing to complain about."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    return folder


class Loads(HTMLParser):
    """Collects what a page makes the browser load; links to click are not loaded."""

    _ATTRIBUTES = ("src", "srcset", "data", "poster", "background", "xlink:href")
    _LOADED_BY_HREF = ("link", "use", "image", "base")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._raw = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._raw = tag if tag in ("style", "script") else ""
        self.found += [given[name] for name in self._ATTRIBUTES if name in given]
        if tag in self._LOADED_BY_HREF and "href" in given:
            self.found.append(given["href"])
        self.found += in_style(given.get("style", ""))
        assert "mermaid" not in given.get("class", ""), "diagrams would be drawn by a script from another host"

    def handle_data(self, data: str) -> None:
        if self._raw == "style":
            self.found += in_style(data)
        elif self._raw == "script":
            self.found += re.findall(r"https?://[^\"'\s]+", data)

    def handle_endtag(self, tag: str) -> None:
        self._raw = "" if tag == self._raw else self._raw


def in_style(text: str) -> list[str]:
    imported = re.findall(r"@import\s+[\"']([^\"']+)", text)
    return [*imported, *(match[1] for match in re.findall(r"url\(\s*([\"']?)(.*?)\1\s*\)", text))]


def foreign(html: str) -> list[str]:
    parser = Loads()
    parser.feed(html)
    return [url for url in parser.found if is_foreign(url)]


def is_foreign(url: str) -> bool:
    return bool(re.match(r"(?!data:)([a-z][a-z0-9+.-]*:|//)", url.strip(), re.IGNORECASE))


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="http://example/x.png">',
        "<style>@import 'https://example/x.css';</style>",
        '<p style="background: url(https://example/x.png)">',
        '<script>load("https://example/x.js")</script>',
    ],
)
def test_a_page_that_loads_from_another_host_is_noticed(html: str) -> None:
    assert foreign(html)


def test_links_to_click_are_not_mistaken_for_loads() -> None:
    assert foreign('<a href="https://example/page">read</a><img src="assets/x.png"><p style="color: red">') == []


def test_the_site_loads_nothing_from_another_host(site: Path) -> None:
    pages, styles = sorted(site.rglob("*.html")), sorted(site.rglob("*.css"))
    assert len(pages) > len(PAGES)  # all of them, and the page for a wrong address
    assert styles
    assert {page.name: found for page in pages if (found := foreign(page.read_text()))} == {}
    assert {page.name: [url for url in in_style(page.read_text()) if is_foreign(url)] for page in styles} == {
        page.name: [] for page in styles
    }


def test_what_the_site_loads_is_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue  # its addresses start at the root of a server
        parser = Loads()
        parser.feed(page.read_text())
        local = [url.partition("?")[0].partition("#")[0] for url in parser.found if not url.startswith("data:")]
        assert [url for url in local if not (page.parent / url).exists()] == [], page


def test_the_search_works_from_disk(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text()
    assert index.startswith("var __index = ")
    assert all(page.with_suffix(".html").relative_to(DOCS).as_posix() in index for page in PAGES)
    assert "iframe-worker.js" in (site / "index.html").read_text()


def test_formulas_are_drawn_and_none_is_left_as_text(site: Path) -> None:
    pages = {page.relative_to(site).as_posix(): page.read_text() for page in site.rglob("*.html")}
    assert [name for name, html in pages.items() if 'class="formula"' in html or "```formula" in html] == []
    assert pages["mechanisms/index.html"].count("<math") > 60
    assert pages["mechanisms/grr.html"].count("<mfrac>") > 8


def test_a_page_has_a_theme_switch_its_neighbours_and_our_own_icon(site: Path) -> None:
    html = (site / "quickstart.html").read_text()
    assert html.count('name="__palette"') == 3
    assert all(text in html for text in ("md-footer__link--prev", "md-footer__link--next"))
    assert "assets/icon.svg" in html
    assert "assets/logo.svg" in html


def test_no_entry_of_a_table_of_contents_is_a_signature(site: Path) -> None:
    entries = re.findall(r'class="md-nav__link">\s*<span class="md-ellipsis">(.*?)</span>', pages_of(site), re.DOTALL)
    assert len(entries) > 100
    assert [entry for entry in entries if len(re.sub(r"<.*?>|\s+", "", entry)) > 70] == []


def pages_of(site: Path) -> str:
    return "".join(page.read_text() for page in sorted((site / "reference").glob("*.html")))
