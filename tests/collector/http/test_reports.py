"""Reports over real HTTP, on SQLite and PostgreSQL: each is stored before it is acknowledged, and counted once."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import deniable as dn
from deniable.wire.as_json import to_json
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from tests.collector.http.running import DAY, LABELS, M, Running, Served, asked, batch, frame

ESTIMATE = "/v1/collections/themes/estimate?method=unbiased"


def counted(served: Served, n: int, name: str = "themes") -> dict[str, Any]:
    """The collection, once n reports are counted."""
    end = time.monotonic() + 20
    while True:
        found = served.ask("GET", f"/v1/collections/{name}", None, served.collector.admin).json
        if (found["counted"] >= n and not found["waiting"]) or time.monotonic() > end:
            assert found["counted"] == n, found
            assert found["waiting"] == 0
            return dict(found)
        time.sleep(0.05)


def send_all(served: Served, path: str, bodies: list[bytes], connections: int) -> list[int]:
    """Send bodies over so many connections at once; return all statuses."""

    def send(own: list[bytes]) -> list[int]:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        found = [asked(connection, "POST", path, body).status for body in own]
        connection.close()
        return found

    with ThreadPoolExecutor(connections) as pool:
        parts = pool.map(send, [bodies[start::connections] for start in range(connections)])
        return [status for part in parts for status in part]


def test_reports_in_every_form_are_counted_once(served: Served) -> None:
    c = served.collector
    one, two = frame(c), frame(c, "b")
    for _ in range(2):
        for given in ("application/octet-stream", "text/plain", "text/plain; charset=utf-8"):
            answer = served.ask("POST", "/v1/reports", one.to_bytes(), content_type=given)
            assert (answer.status, answer.json) == (200, {"accepted": 1})
        assert served.ask("POST", "/v1/reports", json.loads(to_json(two, [], 1))).json == {"accepted": 1}
    several = batch(c, ["a"] * 50)
    assert served.ask("POST", "/v1/batches", several.to_bytes()).json == {"accepted": 50, "new": 50}
    assert served.ask("POST", "/v1/batches", several.to_bytes()).json == {"accepted": 50, "new": 0}
    ids = os.urandom(16 * 50)
    named = several._replace(ids=ids, batch=os.urandom(16))
    assert served.ask("POST", "/v1/batches", json.loads(to_json(named, [], 1))).json == {"accepted": 50, "new": 50}
    overlapping = named._replace(ids=ids[:400] + os.urandom(400), batch=os.urandom(16))
    assert served.ask("POST", "/v1/batches", overlapping.to_bytes()).json == {"accepted": 50, "new": 25}
    counted(served, 127)
    assert served.ask("GET", ESTIMATE, None, c.key("read")).json["n"] == 127


def test_64_writers_and_replays_over_16_connections_are_counted_once(served: Served) -> None:
    c = served.collector
    frames = [frame(c, LABELS[place % 3]) for place in range(640)]
    bodies = [each.to_bytes() for each in frames]
    assert set(send_all(served, "/v1/reports", bodies, 64)) == {200}
    again = [body for place, body in enumerate(bodies) for _ in range(place % 4)]
    assert set(send_all(served, "/v1/reports", again, 16)) == {200}
    counted(served, 640)
    expected = M.summarize(Payloads(M, True).read(b"".join(each.payloads for each in frames)))
    found = served.ask("GET", ESTIMATE, None, c.key("read")).json
    truth = M.estimate(expected, "unbiased").frequencies.tolist()
    assert [row["frequency"] for row in found["values"]] == truth
    assert c.service.outcomes.requests == sum(c.outcomes().values())


def test_the_coin_of_a_public_coin_report_is_its_id(served: Served) -> None:
    m = dn.mechanism("clh", labels=[f"v{place}" for place in range(100)], epsilon=3.0)
    served.collector.make("coins", m)
    payloads, secret = Payloads(m, True), Key.read(served.collector.key("write", "coins")).secret
    assert payloads.size == 1
    ids = [os.urandom(16) for _ in range(400)]
    sent = [payloads.made("v7", each) for each in ids]
    fingerprint = bytes.fromhex(m.fingerprint)
    one = Frame(secret, fingerprint, DAY, b"", ids[0], sent[0])
    rest = Frame(secret, fingerprint, DAY, b"", b"".join(ids[1:]), b"".join(sent[1:]), 399, os.urandom(16))
    assert served.ask("POST", "/v1/reports", one.to_bytes()).status == 200
    assert served.ask("POST", "/v1/batches", rest.to_bytes()).json == {"accepted": 399, "new": 399}
    counted(served, 400, "coins")
    path = "/v1/collections/coins/estimate?method=unbiased&top=1"
    (first,) = served.ask("GET", path, None, served.collector.key("read", "coins")).json["values"]
    assert first["label"] == "v7"
    exact = m.estimate(m.summarize(payloads.read(b"".join(sent), ids)), "unbiased").frequencies.max()
    assert first["frequency"] == exact


def test_a_report_can_be_deleted_until_it_is_counted(collector: Running) -> None:
    kept, deleted = frame(collector), frame(collector)
    for each in (kept, deleted):
        assert collector.ask("POST", "/v1/reports", each.to_bytes()).status == 200
    key = collector.key("write")

    def delete(sent: Frame) -> Any:
        return collector.ask("DELETE", f"/v1/reports/{sent.ids.hex()}?bucket={DAY}", None, key)

    assert delete(deleted).json == {"outcome": "deleted"}
    collector.fold()
    assert delete(kept).json == {"outcome": "counted"}
    assert delete(frame(collector)).kind == "no-such-report"
    found = collector.ask("GET", "/v1/collections/themes", None, collector.admin).json
    assert found["counted"] == 1
    assert collector.ask("POST", "/v1/reports", deleted.to_bytes()).status == 200  # its id is still remembered
    collector.fold()
    assert collector.ask("GET", "/v1/collections/themes", None, collector.admin).json["counted"] == 1


def test_a_report_that_arrives_after_its_deletion_is_not_counted(collector: Running) -> None:
    key, late = collector.key("write"), frame(collector)
    path = f"/v1/reports/{late.ids.hex()}?bucket="
    assert collector.ask("DELETE", f"{path}{DAY}", None, key).kind == "no-such-report"
    for hour in (DAY + 1, DAY - 24 * 365, DAY + 24 * 365):  # no report of these is taken
        assert collector.ask("DELETE", f"{path}{hour}", None, key).kind == "no-such-report"
        assert collector.ask("DELETE", f"{path}{hour}", None, key).kind == "no-such-report"
    assert collector.ask("POST", "/v1/reports", late.to_bytes()).status == 200
    collector.fold()
    assert collector.ask("GET", "/v1/collections/themes", None, collector.admin).json["counted"] == 0
    assert collector.ask("DELETE", f"{path}{DAY}", None, key).json == {"outcome": "deleted"}


def test_only_issued_ids_are_remembered_where_ids_are_issued(collector: Running) -> None:
    collector.make("issued", issued_ids=True)
    path, key = f"/v1/reports/{32 * 'a'}?bucket={DAY}", collector.key("write", "issued")
    assert [collector.ask("DELETE", path, None, key).kind for _ in range(2)] == 2 * ["no-such-report"]


def test_deletions_are_rated_as_reports_are(collector: Running) -> None:
    collector.make("slow", requests_per_second=0.001)
    path, key = f"/v1/reports/{32 * 'a'}?bucket={DAY}", collector.key("write", "slow")
    assert [collector.ask("DELETE", path, None, key).kind for _ in range(2)] == ["no-such-report", "rate"]


def test_only_ids_that_were_issued_for_the_bucket_are_taken_where_ids_are_issued(collector: Running) -> None:
    collector.make("issued", issued_ids=True)
    key = collector.key("write", "issued")
    issued = collector.ask("GET", "/v1/ids?count=3", None, key).json
    assert issued["bucket"] == DAY
    first, second, third = map(bytes.fromhex, issued["ids"])

    def send(report_id: bytes, hour: int = DAY) -> str:
        return collector.ask(
            "POST", "/v1/reports", frame(collector, "a", "issued", ids=report_id, hour=hour).to_bytes()
        ).kind

    assert send(first) == ""
    assert send(os.urandom(16)) == "bad-id"
    assert send(second[:-1] + bytes([second[-1] ^ 1])) == "bad-id"
    assert send(third, DAY - 24) == "bad-id"
    assert collector.ask("POST", "/v1/batches", batch(collector, ["a"], "issued").to_bytes()).kind == "bad-id"
    named = batch(collector, ["a", "b"], "issued")._replace(ids=second + third)
    assert collector.ask("POST", "/v1/batches", named.to_bytes()).json == {"accepted": 2, "new": 2}


def test_a_key_that_sends_too_much_is_told_when_to_come_back(collector: Running) -> None:
    collector.make("slow", requests_per_second=2, reports_per_second=100)
    answers = [collector.ask("POST", "/v1/reports", frame(collector, "a", "slow").to_bytes()) for _ in range(5)]
    assert [each.kind for each in answers] == [""] * 4 + ["rate"]
    assert answers[-1].status == 429
    assert 0 < answers[-1].json["retry_after"] <= 1
    assert answers[-1].headers["retry-after"] == "1"
    assert collector.ask("POST", "/v1/reports", frame(collector).to_bytes()).status == 200  # others are not held up


def test_a_full_queue_refuses_and_forgets_nothing(collector: Running) -> None:
    store, hold, entered = collector.service.store, threading.Event(), threading.Event()
    commit: Callable[..., Any] = store.commit

    def slow(deliveries: Any) -> Any:
        entered.set()
        hold.wait(20)
        return commit(deliveries)

    store.commit = slow  # type: ignore[method-assign]
    bodies = [frame(collector, payloads=b"\0").to_bytes() for _ in range(6)]
    writer = collector.service.writer
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(collector.ask, "POST", "/v1/reports", bodies[0])
        assert entered.wait(20)
        import deniable.collector.service.writing as writing

        before, writing.MOST_WAITING = writing.MOST_WAITING, 3
        try:
            others = [pool.submit(collector.ask, "POST", "/v1/reports", body) for body in bodies[1:]]
            end = time.monotonic() + 20
            while sum(each.done() for each in others) < 3 and time.monotonic() < end:
                time.sleep(0.01)
            hold.set()
            kinds = sorted(each.result().kind for each in [first, *others])
        finally:
            writing.MOST_WAITING = before
    assert kinds == ["", "", "", "busy", "busy", "busy"]
    assert writer.waiting == 0
    collector.fold()
    assert collector.ask("GET", "/v1/collections/themes", None, collector.admin).json["counted"] == 3
