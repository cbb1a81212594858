"""Whatever the network and the collector do, a report arrives exactly once, waits, or is shown as given up."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable.client import Backoff, Client
from deniable.client.outbox import DAY, Outbox
from deniable.client.store import Store
from deniable.core.errors import InvalidArgument
from deniable.wire.keys import WRITE, Key
from deniable.wire.refusals import REASONS
from tests.client.collector import AFTER, BEFORE, CUT, GATEWAY, NAME, PORTAL, SLOW, Collector

Device = Callable[..., Client]
SETTINGS = ["no-key", "unknown-key", "wrong-key", "wrong-origin"]
SETTINGS += ["not-found", "wrong-method", "unsupported-type", "not-http"]
AGAIN = [kind for kind, reason in REASONS.items() if reason.again]
FINAL = [kind for kind, reason in REASONS.items() if not reason.again and kind not in SETTINGS]


def state_of(client: Client) -> tuple[str, str]:
    entry = client.entry()
    assert entry is not None
    return entry.state, entry.reason


@pytest.mark.parametrize("fault", [BEFORE, AFTER, PORTAL, GATEWAY, CUT, *AGAIN])
def test_what_may_pass_is_tried_again_and_counted_once(collector: Collector, device: Device, fault: str) -> None:
    client = device()
    client.answer("walk")
    collector.faults.extend([fault, fault])
    first = client.send()
    assert (first.sent, first.refused) == (0, 0)
    assert first.trouble
    assert state_of(client)[0] == "waiting"
    assert client.send(wait=10).sent == 1
    assert len(collector.taken) == 1
    assert collector.requests["POST /v1/reports"] == 3
    sent = {body for body in collector.bodies if body}
    assert len(sent) == 1  # a retry is the same bytes


@pytest.mark.parametrize("kind", FINAL)
def test_what_will_not_pass_is_given_up_and_shown(collector: Collector, device: Device, kind: str) -> None:
    client = device()
    before = client.answer("walk")
    collector.faults.append(kind)
    assert client.send().refused == 1
    assert state_of(client) == ("expired" if kind == "too-old" else "refused", kind)
    assert client.send(hurry=True).next_due is None
    assert collector.requests["POST /v1/reports"] == 1
    assert client.answer("bus").id == before.id  # it stays answered


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_report_waits_while_the_settings_are_wrong(collector: Collector, device: Device, kind: str) -> None:
    client = device()
    client.answer("walk")
    collector.faults.append(kind)
    assert client.send().trouble == kind
    assert state_of(client) == ("waiting", kind)
    assert client.send(hurry=True).sent == 1


def test_a_report_made_with_a_wrong_key_is_sent_with_the_right_one(device: Device) -> None:
    client = device(key=Key.new(WRITE).text)
    client.answer("walk")
    assert client.send().trouble == "unknown-key"
    assert device().send(hurry=True).sent == 1


def test_a_reason_of_a_newer_collector_is_judged_by_its_status(
    collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = device()
    client.answer("walk")
    for kind, status, state in (("later-please", 503, "waiting"), ("never-again", 409, "refused")):
        monkeypatch.setitem(REASONS, kind, REASONS["busy"]._replace(status=status))
        collector.faults.append(kind)
        with monkeypatch.context() as patch:
            patch.setattr("deniable.client.sending.REASONS", {})
            client.send(hurry=True)
        assert state_of(client) == (state, kind)


def test_retry_after_is_honoured(collector: Collector, device: Device) -> None:
    clock = [time.time()]
    client = device(clock=lambda: clock[0])
    client.answer("walk")
    collector.faults.append("busy")
    collector.retry_after = 100.0
    due = client.send().next_due
    assert due is not None
    assert due >= clock[0] + 100
    clock[0] += 99
    assert client.send().sent == 0
    assert collector.requests["POST /v1/reports"] == 1
    clock[0] += 2
    assert client.send().sent == 1


def test_waits_grow_and_are_spread() -> None:
    waits = [[Backoff(2.0, 100.0).wait(failures) for _ in range(200)] for failures in (1, 2, 3, 20, 10_000)]
    for expected, found in zip((2.0, 4.0, 8.0, 100.0, 100.0), waits, strict=True):
        assert expected / 2 <= min(found) < max(found) <= expected
        assert max(found) - min(found) > expected / 4
    with pytest.raises(InvalidArgument):
        Backoff(longest=2 * DAY)


def test_a_collector_that_is_away_gets_one_request_not_one_for_each_report(
    collector: Collector, device: Device
) -> None:
    clients = [device(person=str(number), backoff=Backoff(50.0, 100.0)) for number in range(5)]
    for client in clients:
        client.answer("walk")
    collector.faults.extend(["busy"] * 5)
    for client in clients:
        client.send()
    assert collector.requests["POST /v1/reports"] == 1


def test_a_report_waits_for_its_own_random_time(collector: Collector, device: Device) -> None:
    moments, now = [], time.time()
    for person in range(100):
        entry = device(person=str(person), delay=1000.0, clock=lambda: now, spec=collector.questions[0]).answer("bus")
        assert entry.due is not None
        moments.append(entry.due - now)
    assert 0 <= min(moments) < 200 < 800 < max(moments) <= 1000  # each fails by chance once in 4e9
    client = device(person="0", delay=1000.0, clock=lambda: now)
    assert client.send().sent == 0
    assert not collector.taken


def test_the_default_delay_is_an_hour(collector: Collector, store: Path) -> None:
    client = Client(collector.url, collector.key.text, NAME, store=store)
    assert client.delay == 3600.0
    for wrong in (-1.0, 2 * DAY, float("nan")):
        with pytest.raises(InvalidArgument):
            Client(collector.url, collector.key.text, NAME, store=store, delay=wrong)


def test_what_cannot_be_delivered_in_time_is_shown_as_expired(collector: Collector, device: Device) -> None:
    clock = [time.time()]
    client = device(clock=lambda: clock[0])
    client.answer("walk")
    collector.faults.extend([BEFORE] * 3)
    client.send()
    clock[0] += 6 * DAY
    client.send()
    assert state_of(client)[0] == "waiting"
    clock[0] += 3 * DAY
    client.send()
    assert state_of(client) == ("expired", "too-old")
    assert "may have been counted" in str(client.explain())


def test_the_collector_decides_what_is_too_old(device: Device) -> None:
    clock = [time.time()]
    client = device(clock=lambda: clock[0])
    client.answer("walk")
    clock[0] += 100 * DAY  # the device's clock runs ahead
    assert client.send().sent == 1


def test_a_clock_that_went_back_does_not_stop_the_queue(collector: Collector, device: Device) -> None:
    clock = [time.time() + 1000 * DAY]
    client = device(clock=lambda: clock[0], spec=collector.questions[0], backoff=Backoff(100.0, 100.0))
    client.answer("walk")
    collector.faults.append(BEFORE)
    client.send()
    clock[0] -= 999.5 * DAY
    assert client.send().sent == 0
    assert state_of(client)[1] == "in-future"  # which the collector says
    collector.skew = 1000 * DAY
    assert client.send(hurry=True).sent == 1


def test_a_clock_that_is_behind_is_helped_by_the_form(device: Device) -> None:
    client = device(clock=lambda: 0.0)  # 1970, as in devices without a battery
    entry = client.answer("walk")
    assert entry.bucket == int(time.time() // DAY) * 24
    assert client.send().sent == 1


def test_a_lease_keeps_others_away_until_it_runs_out(collector: Collector, device: Device, store: Path) -> None:
    clock = [time.time()]
    client = device(clock=lambda: clock[0], timeout=5.0)
    client.answer("walk")
    taken = Outbox(Store(store), collector.url, "", NAME).lease(
        clock[0], clock[0] + 25
    )  # whoever did this has died since
    assert taken is not None
    assert client.send(hurry=True).sent == 0
    clock[0] += 26
    assert client.send().sent == 1


def test_a_slow_collector_is_not_waited_for(collector: Collector, device: Device) -> None:
    client = device()
    client.answer("walk")
    impatient = device(timeout=0.2)
    collector.faults.append(SLOW)
    assert "unreachable" in impatient.send().trouble
    assert client.send(wait=20).sent == 1
    assert len(collector.taken) == 1


def test_a_thread_sends_what_is_answered_later(collector: Collector, device: Device) -> None:
    with device() as client:
        client.answer("walk")
        for _ in range(1000):
            if state_of(client)[0] == "sent":
                break
            time.sleep(0.01)
    assert len(collector.taken) == 1
    client.close()  # a second time changes nothing


def test_redirects_are_not_followed(collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    client = device()
    client.answer("walk")
    monkeypatch.setitem(REASONS, "moved", REASONS["closed"]._replace(status=307))
    collector.faults.append("moved")
    assert client.send().sent == 0
    assert collector.requests["POST /v1/reports"] == 1
    assert state_of(client)[0] == "waiting"


def test_frames_can_be_carried_by_somebody_else(collector: Collector, store: Path) -> None:
    client = Client(None, None, NAME, store=store, spec=collector.questions[0], delay=0.0)
    client.consent(True)
    entry = client.answer("walk")
    (frame,) = client.frames()
    assert client.frames() == [frame]
    assert client.send().sent == 0
    client.delivered(frame)
    assert client.frames() == []
    assert state_of(client)[0] == "sent"
    assert entry.payload in frame


def test_what_was_answered_offline_is_sent_once_there_is_an_address(
    collector: Collector, device: Device, store: Path
) -> None:
    client = Client(None, None, NAME, store=store, spec=collector.questions[0], delay=0.0)
    client.consent(True)
    client.answer("walk")
    online = device(consent=False)
    assert online.consent() is True
    assert online.send().sent == 1


@pytest.mark.parametrize(
    "url", ["", "reports.example.org", "ftp://example.org", "https://", "https://a:b@example.org", "https://x/?a=1", 7]
)
def test_an_address_that_is_none_is_refused(store: Path, url: object) -> None:
    with pytest.raises(InvalidArgument, match="url must"):
        Client(url, Key.new(WRITE).text, NAME, store=store)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", [None, "", "secret", "dnr_" + 21 * "x" + "A"])
def test_a_key_that_cannot_write_is_refused_and_not_quoted(store: Path, key: str | None) -> None:
    with pytest.raises(InvalidArgument, match="key must") as caught:
        Client("https://example.org", key, NAME, store=store)
    assert not key or key not in str(caught.value)


def test_every_reason_is_either_for_later_or_final() -> None:
    assert set(AGAIN) | set(FINAL) | set(SETTINGS) == set(REASONS)
    assert not set(SETTINGS) & set(AGAIN)


def test_entries_are_plain_data(device: Device) -> None:
    client = device()
    entry = client.answer("walk")
    document = json.loads(json.dumps(entry.to_dict()))
    assert document["state"] == "waiting"
    assert document["payload"] == entry.payload.hex()
    assert document["bucket"] == time.strftime("%Y-%m-%d", time.gmtime())
    assert "payload" not in repr(entry)
