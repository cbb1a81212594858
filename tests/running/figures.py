"""What long tests measured, in a section at the end of a run: a test says it by `record_property("figure", ...)`."""

from __future__ import annotations

from typing import Any

import pytest

FIGURE = "figure"


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
