"""The demo asks people through a real collector, and leaves nothing behind."""

from __future__ import annotations

import re
import socket
import tempfile
from pathlib import Path

import pytest

from deniable.cli.commands.demo import browser, network
from deniable.cli.commands.demo.screen import program
from tests.cli.command import run, succeed

PEOPLE = 4_000


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files, to see what is left in it; and a small demo."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(network, "PEOPLE", PEOPLE)
    return tmp_path


def test_the_answer_stands_beside_the_truth_and_nothing_is_left(temporary: Path) -> None:
    out = succeed("demo", "--users", 1000, "--epsilon", 1, "--no-pictures", "--collector", "--out", temporary / "out")
    assert f"{PEOPLE:,} reports arrived" in out
    # each of 50 intervals misses the truth once in 20 times: more than 20 misses have a chance below 1e-9
    assert int(re.findall(r"(\d+) of 50 intervals hold the truth", out)[0]) >= 30
    assert len(re.findall(r"holds it|misses it", out)) == 12
    assert ("5 of the people answered on the page" if program() else "nobody answered in a browser") in out
    assert [path.name for path in temporary.iterdir()] == ["out"]
    port = int(re.findall(r"http://127\.0\.0\.1:(\d+)", out)[0])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_it_can_stay_until_somebody_stops_it(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visited: list[str] = []

    class Visitor:
        def wait(self) -> None:
            visited.extend(path.name for path in temporary.iterdir())
            raise KeyboardInterrupt

    monkeypatch.setattr("deniable.cli.commands.demo.Event", Visitor)
    outcome = run("demo", "--serve")
    assert outcome.code == 0, outcome.err
    assert len(visited) == 1  # the folder of the collector
    assert list(temporary.iterdir()) == []
    assert {"dnw", "dnr", "dna"} == set(re.findall(r"(dn[wra])_[\w-]{22}$", outcome.out, re.MULTILINE))
    assert re.search(r"^dashboard +http://127\.0\.0\.1:\d+/#/key\?key=dnr_[\w-]{22}&to=", outcome.out, re.MULTILINE)


@pytest.mark.parametrize("path", [None, "/bin/false"])
def test_without_a_browser_that_works_nobody_answers_in_one(path: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "program", lambda: path)
    assert browser.answer_all([browser.Answering("http://127.0.0.1:9/", "walk")]) == 0
