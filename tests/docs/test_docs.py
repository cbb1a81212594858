"""The documents say what the code does: snippets run, tables are computed, names and links exist."""

from __future__ import annotations

import doctest
import importlib.util
import math
import os
import re
import shlex
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from markdown.extensions.toc import slugify

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism, PureMechanism
from deniable.randomness.keystream import Keystream
from tests import ROOT
from tests.contract import cases

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
EXECUTED = [ROOT / "README.md", *PAGES]
ALL = [*EXECUTED, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
LANGUAGES = {"python", "pycon", "console", "text"}

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line it starts at."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(match["language"], textwrap.dedent(match["body"]), text.count("\n", 0, match.start("body")))
        for match in _FENCE.finditer(text)
    ]


# Snippets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [page for page in EXECUTED if blocks(page)], ids=name_of)
def test_snippets_of_a_page_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "snippet"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for block in blocks(page):
            where = f"{name_of(page)}:{block.line}"
            if block.language == "python":
                exec(compile("\n" * block.line + block.text, name_of(page), "exec"), namespace)
            elif block.language == "pycon":
                run_session(block.text, namespace, where)
            elif block.language == "console":
                run_commands(block.text, where)


def run_session(text: str, namespace: dict[str, Any], where: str) -> None:
    session = doctest.DocTestParser().get_doctest(text, namespace, where, where, 0)
    complaints: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(session, out=complaints.append, clear_globs=False)
    assert result.attempted, f"{where}: there is no >>> in this block"
    assert not result.failed, "".join(complaints)
    namespace.update(session.globs)


def run_commands(text: str, where: str) -> None:
    from deniable.cli import main
    from deniable.cli.running import run_program
    from papers.__main__ import app as papers

    for line in text.splitlines():
        assert line.startswith("$ "), f"{where}: {line!r} is not a command"
        words = shlex.split(line.removeprefix("$ "))
        if words[0] == "deniable":
            assert main(words[1:]) == 0, f"{where}: {line}"
        elif words[:3] == ["python", "-m", "papers"]:
            assert run_program(papers, "papers", words[3:]) == 0, f"{where}: {line}"
        else:
            subprocess.run(line.removeprefix("$ "), shell=True, check=True)


@pytest.mark.parametrize("page", EXECUTED, ids=name_of)
def test_no_snippet_escapes_the_runner(page: Path) -> None:
    text, found = page.read_text(), blocks(page)
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == 2 * len(found)
    assert {block.language for block in found} <= LANGUAGES
    sessions = sum(block.text.count(">>> ") for block in found if block.language == "pycon")
    assert text.count(">>> ") == sessions


def test_a_wrong_snippet_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_session(">>> 1 + 1\n3\n", {}, "here")
    with pytest.raises(AssertionError, match="nonsense"):
        run_commands(f"$ deniable nonsense {tmp_path}", "here")


# Tables --------------------------------------------------------------------------------------------


def rows(page: str) -> Iterator[list[str]]:
    """The cells of every table row of a page."""
    for line in (DOCS / page).read_text().splitlines():
        if line.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_every_mechanism_has_a_row_and_a_page() -> None:
    overview = {row[0]: row for row in rows("mechanisms/index.md") if len(row) == 7 and row[0].startswith("[")}
    assert set(overview) == {f"[`{name}`]({name}.md)" for name in dn.list_mechanisms()}
    assert all(all(row) for row in overview.values()), "a cell is empty"
    for name in dn.list_mechanisms():
        assert (DOCS / "mechanisms" / f"{name}.md").read_text().startswith(f"# {name}")


def test_the_numbers_of_mechanisms_are_computed() -> None:
    found = [row for row in rows("mechanisms/index.md") if row[0].startswith("`")]
    assert {row[0].strip("`") for row in found} == set(dn.list_mechanisms())
    n = 1_000_000
    for row in found:
        m = cases.of(row[0].strip("`")).sized(int(row[1]), epsilon=1.0)
        error = n * m.variance(0.0, n) ** 0.5
        pure = [f"{float(m.channel.p):.5f}", f"{float(m.channel.q):.5f}"] if isinstance(m, PureMechanism) else ["", ""]
        assert row[2:] == [*pure, f"{error:,.0f}", str(m.report_bits), f"{float(m.reconstruction_rate()):.4f}"]


def test_the_table_of_odds_is_computed() -> None:
    found = {row[0]: row[1:] for row in rows("threat-model.md") if re.fullmatch(r"[\d.]+", row[0])}
    assert set(found) == {"0.5", "1", "2", "4"}
    for epsilon, (factor, *after) in found.items():
        odds = math.exp(float(epsilon))
        assert factor == f"{odds:.3g}"
        for before, share in zip((0.5, 0.1, 0.01), after, strict=True):
            exact = 100 * before * odds / (1 - before + before * odds)
            assert share == (f"{exact:.1f}%" if exact < 10 else f"{exact:.0f}%")


def test_the_worked_example_of_randomness_is_what_happens() -> None:
    keystream = Keystream(bytes(range(32)))
    first, second = (keystream.stream(number).words(8).tolist() for number in (0, 1))
    words = {row[0]: row[1:] for row in rows("randomness.md") if len(row) == 3 and row[0].isdigit()}
    assert {j: row[0].strip("`") for j, row in words.items()} == {str(j): f"{w:016x}" for j, w in enumerate(first)}
    assert [row[1].strip("`") for row in words.values() if row[1]] == [f"{w:016x}" for w in second[:2]]

    m = dn.mechanism("grr", k=10, epsilon=1.0)
    sent = m.payloads(np.array([3, 3, 3, 3]), keystream).tolist()
    example = [row for row in rows("randomness.md") if len(row) == 6 and row[0].isdigit()]
    assert len(example) == 4
    for i, row in enumerate(example):
        coin, draw = first[2 * i : 2 * i + 2]
        said = "yes" if coin < m.thresholds["truth"] else "no"
        assert row == [str(i), f"`{coin:016x}`", said, f"`{draw:016x}`", str(draw * 10 >> 64), str(sent[i])]


def load(script: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{Path(script).stem}", DOCS / script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_published_coverage_is_what_the_script_measures() -> None:
    script = load("measure_coverage.py")
    published = script.PAGE.read_text().partition(script.START)[2].partition(script.END)[0]
    titles = re.findall(r"^\*\*(.*?)\*\*", published, re.MULTILINE)
    assert titles == [setting.title for setting in script.SETTINGS]
    runs, setting = 200, script.SETTINGS[0]
    measured = script.measure(setting, runs)
    found = [line.strip("|").split("|") for line in published.partition(f"**{setting.title}**")[2].splitlines()[4:14]]
    assert {(row[0].strip(), row[1].strip()) for row in found} == {(target, method) for target, method, _ in measured}
    for row in found:
        target, method = row[0].strip(), row[1].strip()
        for exact, (mean, at_once) in ((False, (row[3], row[5])), (True, (row[6], row[8]))):
            now_mean, _, now_at_once = measured[target, method, exact].shares()
            # six standard errors of the small run; those of a mean over values are smaller than those of one value
            allowed = 6 * math.sqrt(0.05 * 0.95 / runs)
            assert abs(float(mean) / 100 - now_mean) < allowed / 3
            assert abs(float(at_once) / 100 - now_at_once) < allowed


@pytest.mark.parametrize(
    ("script", "name"), [("make_picture.py", "demo.png"), ("make_federated_picture.py", "federated.png")]
)
def test_a_picture_can_be_drawn_again(script: str, name: str, tmp_path: Path) -> None:
    load(script).main(tmp_path / name)
    for path in (tmp_path / name, DOCS / "assets" / name):
        assert path.read_bytes().startswith(b"\x89PNG")
    assert size_of(tmp_path / name) == size_of(DOCS / "assets" / name)


def test_biases_stay_and_unbiased_errors_fall_with_the_root_of_the_number_of_parties() -> None:
    script = load("make_federated_picture.py")
    script.REPEATS = 20
    counts = np.random.default_rng(2).poisson(3, (script.PARTIES, 20))
    found = script.errors(
        lambda noisy: dn.debias(np.square, noisy, reduce="sum", axis=1), counts, 1, (counts**2).sum(axis=1)
    )
    first = int(np.flatnonzero(script.STEPS >= 100)[0])
    shrinks = found["unbiased"][first] / found["unbiased"][-1] / math.sqrt(script.STEPS[-1] / script.STEPS[first])
    assert 0.5 < shrinks < 2
    # the bias of x^2 is 2a at every count
    bias = 2 * float(dn.DiscreteLaplace(1.0).a) * counts.size / (counts**2).sum()
    assert found["naive"][-1] == pytest.approx(bias, rel=0.05)


def size_of(picture: Path) -> tuple[int, int]:
    header = picture.read_bytes()[16:24]
    return int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")


# Reference -----------------------------------------------------------------------------------------


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


# Contributing --------------------------------------------------------------------------------------


def test_contributing_names_all_that_a_mechanism_must_write() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    required = Mechanism.__abstractmethods__ | PureMechanism.__abstractmethods__
    assert [name for name in required if not re.search(rf"`{name}\b", guide)] == []
    rows_of_guide = [line for line in guide.splitlines() if line.startswith("   | `")]
    named = re.findall(r"`(\w+)", " ".join(line.split("|")[1] for line in rows_of_guide))
    assert [name for name in named if not hasattr(dn.RandomizedResponse, name)] == []


def test_files_and_targets_named_in_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ALL:
        text = page.read_text()
        assert set(re.findall(r"`make ([a-z]+)`", text)) <= targets, page
        named = re.findall(r"`((?:tests|docs|vectors|benchmarks|changelog\.d)/[\w./-]*)`", text)
        assert [path for path in named if not (ROOT / path).exists()] == [], page


def test_readme_opens_with_two_commands_of_the_makefile() -> None:
    opening = (ROOT / "README.md").read_text().split("\n\n")[1]
    shown = re.findall(r"^    make ([a-z]+)", opening, re.MULTILINE)
    assert shown == ["demo", "test"]
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(shown) <= set(targets)


# Links and navigation ------------------------------------------------------------------------------


def links(page: Path) -> list[str]:
    prose = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text()))
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
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


# The built site ------------------------------------------------------------------------------------


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
