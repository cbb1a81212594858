"""Figures of long tests are shown at the end of a run."""

from __future__ import annotations

import pytest

from tests.running.figures import Figures


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
