"""What long tests measured, in a section at the end of a run: a test says it by `record_property("figure", ...)`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

FIGURE = "figure"
Record = Callable[[str, object], None]  # the fixture `record_property`


def pace(number: int, start: float) -> str:
    """So many since this reading of time.monotonic, in words."""
    return f"{number:,} in {time.monotonic() - start:,.0f} s ({number / (time.monotonic() - start):,.1f}/s)"


class Figures:
    """Collects the figures where the reports of all workers arrive."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.found += [str(text) for name, text in report.user_properties if name == FIGURE]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.found:
            terminalreporter.section("figures")
            for line in self.found:
                terminalreporter.write_line(line)
