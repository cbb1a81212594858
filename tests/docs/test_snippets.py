"""The snippets of every page run, in order, and none escapes."""

from __future__ import annotations

import doctest
import shlex
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from tests.docs.pages import EXECUTED, FENCE, LANGUAGES, blocks, name_of


@pytest.mark.parametrize("page", [page for page in EXECUTED if blocks(page)], ids=name_of)
def test_snippets_of_a_page_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "snippet"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dn.WeakPrivacy)  # pages show what any epsilon gives
        for block in blocks(page):
            if block.title:
                continue  # a file, which the test of its page puts into place
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
    found = blocks(page)
    prose = FENCE.sub("", page.read_text())
    assert "```" not in prose
    assert ">>> " not in prose
    assert {block.language for block in found} <= LANGUAGES
    assert [
        block.line for block in found if ">>> " in block.text and block.language != "pycon" and not block.title
    ] == []
    assert {name_of(page) for block in found if block.title} <= {"docs/adding-a-mechanism.md"}


def test_a_wrong_snippet_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_session(">>> 1 + 1\n3\n", {}, "here")
    with pytest.raises(AssertionError, match="nonsense"):
        run_commands(f"$ deniable nonsense {tmp_path}", "here")
