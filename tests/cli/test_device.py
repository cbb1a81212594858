"""`deniable device`: a question is answered once, and what was spent and sent can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import deniable as dn
from deniable.wire.forms import Segment
from tests.cli.command import check_refusal, run, succeed
from tests.client.collector import BEFORE, NAME, QUESTION, Collector, serving

NOBODY = ("--url", "http://127.0.0.1:9", "--key", "x")  # who is never asked


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with serving(Collector()) as started:
        monkeypatch.setenv("DENIABLE_URL", started.url)
        monkeypatch.setenv("DENIABLE_KEY", started.key.text)
        yield started


@pytest.fixture
def where(tmp_path: Path) -> list[object]:
    return ["--collection", NAME, "--store", tmp_path / "answers.sqlite"]


def test_an_answer_is_given_once_and_sent(collector: Collector, where: list[object]) -> None:
    said = succeed("device", "answer", "walk", "--consent", "--delay", 0, *where)
    assert said == "Your answer has been delivered.\n"
    again = json.loads(succeed("device", "answer", "-", "--json", *where, stdin=b"bus\n"))
    assert again["state"] == "sent"
    assert [report_id.hex() for _, report_id in collector.taken] == [again["id"]]
    listed = json.loads(succeed("device", "status", "--store", where[-1], "--json"))
    assert listed["spent"] == QUESTION.guarantee().epsilon
    assert [each["id"] for each in listed["answers"]] == [again["id"]]


def test_an_answer_needs_consent(collector: Collector, where: list[object]) -> None:
    check_refusal(run("device", "answer", "walk", *where), "has not agreed to answer 'commute'")
    assert not collector.requests


def test_an_answer_that_waits_is_sent_later(collector: Collector, where: list[object]) -> None:
    assert "will be sent later" in succeed("device", "answer", "walk", "--consent", *where)
    assert succeed("device", "send", *where).startswith("sent 0, given up 0, withdrawn 0; the rest waits")
    collector.faults.append(BEFORE)
    assert "unreachable" in succeed("device", "send", "--now", *where)
    assert json.loads(succeed("device", "send", "--now", "--json", *where))["sent"] == 1
    assert succeed("device", "send", *where) == "sent 0, given up 0, withdrawn 0; nothing waits\n"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("unknown-key", "deniable: the key was never made, or was revoked (unknown-key)\n"),
        ("closed", "deniable: the collection is closed (closed)\n"),
        (BEFORE, "deniable: unreachable"),
    ],
)
def test_why_an_answer_was_not_sent_is_said_apart_from_the_sentence(
    collector: Collector, where: list[object], fault: str, told: str
) -> None:
    collector.faults.extend([None, fault])  # the form is given
    outcome = run("device", "answer", "walk", "--consent", "--delay", 0, *where)
    assert outcome.code == 0
    assert outcome.out.startswith("Your answer is ")
    assert outcome.err.startswith(told)
    assert outcome.err.count("\n") == 1
    again = run("device", "answer", "walk", "--json", *where)
    assert again.err == ""
    assert json.loads(again.out)["reason"] in outcome.err


def test_status_lists_and_explains(collector: Collector, where: list[object]) -> None:
    succeed("device", "answer", "walk", "--consent", *where)
    assert succeed("device", "status", "--store", where[-1]) == "commute: waiting, epsilon 1\nepsilon spent: 1\n"
    assert "a factor of at most 2.72" in succeed("device", "status", "--store", where[-1], "--explain")
    assert "the exact law of the odds" in succeed("device", "status", "--store", where[-1], "--delta", 1e-6)
    listed = json.loads(succeed("device", "status", "--store", where[-1], "--delta", 1e-6, "--json"))
    assert listed["composed"]["basic"] == listed["spent"]
    check_refusal(run("device", "status", "--store", where[-1], "--delta", 2), "delta must be")
    found = json.loads(succeed("device", "status", "--store", where[-1], "--explain", "--json"))
    assert found["answers"][0]["odds"] == pytest.approx(2.718, abs=1e-3)
    assert collector.requests.total() == 1


def test_an_answer_is_forgotten(collector: Collector, where: list[object]) -> None:
    succeed("device", "answer", "walk", "--consent", "--delay", 0, *where)
    assert succeed("device", "forget", *where) == "Your answer is forgotten: it was deleted, and not counted.\n"
    assert len(collector.deleted) == 1
    other = ["--collection", "other", *where[2:]]
    check_refusal(run("device", "forget", *other), "other was not answered from here")


@pytest.mark.parametrize("value", [("New", "SeCreT"), ("-SeCreT",), ("walk", "-7777")])
def test_parts_of_an_answer_that_are_taken_for_something_else_are_not_quoted(
    value: tuple[str, ...], where: list[object]
) -> None:
    outcome = run("device", "answer", *value, "--consent", *NOBODY, *where)
    check_refusal(outcome, "VALUE must be one argument that does not begin with -. Put it in quotes")
    assert not any(part in outcome.err for part in ("SeCreT", "-S", "7777"))


def test_a_misspelt_option_of_an_answer_is_named(where: list[object]) -> None:
    check_refusal(run("device", "answer", "walk", "--consnet", *NOBODY, *where), "No such option: --consnet")
    check_refusal(run("device", "answer", "walk", "--cap", "much", *NOBODY, *where), "Invalid value for '--cap'")


def test_numbers_are_answered_as_numbers(collector: Collector, where: list[object]) -> None:
    collector.questions = [dn.mechanism("grr", domain=dn.Domain.integers(1, 5), epsilon=1.0)]
    assert "delivered" in succeed("device", "answer", 5, "--consent", "--delay", 0, *where)
    assert len(collector.taken) == 1


def test_a_spec_pin_and_segments_can_be_given(collector: Collector, where: list[object], tmp_path: Path) -> None:
    collector.segments = (Segment("version", ("1.0", "2.0")),)
    form = tmp_path / "form.json"
    form.write_text(json.dumps(collector.form()))
    options = ["--spec", form, "--pinned", collector.signed_by, "--segment", "version=2.0"]
    assert "delivered" in succeed("device", "answer", "bus", "--consent", "--delay", 0, *options, *where)
    assert collector.requests == {"POST /v1/reports": 1}
    check_refusal(run("device", "answer", "bus", "--segment", "version", *where), "--segment must be NAME=LABEL")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["helicopter"], "value must be one of the 3 labels"),
        (["walk", "--cap", 0.5], "above cap=0.5"),
        (["walk", "--key", "secret"], "key must be dnw_"),
        (["walk", "--url", "reports.example.org"], "url must be an address"),
        (["walk", "--url", "http://127.0.0.1:9"], "http://127.0.0.1:9 cannot be reached"),
        (["walk", "--pinned", "00"], "neither the key nor the spec that is pinned"),
        (["walk", "--store", "/"], "the store of answers cannot be used"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    collector: Collector, where: list[object], options: list[object], reason: str
) -> None:
    outcome = run("device", "answer", "--consent", *where, *options)
    check_refusal(outcome, reason)
    assert "helicopter" not in outcome.err
    assert not collector.taken


@pytest.mark.parametrize("command", ["send", "forget"])
def test_a_store_that_is_not_there_is_not_made(
    collector: Collector, where: list[object], tmp_path: Path, command: str
) -> None:
    check_refusal(run("device", command, *where), "there is no such file, so nothing was answered")
    check_refusal(run("device", "status", "--store", where[-1]), "there is no such file")
    assert list(tmp_path.iterdir()) == []
    assert not collector.requests
