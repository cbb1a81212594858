"""A gateway forwards what devices made: each report once, whoever hands it over and however often."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable.client import Client, Gateway
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import mechanism
from deniable.wire.frames import Frame, read_batch
from deniable.wire.keys import NO_KEY, WRITE, Key
from deniable.wire.payloads import Payloads
from deniable.wire.refusals import Refused
from tests.client.collector import AFTER, BEFORE, NAME, QUESTION, Collector
from tests.client.conftest import QUICK

CLH = mechanism("clh", k=50, epsilon=2.0)


@pytest.fixture
def gateway(collector: Collector, tmp_path: Path) -> Callable[..., Gateway]:
    def made(**options: object) -> Gateway:
        chosen: dict[str, object] = {"store": tmp_path / "gateway.sqlite", "backoff": QUICK, **options}
        return Gateway(collector.url, collector.key.text, **chosen)  # type: ignore[arg-type]

    return made


def frames(collector: Collector, n: int, question: Mechanism = QUESTION, key: bytes = NO_KEY) -> list[bytes]:
    """What n devices hand over."""
    payloads, hour = Payloads(question, with_ids=True), int(collector.now() // 86400) * 24
    made = []
    for _ in range(n):
        report_id = random.randbytes(16)
        payload = payloads.made(question.domain.label(1), report_id)
        made.append(Frame(key, bytes.fromhex(question.fingerprint), hour, b"", report_id, payload).to_bytes())
    return made


def test_reports_of_many_devices_leave_in_one_batch(collector: Collector, gateway: Callable[..., Gateway]) -> None:
    handed = frames(collector, 100)
    forwarder = gateway()
    assert forwarder.take_many(handed) == 100
    assert forwarder.status() == {"waiting": 100, "sent": 0}
    assert forwarder.send().sent == 100
    assert forwarder.status() == {"waiting": 0, "sent": 100}
    assert collector.requests == {"POST /v1/batches": 1}
    assert {report_id for _, report_id in collector.taken} == {frame[60:76] for frame in handed}


def test_a_report_that_is_handed_over_twice_is_counted_once(
    collector: Collector, gateway: Callable[..., Gateway]
) -> None:
    (frame,) = frames(collector, 1)
    assert [gateway().take(frame) for _ in range(3)] == [1, 0, 0]
    gateway().send()
    assert gateway().take(frame) == 1  # it is not remembered here, but by the collector
    gateway().send()
    assert len(collector.taken) == 1


def test_public_coins_and_several_questions_are_kept_apart(
    collector: Collector, gateway: Callable[..., Gateway]
) -> None:
    collector.questions.append(CLH)
    handed = frames(collector, 20) + frames(collector, 30, CLH)
    random.Random(1).shuffle(handed)
    gateway().take_many(handed)
    assert gateway().send().sent == 50
    assert collector.requests == {"POST /v1/batches": 2}


def test_one_bad_report_does_not_hold_up_the_others(collector: Collector, gateway: Callable[..., Gateway]) -> None:
    good = frames(collector, 40)
    bad = frames(collector, 1)[0][:-1] + b"\xff"
    gateway().take_many([*good[:17], bad, *good[17:]])
    result = gateway().send()
    assert (result.sent, result.refused) == (40, 1)
    assert gateway().status() == {"waiting": 0, "sent": 40, "bad-payload": 1}
    assert collector.requests["POST /v1/batches"] <= 14  # halves, not one by one


def test_wrong_keys_are_the_fault_of_those_who_used_them(collector: Collector, gateway: Callable[..., Gateway]) -> None:
    gateway().take_many(frames(collector, 5, key=Key.new(WRITE).secret) + frames(collector, 7))
    assert gateway().send().sent == 7
    assert gateway().status()["waiting"] == 5


@pytest.mark.parametrize("fault", [BEFORE, AFTER, "busy", "storage"])
def test_a_batch_that_failed_is_sent_again_and_counted_once(
    collector: Collector, gateway: Callable[..., Gateway], fault: str
) -> None:
    gateway().take_many(frames(collector, 10))
    collector.faults.append(fault)
    assert gateway().send().sent == 0
    assert gateway().send(hurry=True).sent == 10
    assert len(collector.taken) == 10


def test_batches_of_devices_are_taken_apart(collector: Collector, gateway: Callable[..., Gateway]) -> None:
    handed = frames(collector, 6)
    ids, payloads = b"".join(each[60:76] for each in handed), b"".join(each[76:] for each in handed)
    batch = read_batch(_batch(handed[0], ids, payloads))
    assert gateway().take(batch.to_bytes()) == 6
    assert gateway().take(handed[0]) == 0
    with pytest.raises(Refused, match="whose reports have ids"):
        gateway().take(batch._replace(ids=b"").to_bytes())


def _batch(frame: bytes, ids: bytes, payloads: bytes) -> bytes:
    head = (NO_KEY, frame[24:56], int.from_bytes(frame[56:60], "little"), b"")
    return Frame(*head, ids, payloads, len(ids) // 16, bytes(16)).to_bytes()


@pytest.mark.parametrize("data", [b"", b"nonsense", b"DNBLR\x01", b"DNBLB\x01" + bytes(60), b"DNBLR\x09" + bytes(100)])
def test_what_is_no_frame_is_refused_and_nothing_is_kept(
    collector: Collector, gateway: Callable[..., Gateway], data: bytes
) -> None:
    forwarder = gateway()
    with pytest.raises(Refused):
        forwarder.take_many([*frames(collector, 3), data])
    assert forwarder.status() == {"waiting": 0, "sent": 0}


def test_a_device_without_a_network_answers_through_a_gateway(
    collector: Collector, gateway: Callable[..., Gateway], store: Path
) -> None:
    client = Client(None, None, NAME, store=store, spec=QUESTION, delay=0.0)
    client.consent(True)
    client.answer("bus")
    for _ in range(2):  # the second time the gateway's thanks were lost
        for frame in client.frames():
            gateway().take(frame)
    client.delivered(frame)
    entry = client.entry()
    assert entry is not None
    assert (entry.state, entry.reason) == ("sent", "gateway")
    assert entry.sentence == "Your answer has been handed over to the gateway, which is to deliver it."
    assert "was handed over to a gateway" in str(client.explain())
    with gateway() as forwarder:
        for _ in range(1000):
            if forwarder.status()["sent"]:
                break
            forwarder.send()
    assert len(collector.taken) == 1
    assert client.entry().state == "sent"  # type: ignore[union-attr]
