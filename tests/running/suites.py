"""How much time each suite may take, and a table at the end of a run that says how much it took.

Seconds of processor time, of the tests and the programs they start: other work on the machine does not count. It is a
report, nothing fails for being slow.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

# A suite is a folder of tests/, or the doctests of a package. Together: ten minutes on two cores.
BUDGETS = {
    "papers": 2,
    "src": 2,
    "tests": 8,  # the files directly in it
    "tests/auditing": 70,
    "tests/benchmarks": 3,
    "tests/browser": 60,  # starts Chromium
    "tests/cards": 24,
    "tests/cli": 66,
    "tests/clients": 40,  # starts Node
    "tests/client": 30,  # kills processes and starts servers
    "tests/collector": 90,  # starts databases and servers
    "tests/contract": 195,
    "tests/core": 8,
    "tests/counts": 64,
    "tests/derived": 16,
    "tests/docs": 48,
    "tests/engines": 150,  # starts a cluster
    "tests/estimation": 68,
    "tests/grouping": 10,
    "tests/heavy_hitters": 16,
    "tests/hostile": 24,
    "tests/kernels": 25,
    "tests/mechanisms": 76,
    "tests/papers": 22,
    "tests/planning": 34,
    "tests/randomness": 12,
    "tests/running": 2,
    "tests/tools": 7,
}


def suite_of(nodeid: str) -> str:
    """The suite of a test: tests/<folder>, or the first folder of its path."""
    folders = nodeid.partition("::")[0].split("/")[:-1]
    return "/".join(folders[:2] if folders[:1] == ["tests"] else folders[:1])


def processor_time() -> float:
    """Seconds that this process, and those it started and waited for, have computed."""
    return sum(os.times()[:4])


def table(spent: dict[str, float]) -> list[str]:
    """A line for each suite that ran, the longest first, and their sum."""
    lines = [f"{'seconds':>8} {'budget':>8}  suite"]
    for suite, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        budget = BUDGETS.get(suite)
        note = (
            "" if budget is not None and seconds <= budget else "  <- over its budget" if budget else "  <- no budget"
        )
        lines.append(f"{seconds:8.1f} {budget or '-':>8}  {suite}{note}")
    return [*lines, f"{sum(spent.values()):8.1f} {sum(BUDGETS.get(suite, 0) for suite in spent):8}  all of these"]


class SuiteTimes:
    """Measures each test where it runs, and adds up where the reports of all workers arrive."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._before = 0.0

    def pytest_runtest_logstart(self) -> None:
        self._before = processor_time()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report: Any = yield
        now = processor_time()
        report.processor_time, self._before = now - self._before, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.spent[suite_of(report.nodeid)] += getattr(report, "processor_time", 0.0)

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        if config.getoption("durations") is not None and self.spent:  # who asks for durations wants to see this too
            terminalreporter.section("processor time of the suites")
            for line in table(self.spent):
                terminalreporter.write_line(line, yellow="<-" in line)
