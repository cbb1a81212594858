"""A skip fails in CI and nowhere else."""

from __future__ import annotations

import pytest

SKIPPED = """
    import pytest

    def test_that_runs():
        pass

    @pytest.mark.skipif(True, reason="no database here")
    def test_with_a_mark():
        pass

    @pytest.fixture
    def browser():
        pytest.skip("no browser here")

    def test_with_a_fixture(browser):
        pass

    def test_inside():
        pytest.skip("no cluster here")

    @pytest.mark.parametrize("number", [])
    def test_of_nothing(number):
        pass

    @pytest.mark.may_skip
    def test_that_may():
        pytest.skip("not on this system")
"""


@pytest.fixture
def sheltered(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with tests that are skipped, and this suite's rule."""
    pytester.makeini("[pytest]\nmarkers = may_skip: also in CI")
    pytester.makeconftest(
        "from tests.running import skips\n"
        "def pytest_configure(config):\n    if skips.in_ci():\n        config.pluginmanager.register(skips.NoSkips())\n"
    )
    pytester.makepyfile(SKIPPED)
    return pytester


@pytest.mark.parametrize("ci", ["true", "1"])
def test_a_skip_fails_in_ci_and_says_why(sheltered: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str) -> None:
    monkeypatch.setenv("CI", ci)
    result = sheltered.runpytest_inprocess("-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1, failed=1, errors=3, skipped=1)
    for reason in ("no database here", "no browser here", "no cluster here", "got empty parameter set"):
        result.stdout.fnmatch_lines(f"*{reason}*in CI a skip is a failure*")


@pytest.mark.parametrize("ci", ["", "false"])
def test_elsewhere_a_skip_is_a_skip(sheltered: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str) -> None:
    monkeypatch.setenv("CI", ci)
    sheltered.runpytest_inprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1, skipped=5)


def test_a_file_that_skips_itself_fails_too(sheltered: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    sheltered.makepyfile(test_whole="import pytest\n\npytest.importorskip('no_such_module')\n")
    sheltered.runpytest_inprocess("-p", "no:hypothesispytest", "test_whole.py").assert_outcomes(errors=1)
