"""One question has one report, at however many addresses its collector can be reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import deniable as dn
from deniable.client import Client
from deniable.client.web import site_of
from deniable.wire.keys import WRITE, Key
from deniable.wire.payloads import Payloads, Question
from tests.client.collector import BEFORE, NAME, QUESTION, Collector
from tests.client.test_answering import interrupted

Device = Callable[..., Client]
LATER = dn.mechanism("grr", labels=["walk", "bus", "car", "boat"], epsilon=1.0)


@pytest.fixture
def elsewhere(collector: Collector) -> str:
    """Another address of the same collector."""
    return collector.url.replace("127.0.0.1", "localhost")


def test_an_answer_stays_the_answer_at_its_first_address(collector: Collector, device: Device, elsewhere: str) -> None:
    device().answer("walk")
    moved = device(url=elsewhere).answer("bus")
    collector.questions = [LATER, *collector.questions]
    again = device().answer("car")
    assert again.id == moved.id
    assert device(url=elsewhere).answer("boat").id == moved.id
    for url in (collector.url, elsewhere):
        device(url=url).send(hurry=True)
    assert len(collector.taken) == 1
    assert len(device().ledger()) == 1


def test_an_address_has_one_spelling(store: Path) -> None:
    spec, key = QUESTION, Key.new(WRITE).text
    Client("https://c.example", key, NAME, store=store, spec=spec).consent(True)
    for number, url in enumerate(("https://C.example:443", "HTTPS://c.example/", "https://c.example:443//")):
        client = Client(url, key, NAME, store=store, spec=spec)
        assert client.consent()
        assert client.answer(["walk", "bus", "car"][number]).id == client.ledger()[0].id
    assert client.spent() == QUESTION.guarantee().epsilon
    assert not Client("https://c.example:8443", key, NAME, store=store, spec=spec).consent()
    assert site_of("http://[::1]:80") == site_of("http://[::1]/") == "http://[::1]"


def test_an_answer_given_offline_stays_the_answer_offline(collector: Collector, device: Device, store: Path) -> None:
    def offline(question: Question) -> Client:
        client = Client(None, None, NAME, store=store, spec=question, delay=0.0)
        client.consent(True)
        return client

    first = offline(collector.questions[0]).answer("walk")
    assert device().send(hurry=True).sent == 1
    assert offline(LATER).answer("boat").id == first.id
    assert len(device().ledger()) == 1


def test_a_report_that_may_have_arrived_stays_at_its_address(
    collector: Collector, device: Device, elsewhere: str
) -> None:
    here, there = device(), device(url=elsewhere)
    here.answer("walk")
    collector.faults.append(BEFORE)
    assert here.send().sent == 0
    there.answer("walk")
    assert there.send(hurry=True).sent == 0
    assert here.send(wait=5).sent == 1


def test_an_interrupted_answer_is_finished_at_another_address(
    collector: Collector, device: Device, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Payloads, "made", interrupted)
        with pytest.raises(KeyboardInterrupt):
            device().answer("walk")
    there = device(url=elsewhere)
    made = there.answer("walk")
    assert device().answer("walk").id == made.id
    assert there.send(hurry=True).sent == 1
    assert there.spent() == collector.questions[0].guarantee().epsilon


def test_forgetting_at_another_address_forgets_the_answer(device: Device, elsewhere: str) -> None:
    here, there = device(), device(url=elsewhere)
    here.answer("walk")
    there.answer("walk")
    there.forget()
    assert here.answer("walk").state == there.answer("walk").state == "forgotten"
    assert here.send(hurry=True).sent == 0
