"""Every suite has a budget, and time is counted in the suite that took it."""

from __future__ import annotations

import pytest

from tests import ROOT
from tests.running import suites

CORES, MINUTES = 2, 9  # what `make test` may take; .ci/run has twenty


@pytest.mark.parametrize(
    ("nodeid", "suite"),
    [
        ("tests/cli/test_errors.py::test_a[x/y::z]", "tests/cli"),
        ("tests/mechanisms/unary/test_a.py::test_b", "tests/mechanisms"),
        ("tests/test_api.py::test_a", "tests"),
        ("src/deniable/core/spec.py::deniable.core.spec", "src"),
        ("papers/frame/rows.py::papers.frame.rows", "papers"),
    ],
)
def test_the_folder_is_the_suite(nodeid: str, suite: str) -> None:
    assert suites.suite_of(nodeid) == suite


def test_every_folder_has_a_budget_and_together_they_fit() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    assert {*map(suites.suite_of, files), "src", "papers"} == set(suites.BUDGETS)
    assert sum(suites.BUDGETS.values()) <= 60 * CORES * MINUTES


def test_the_table_has_the_longest_first_and_marks_what_is_too_long() -> None:
    lines = suites.table({"tests/tools": 1.0, "tests/cli": 9999.0, "tests/new": 2.0})
    assert [line.split()[2] for line in lines] == ["suite", "tests/cli", "tests/new", "tests/tools", "all"]
    assert ["<-" in line for line in lines] == [False, True, True, False, False]
    assert lines[-1].split()[:2] == ["10002.0", str(suites.BUDGETS["tests/cli"] + suites.BUDGETS["tests/tools"])]


@pytest.fixture
def slow(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Two suites, under a clock that runs ten seconds at every look."""
    looks = iter(range(0, 10**6, 10))
    monkeypatch.setattr(suites, "processor_time", lambda: float(next(looks)))
    pytester.makeconftest(
        "from tests.running import suites\n"
        "def pytest_configure(config):\n    config.pluginmanager.register(suites.SuiteTimes())\n"
    )
    files = {
        "tools": "def test_a(): pass\ndef test_b(): pass\n",
        "cli": "import pytest\n@pytest.fixture\ndef broken(): 1 / 0\ndef test_c(broken): pass\n",
    }
    for folder, text in files.items():
        (pytester.path / "tests" / folder).mkdir(parents=True)
        (pytester.path / "tests" / folder / f"test_{folder}.py").write_text(text)
    return pytester


def test_setting_up_and_tearing_down_count_and_nothing_fails_for_being_slow(slow: pytest.Pytester) -> None:
    result = slow.runpytest_inprocess("-p", "no:hypothesispytest", "--durations=1", "tests/tools")
    assert result.ret == 0
    result.stdout.re_match_lines([r" +60\.0 +\d+  tests/tools  <- over its budget", r" +60\.0 +\d+  all of these"])


def test_a_test_that_fails_counts_too(slow: pytest.Pytester) -> None:
    slow.runpytest_inprocess("-p", "no:hypothesispytest", "--durations=1", "tests/cli").stdout.re_match_lines(
        [r" +20\.0 +\d+  tests/cli$"]
    )


def test_the_table_is_shown_to_those_who_ask_for_durations(slow: pytest.Pytester) -> None:
    assert (
        "processor time of the suites"
        not in slow.runpytest_inprocess("-p", "no:hypothesispytest", "tests").stdout.str()
    )
