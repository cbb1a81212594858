"""An answer is given once, after its price is written down, and only with consent."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import deniable as dn
from deniable.client import CapReached, Client, ConsentMissing, Unreachable
from deniable.wire.payloads import Payloads
from tests.client.collector import NAME, QUESTION, Collector

Device = Callable[..., Client]


def rows(store: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(store)) as database:
        return database.execute(query).fetchall()


def test_an_answer_arrives(collector: Collector, device: Device) -> None:
    client = device()
    entry = client.answer("walk")
    assert entry.state == "waiting"
    assert client.send().sent == 1
    (frame,) = collector.taken.values()
    assert (frame.ids, frame.payloads, frame.hour) == (entry.id, entry.payload, entry.bucket)
    assert client.entry() is not None
    assert client.entry().state == "sent"  # type: ignore[union-attr]


def test_asking_again_keeps_the_report_whatever_the_value(collector: Collector, device: Device) -> None:
    first = device().answer("walk")
    for value in ["walk", "bus", "car"] * 10:
        again = device().answer(value)
        assert (again.id, again.payload) == (first.id, first.payload)
    device().send()
    after = [device().answer(value) for value in ("walk", "bus")]
    assert {entry.state for entry in after} == {"sent"}
    assert len(collector.taken) == 1
    assert device().spent() == QUESTION.guarantee().epsilon


def test_nothing_is_made_without_consent(collector: Collector, device: Device, store: Path) -> None:
    client = device(consent=False)
    assert client.consent() is False
    with pytest.raises(ConsentMissing, match="nothing was made"):
        client.answer("walk")
    assert client.spent() == 0
    assert not collector.requests
    assert rows(store, "SELECT * FROM ledger") == []


def test_withdrawn_consent_holds_what_is_not_sent(collector: Collector, device: Device) -> None:
    client = device()
    client.answer("walk")
    client.consent(False)
    assert client.send().sent == 0
    assert client.send(hurry=True).sent == 0
    assert not collector.taken
    client.consent(True)
    assert client.send().sent == 1


def test_consent_is_for_one_collection(device: Device) -> None:
    device().consent(True)
    assert device(consent=False, collection="other").consent() is False


def test_the_value_is_nowhere_in_the_store(device: Device, store: Path) -> None:
    open_question = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=2.0)
    client = device(spec=open_question)
    client.answer("a secret of mine")
    files = [path.read_bytes() for path in store.parent.iterdir()]
    assert files
    assert not any(b"secret of mine" in data for data in files)


def test_the_price_is_on_disk_before_the_coin_is_tossed(
    device: Device, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[tuple[object, ...]]] = []
    made = Payloads.made

    def watched(self: Payloads, value: object, report_id: bytes) -> bytes:
        seen.append(rows(store, "SELECT collection, epsilon FROM ledger"))  # by another connection
        return made(self, value, report_id)

    monkeypatch.setattr(Payloads, "made", watched)
    device().answer("walk")
    assert seen == [[(NAME, QUESTION.guarantee().epsilon)]]


def test_an_interrupted_answer_is_finished_without_paying_again(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Payloads, "made", interrupted)
        with pytest.raises(KeyboardInterrupt):
            device().answer("walk")
    client = device()
    assert client.entry().state == "begun"  # type: ignore[union-attr]
    paid = client.spent()
    assert client.answer("walk").state == "waiting"
    assert client.spent() == paid == QUESTION.guarantee().epsilon


def interrupted(*_: object) -> bytes:
    raise KeyboardInterrupt


def test_the_cap_is_kept_over_all_questions(device: Device, store: Path) -> None:
    for number in range(3):
        device(spec=QUESTION, collection=f"question-{number}", cap=3.0).answer("bus")
    fourth = device(spec=QUESTION, collection="question-3", cap=3.0)
    with pytest.raises(CapReached, match="above cap=3") as caught:
        fourth.answer("bus")
    assert caught.value.epsilon == QUESTION.guarantee().epsilon
    assert len(rows(store, "SELECT * FROM ledger")) == 3
    assert fourth.spent() <= 3.0
    assert [entry.collection for entry in fourth.ledger()] == ["question-0", "question-1", "question-2"]
    assert device(spec=QUESTION, collection="question-3", cap=4.0).answer("bus").state == "waiting"


def test_the_default_cap_refuses_a_question_that_tells_nearly_all(device: Device) -> None:
    with pytest.raises(CapReached):
        device(spec=dn.mechanism("grr", k=3, epsilon=12.0)).answer(1)


def test_a_value_outside_the_domain_costs_nothing(device: Device) -> None:
    client = device()
    with pytest.raises(dn.ValueOutsideDomain) as caught:
        client.answer("helicopter")
    assert "helicopter" not in str(caught.value)
    assert client.spent() == 0


def test_threads_make_one_report(collector: Collector, device: Device) -> None:
    clients = [device() for _ in range(8)]
    barrier = threading.Barrier(8)

    def answer(client: Client) -> bytes:
        barrier.wait()
        return client.answer("walk").payload

    with ThreadPoolExecutor(8) as pool:
        payloads = set(pool.map(answer, clients))
        list(pool.map(Client.send, clients))
    assert len(payloads) == 1
    assert len(collector.taken) == 1
    assert clients[0].spent() == QUESTION.guarantee().epsilon


def test_one_client_may_be_shared_by_threads(device: Device) -> None:
    client = device()
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: client.answer("bus").id, range(16)))) == 1


def test_people_on_one_device_have_ledgers_of_their_own(collector: Collector, device: Device) -> None:
    for person in ("ann", "ben"):
        client = device(person=person, cap=1.0)
        client.answer("walk")
        assert client.spent() == QUESTION.guarantee().epsilon
        assert client.send().sent == 1
    assert len(collector.taken) == 2
    assert device(consent=False, person="cem").consent() is False


def test_a_newer_spec_is_not_answered_again(collector: Collector, device: Device) -> None:
    first = device().answer("walk")
    collector.questions.insert(0, dn.mechanism("grr", labels=["walk", "bus", "car", "train"], epsilon=1.0))
    collector.lifetime = 1
    client = device()
    client.refresh()
    again = client.answer("train")
    assert (again.id, again.fingerprint) == (first.id, QUESTION.fingerprint)
    assert client.spent() == QUESTION.guarantee().epsilon


def test_an_answer_that_was_begun_under_an_old_spec_is_given_under_the_new_one(
    collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Payloads, "made", interrupted)
        with pytest.raises(KeyboardInterrupt):
            device().answer("walk")
    newer = dn.mechanism("grr", labels=["walk", "bus", "car", "train"], epsilon=2.0)
    collector.questions.insert(0, newer)
    client = device()
    client.refresh()
    assert client.answer("train").fingerprint == newer.fingerprint
    assert client.spent() == newer.guarantee().epsilon  # the first was never released


def test_a_report_made_under_a_spec_that_was_replaced_meanwhile_is_dropped(
    collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = dn.mechanism("grr", labels=["walk", "bus", "car", "train"], epsilon=1.0)
    slow, made = device(), Payloads.made

    def overtaken(self: Payloads, value: object, report_id: bytes) -> bytes:
        if self.question == QUESTION:
            monkeypatch.setattr(Payloads, "made", interrupted)
            with pytest.raises(KeyboardInterrupt):
                device(spec=newer).answer("train")
            monkeypatch.setattr(Payloads, "made", made)
            collector.questions = [newer]
            slow.refresh()
        return made(self, value, report_id)

    monkeypatch.setattr(Payloads, "made", overtaken)
    assert slow.answer("walk").fingerprint == newer.fingerprint
    assert len(slow.ledger()) == 1


def test_a_collector_that_moves_does_not_make_devices_answer_again(collector: Collector, device: Device) -> None:
    before = device(url="https://old.example.org", spec=QUESTION).answer("walk")
    after = device().answer("bus")
    assert (after.id, after.payload) == (before.id, before.payload)
    assert device().send().sent == 1
    assert len(collector.taken) == 1


def test_offline_without_a_form_nothing_is_spent(device: Device) -> None:
    client = device(url="http://127.0.0.1:9", timeout=0.5)
    with pytest.raises(Unreachable):
        client.answer("walk")
    assert client.spent() == 0


@pytest.mark.parametrize("issued_ids", [False, True])
def test_after_a_refresh_answering_asks_for_nothing(collector: Collector, device: Device, issued_ids: bool) -> None:
    collector.issued_ids = issued_ids
    device().refresh()
    before = collector.requests.total()
    assert device().answer("walk").state == "waiting"
    assert collector.requests.total() == before


def test_all_answers_of_a_ledger_are_composed(device: Device, store: Path) -> None:
    client = device(spec=QUESTION)
    assert client.composed() is None
    client.answer("walk")
    with closing(sqlite3.connect(store)) as database, database:
        for number in range(60):
            line = ("", "site", f"weekly {number}", "0" * 64, 0.1, "{}")
            columns = "person, site, collection, fingerprint, epsilon, document"
            database.execute(f"INSERT INTO ledger ({columns}) VALUES (?, ?, ?, ?, ?, ?)", line)
    each = [QUESTION, *[0.1] * 60]  # of documents that cannot be read only epsilon is known
    assert client.composed(1e-6) == dn.compose(each, delta=1e-6)
    composed = client.composed(1e-6)
    assert composed is not None
    assert composed.epsilon < dn.compose([QUESTION.guarantee().epsilon, *each[1:]], delta=1e-6).epsilon
    assert client.spent() == composed.basic > composed.epsilon
    assert client.composed() == dn.compose(each)
