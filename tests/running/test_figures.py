"""Figures of long tests are shown at the end of a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests import ROOT
from tests.running.figures import FIGURE, Figures


def test_figures_are_shown_in_a_section_of_their_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_kills(record_property):
            record_property("figure", "7 kills: 0 lost")
            record_property("other", "nobody looks at this")
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[Figures()])
    result.stdout.fnmatch_lines(["*= figures =*", "7 kills: 0 lost"])
    result.stdout.no_fnmatch_line("*nobody looks*")


def test_a_run_without_figures_has_no_such_section(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[Figures()]).stdout.no_fnmatch_line("*= figures =*")


def long_tests(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The tests of a file that are marked `soak`, by themselves or with the whole file."""
    of_all = any(isinstance(each, ast.Assign) and "pytest.mark.soak" in ast.unparse(each) for each in tree.body)
    for each in tree.body:
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_"):
            marks = [ast.unparse(mark) for mark in each.decorator_list]
            if of_all or "pytest.mark.soak" in marks:
                yield each


def test_every_long_test_says_what_it_measured() -> None:
    found = {
        f"{path.name}: {test.name}": f"record_property('{FIGURE}', " in ast.unparse(test)
        for path in (ROOT / "tests").rglob("test_*.py")
        for test in long_tests(ast.parse(path.read_text()))
    }
    assert len(found) > 15
    assert [name for name, says in found.items() if not says] == []
