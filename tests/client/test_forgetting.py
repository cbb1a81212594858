"""Forgetting erases what is not sent, asks for the rest to be deleted, and gives no epsilon back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import deniable as dn
from deniable.client import Client
from deniable.client.outbox import Outbox
from deniable.client.store import Store
from deniable.wire.payloads import Payloads
from tests.client.collector import AFTER, BEFORE, NAME, QUESTION, Collector
from tests.client.test_answering import interrupted

Device = Callable[..., Client]


def state_of(client: Client) -> tuple[str, str]:
    entry = client.entry()
    assert entry is not None
    return entry.state, entry.reason


def sentence_of(client: Client) -> str:
    entry = client.entry()
    assert entry is not None
    return entry.sentence


def test_what_is_not_sent_is_erased(collector: Collector, device: Device, store: Path) -> None:
    collector.questions = [dn.mechanism("oue", k=500, epsilon=1.0)]
    client = device()
    payload, paid = client.answer(7).payload, client.spent()
    assert payload in store.read_bytes()
    client.forget()
    assert payload not in store.read_bytes()
    assert state_of(client) == ("forgotten", "")
    assert client.send(hurry=True).sent == 0
    assert collector.requests.total() == 1  # the form
    assert client.spent() == paid


def test_a_forgotten_question_is_not_answered_again(device: Device) -> None:
    client = device()
    client.answer("walk")
    client.forget()
    again = client.answer("walk")
    assert (again.state, again.payload) == ("forgotten", b"")
    assert len(client.ledger()) == 1


def test_what_was_sent_is_deleted_by_the_collector(collector: Collector, device: Device) -> None:
    client = device()
    entry = client.answer("walk")
    client.send()
    client.forget()
    assert collector.deleted == [entry.id]
    assert not collector.taken
    assert state_of(client) == ("forgotten", "deleted")


def test_what_was_counted_stays_counted_and_is_shown_so(collector: Collector, device: Device) -> None:
    client = device()
    collector.counted.add(client.answer("walk").id)
    client.send()
    client.forget()
    assert len(collector.taken) == 1
    assert state_of(client) == ("forgotten", "counted")


def test_a_report_whose_thanks_were_lost_is_deleted_too(collector: Collector, device: Device) -> None:
    client = device()
    client.answer("walk")
    collector.faults.append(AFTER)
    client.send()
    assert len(collector.taken) == 1
    client.forget()
    client.send(hurry=True)
    assert not collector.taken
    assert state_of(client) == ("forgotten", "deleted")


def test_a_report_that_never_arrived_leaves_nothing_to_delete(collector: Collector, device: Device) -> None:
    client = device()
    client.answer("walk")
    collector.faults.append(BEFORE)
    client.send()
    client.forget()
    client.send(hurry=True)
    assert state_of(client) == ("forgotten", "no-such-report")


@pytest.mark.parametrize("kind", ["closed", "too-old"])
def test_what_was_lost_before_it_was_refused_is_deleted_too(collector: Collector, device: Device, kind: str) -> None:
    client = device()
    client.answer("walk")
    collector.faults.extend([AFTER, kind])
    client.send()
    client.send(hurry=True)
    assert state_of(client) == ("expired" if kind == "too-old" else "refused", kind)
    assert "may have been counted" in sentence_of(client)
    assert "may have been counted" in str(client.explain())
    client.forget()
    client.send(hurry=True)
    assert not collector.taken
    assert state_of(client) == ("forgotten", "deleted")
    assert "not counted" in sentence_of(client)


@pytest.mark.parametrize("kind", ["closed", "too-old"])
def test_what_was_refused_at_once_was_not_counted(collector: Collector, device: Device, kind: str) -> None:
    client = device()
    client.answer("walk")
    collector.faults.extend(["rate", kind])  # both say that it was not taken
    client.send()
    client.send(hurry=True)
    assert "may have been counted" not in sentence_of(client)
    assert "may have been counted" not in str(client.explain())
    before = collector.requests.total()
    client.forget()
    assert collector.requests.total() == before
    assert state_of(client) == ("forgotten", "")


def test_a_fault_of_the_collector_leaves_a_doubt(collector: Collector, device: Device) -> None:
    client = device()
    client.answer("walk")
    collector.faults.extend(["broken", "closed"])
    client.send()
    client.send(hurry=True)
    assert "may have been counted" in sentence_of(client)


def test_what_the_collector_cannot_find_any_more_may_have_been_counted(collector: Collector, device: Device) -> None:
    client = device()
    client.answer("walk")
    client.send()
    collector.faults.append("too-old")
    client.forget()
    assert state_of(client) == ("forgotten", "too-old")
    assert "can no longer find" in sentence_of(client)
    assert "may have been counted" in str(client.explain())


def test_what_was_counted_is_said_to_be(collector: Collector, device: Device) -> None:
    client = device()
    collector.counted.add(client.answer("walk").id)
    client.send()
    client.forget()
    assert "had been counted" in sentence_of(client)


@pytest.mark.parametrize("fault", [BEFORE, AFTER, "busy", "storage"])
def test_deleting_is_tried_again(collector: Collector, device: Device, fault: str) -> None:
    client = device()
    client.answer("walk")
    client.send()
    collector.faults.append(fault)
    client.forget()
    assert state_of(client)[0] == "withdrawing"
    client.consent(False)  # which does not keep a wish to be forgotten from being sent
    device(consent=False).send(wait=10)
    assert not collector.taken
    assert state_of(client)[0] == "forgotten"


def test_deleting_waits_for_whoever_is_sending(collector: Collector, device: Device, store: Path) -> None:
    clock = [time.time()]
    client = device(clock=lambda: clock[0])
    client.answer("walk")
    outbox = Outbox(Store(store), collector.url, "", NAME)
    sending = outbox.lease(clock[0], clock[0] + 25)
    assert sending is not None
    client.forget()
    assert state_of(client)[0] == "withdrawing"
    assert not any(name.startswith("DELETE") for name in collector.requests)
    outbox.settle(sending)  # the request of the other was still on its way
    assert state_of(client)[0] == "withdrawing"
    clock[0] += 26
    client.send()
    assert state_of(client)[0] == "forgotten"


def test_an_interrupted_answer_can_be_forgotten(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    client = device()
    with monkeypatch.context() as patch:
        patch.setattr(Payloads, "made", interrupted)
        with pytest.raises(KeyboardInterrupt):
            client.answer("walk")
    client.forget()
    assert client.answer("walk").state == "forgotten"
    assert client.spent() == QUESTION.guarantee().epsilon


def test_forgetting_what_was_never_answered_changes_nothing(device: Device) -> None:
    client = device()
    assert client.forget() is None
    assert client.answer("walk").state == "waiting"


def test_forgetting_twice_changes_nothing(device: Device) -> None:
    client = device()
    client.answer("walk")
    client.send()
    assert client.forget() == client.forget()
