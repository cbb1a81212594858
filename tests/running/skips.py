"""In CI nothing is skipped in silence: a skip is a failure there, unless the test is marked `may_skip`.

A test that needs what a machine may lack is skipped elsewhere; a CI that lacks it would be green without having run it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest


def in_ci() -> bool:
    """Whether the run must not skip: CI is set, as all services do."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def refuse(report: Any) -> None:
    """Make a skipped report a failed one, which still says why it was skipped."""
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome, report.longrepr = "failed", f"{why} (in CI a skip is a failure, unless marked may_skip)"


class NoSkips:
    """Turns skips of tests and of whole files into failures."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        report: Any = yield
        if report.skipped and item.get_closest_marker("may_skip") is None:
            refuse(report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Iterator[None]:
        report: Any = yield
        if report.skipped:
            refuse(report)
        return report
