"""Wrong requests of many kinds: each gets its own reason, nothing is stored, and every request is counted once."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import deniable as dn
from deniable.collector.http.replies import refusal
from deniable.wire.as_json import to_json
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.refusals import Refused
from tests.collector.http.asking import send
from tests.collector.http.running import DAY, JSON, LABELS, NOW, Answer, M, Running, batch, frame

OTHER = dn.mechanism("grr", labels=LABELS, epsilon=1.0)
HITTERS = dn.HeavyHitters.new(epsilon=4.0, max_bytes=4)
Made = Callable[[Running], tuple[str, Any]]


def report(change: Callable[[bytes], bytes] = lambda data: data, **changes: Any) -> Made:
    """A report, some of whose parts or bytes are changed."""
    return lambda c: ("/v1/reports", change(frame(c, **changes).to_bytes()))


def many(change: Callable[[bytes], bytes] = lambda data: data, **changes: Any) -> Made:
    """A batch, some of whose parts or bytes are changed."""
    return lambda c: ("/v1/batches", change(batch(c, ["a", "b"])._replace(**changes).to_bytes()))


def of_json(change: Callable[[dict[str, Any]], Any], single: bool = True) -> Made:
    """A report or batch in JSON, some of whose members are changed."""

    def made(c: Running) -> tuple[str, Any]:
        members = json.loads(to_json(frame(c) if single else batch(c, ["a", "b"]), [], 1))
        found = change(members)
        return ("/v1/reports" if single else "/v1/batches"), members if found is None else found

    return made


def set_byte(place: int, value: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:place] + bytes([value]) + data[place + 1 :]


def member(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda members: members.update(changes)


WRONG: dict[str, tuple[str, Made]] = {
    "an empty body": ("not-a-frame", report(lambda _: b"")),
    "other bytes": ("not-a-frame", report(lambda _: b"GIF89a" + bytes(90))),
    "a batch for one report": ("not-a-frame", lambda c: ("/v1/reports", batch(c, ["a"]).to_bytes())),
    "a report for a batch": ("not-a-frame", lambda c: ("/v1/batches", frame(c).to_bytes())),
    "version 0": ("not-a-frame", report(set_byte(5, 0))),
    "a newer version": ("newer-version", report(set_byte(5, 2))),
    "a newer batch": ("newer-version", many(set_byte(5, 9))),
    "a cut head": ("truncated", report(lambda data: data[:40])),
    "no payload": ("truncated", report(lambda data: data[:76])),
    "four segments": ("truncated", report(set_byte(6, 4))),
    "a reserved byte": ("bad-flags", report(set_byte(7, 1))),
    "reserved flags": ("bad-flags", many(set_byte(7, 2))),
    "a batch of nothing": ("empty-batch", many(lambda data: data[:76] + bytes(4) + data[80:])),
    "more reports than bytes": ("truncated", many(lambda data: data[:76] + b"\xff\xff\0\0" + data[80:], ids=b"1" * 32)),
    "fewer bytes than reports": ("bad-payload", many(lambda data: data[:-1])),
    "bytes after the end": ("bad-payload", report(lambda data: data + b"\0")),
    "a value outside the domain": ("bad-payload", report(payloads=b"\3")),
    "a wrong report in a batch": ("bad-payload", many(payloads=b"\0\7")),
    "an id twice in a batch": ("bad-id", many(ids=bytes(32))),
    "no key": ("no-key", report(key=bytes(16))),
    "an unknown key": ("unknown-key", report(key=os.urandom(16))),
    "another spec": ("unknown-spec", report(fingerprint=bytes.fromhex(OTHER.fingerprint))),
    "a time within a bucket": ("bad-bucket", report(hour=DAY + 1)),
    "the day after tomorrow": ("in-future", report(hour=DAY + 48)),
    "a time beyond the calendar": ("bad-bucket", report(hour=4_294_967_290)),
    "the largest time": ("in-future", report(hour=4_294_967_280)),
    "before the window": ("too-old", report(hour=DAY - 24 * 9)),
    "the year 1970": ("too-old", report(hour=0)),
    "segments where there are none": ("bad-segments", report(segments=b"\0")),
    "a body of a megabyte": ("too-large", report(lambda data: data + bytes(2**20))),
    "a batch of too many": ("too-large", many(payloads=bytes(200), n=200)),
    "no JSON": ("not-json", lambda _: ("/v1/reports", "text that is JSON, but no object")),
    "a missing member": ("not-json", of_json(lambda members: members.pop("payload") and None)),
    "an unknown member": ("not-json", of_json(member(extra=1))),
    "a payload that is no hexadecimal": ("bad-payload", of_json(member(payload="0x"))),
    "an id that is too short": ("bad-id", of_json(member(id="00"))),
    "a bucket that is no number": ("bad-bucket", of_json(member(bucket="today"))),
    "a key in no form of one": ("no-key", of_json(member(key="secret"))),
    "a fingerprint in capitals": ("unknown-spec", of_json(lambda m: m.update(fingerprint=m["fingerprint"].upper()))),
    "payloads of different lengths": ("bad-payload", of_json(member(payloads=["00", "0000"]), single=False)),
    "fewer ids than payloads": ("bad-id", of_json(member(ids=["00" * 16]), single=False)),
    "an empty list of ids": ("bad-id", of_json(member(ids=[]), single=False)),
    "JSON without payloads": ("empty-batch", of_json(member(payloads=[]), single=False)),
}


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    """A collector of small bodies."""
    made = Running()
    made.make(body_bytes=2**12, reports_per_batch=100)
    made.make("other")
    yield made
    made.close()


@pytest.fixture(scope="module")
def ages() -> Iterator[Running]:
    """A collector of whole numbers, some of them below zero."""
    made, spec = Running(), dn.mechanism("grr", domain=dn.Domain.integers(-10, 10), epsilon=2.0)
    made.make("ages", spec)
    send(made, spec, [-5, 5, 10], "ages")
    made.fold()
    yield made
    made.close()


def test_at_least_thirty_kinds_are_tried() -> None:
    assert len(WRONG) >= 30
    assert len({kind for kind, _ in WRONG.values()}) >= 16


@pytest.mark.parametrize("name", WRONG)
def test_wrong_reports_are_refused_with_their_reason(small: Running, name: str) -> None:
    kind, made = WRONG[name]
    before, counted = small.outcomes(), small.service.outcomes.requests
    path, body = made(small)
    answer = small.ask("POST", path, body)
    assert answer.kind == kind, answer.json
    assert 400 <= answer.status < 500
    assert small.service.store.waiting() == []
    after = small.outcomes()
    assert after.pop(kind) == before.pop(kind, 0) + 1
    assert after == before
    assert small.service.outcomes.requests == counted + 1 == sum(after.values()) + small.outcomes()[kind]


def test_a_body_of_another_type_is_refused(small: Running) -> None:
    assert (
        small.ask("POST", "/v1/reports", frame(small).to_bytes(), content_type="image/png").kind == "unsupported-type"
    )
    assert small.ask("POST", "/v1/reports", b"{", content_type="application/json").kind == "not-json"
    assert small.ask("POST", "/v1/preview", b"{", small.admin, content_type="application/json").kind == "not-json"


@pytest.mark.parametrize("path", ["/v1/reports", "/v1/batches"])
def test_a_value_sent_in_place_of_a_report_is_not_sent_back(small: Running, path: str) -> None:
    for body in (b'"SeCreT"', b"987654321", b'["SeCreT"]'):
        answer = small.ask("POST", path, body, content_type="application/json")
        assert answer.kind == "not-json"
        assert not any(secret in str(answer.json) for secret in ("SeCreT", "987654321"))
    assert small.ask("POST", "/v1/preview", b"{}", small.admin).kind == "unsupported-type"


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/v1/nothing/here", "not-found"),
        ("GET", "/nothing.js", "not-found"),
        ("GET", "/../../etc/passwd", "not-found"),
        ("GET", f"/{'x' * 1000}", "not-found"),
        ("PUT", "/v1/reports", "wrong-method"),
        ("GET", "/v1/reports", "wrong-method"),
        ("TRACE", "/health", "wrong-method"),
        ("GET", "/v1/forms/unknown", "not-found"),
        ("GET", "/v1/collections/unknown", "not-found"),
        ("GET", "/v1/collections/themes/estimate?methodd=mle", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?top=0", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?top=many", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?level=2", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?target=all", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?top=1&top=2", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?from=yesterday", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?from=2026-03-30&to=2026-03-29", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?segment.country=de", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?segment=de", "bad-argument"),
        ("GET", "/v1/collections/themes/estimate?%ff=1", "bad-argument"),
        ("GET", f"/v1/collections/themes/estimate?search={'x' * 9000}", "bad-argument"),
        ("GET", f"/v1/collections/themes/estimate?spec={'0' * 64}", "unknown-spec"),
        ("GET", "/v1/collections/themes/estimate", "too-few-reports"),
        ("GET", "/v1/collections/themes/trend", "bad-argument"),
        ("DELETE", "/v1/collections/themes/keys/00", "not-found"),
        ("POST", "/v1/collections/themes/summaries?id=00", "bad-argument"),
    ],
)
def test_wrong_questions_are_refused_with_their_reason(small: Running, method: str, path: str, kind: str) -> None:
    assert small.ask(method, path, None, small.admin).kind == kind


def test_a_parameter_with_a_name_of_its_own_is_explained(small: Running) -> None:
    for path, name in (
        ("estimate?segment=de", "segment.NAME is only this label"),
        ("difference?a=de", "a.NAME is a label"),
    ):
        assert name in small.ask("GET", f"/v1/collections/themes/{path}", None, small.admin).json["error"]


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-16, 1e-15, 50])
@pytest.mark.parametrize("mechanism", ["auto", "grr", "oue", "she", "csr"])
def test_a_preview_of_whatever_epsilon_is_an_answer_or_a_refusal(
    small: Running, epsilon: float, mechanism: str
) -> None:
    for of in ({"labels": LABELS}, {"k": 65_536}):
        asked = {**of, "epsilon": epsilon, "mechanism": mechanism, "n": 10**12}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dn.WeakPrivacy)
            answer = small.ask("POST", "/v1/preview", asked, small.admin)
        assert answer.kind in ("", "bad-argument", "bad-spec"), answer


@pytest.mark.parametrize("rate", ["requests_per_second", "reports_per_second"])
def test_rates_have_a_floor_and_nobody_is_told_to_wait_for_more_than_a_day(collector: Running, rate: str) -> None:
    for wrong in (0, 1e-310, 0.0009):
        assert collector.ask("PATCH", "/v1/collections/themes", {rate: wrong}, collector.admin).kind == "bad-argument"
    collector.make("slow", **{rate: 0.001})
    body = batch(collector, ["a"] * 1000, "slow").to_bytes()
    assert collector.ask("POST", "/v1/batches", body).status == 200
    refused = collector.ask("POST", "/v1/batches", body)
    assert refused.kind == "rate"
    assert 900 < int(refused.headers["retry-after"]) <= 86_400
    assert refused.json["retry_after"] <= 86_400
    future = frame(collector, hour=4_294_967_280).to_bytes()
    assert int(collector.ask("POST", "/v1/reports", future).headers["retry-after"]) == 86_400


@pytest.mark.parametrize("seconds", [1e300, float("inf"), 0.0, -1.0])
def test_any_time_to_wait_can_be_told(seconds: float) -> None:
    reply = refusal(Refused("rate", retry_after=seconds))
    assert 0 <= int(dict(reply.headers)[b"retry-after"]) <= 86_400


@pytest.mark.parametrize(
    "value", ["--5", "-", "+5", "1_0", " 5", "%C2%B2", "%D9%A3", "9" * 19, "9" * 20, "1e1", "11", ""]
)
def test_a_value_that_is_no_whole_number_of_the_domain_is_refused(ages: Running, value: str) -> None:
    path = "/v1/collections/ages/trend?value="
    assert ages.ask("GET", path + value, None, ages.admin).kind == "bad-argument"
    assert ages.ask("GET", f"{path}-5", None, ages.admin).json["label"] == "-5"


def with_spec(**changes: Any) -> dict[str, Any]:
    return {"name": "new", "spec": {**M.spec.to_dict(), **changes}}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"name": "new"}, "bad-argument"),
        ({"name": "New one", "spec": M.spec.to_dict()}, "bad-argument"),
        ({"name": "new\n", "spec": M.spec.to_dict()}, "bad-argument"),
        ({"name": "themes", "spec": M.spec.to_dict()}, "exists"),
        ({"name": "new", "spec": {}}, "bad-spec"),
        (with_spec(mechanism="magic"), "bad-spec"),
        (with_spec(version=99), "bad-spec"),
        (with_spec(thresholds={"truth": "1"}), "bad-spec"),
        (with_spec(domain={"kind": "integers", "low": 0, "high": 2**40}), "bad-spec"),
        ({"name": "new", "spec": M.spec.to_dict(), "settings": {"minimum": 0}}, "bad-argument"),
        ({"name": "new", "spec": M.spec.to_dict(), "settings": {"bucket": "year"}}, "bad-argument"),
        ({"name": "new", "spec": M.spec.to_dict(), "settings": {"misspelt": 1}}, "bad-argument"),
        *(
            ({"name": "new", "spec": M.spec.to_dict(), "settings": {"origins": [origin]}}, "bad-argument")
            for origin in (
                *("example.org", "https://example.org/", "https://Example.org", "https://example.org ", "https://a\nb"),
                *("https://example.org:443", "http://example.org:80", "ftp://example.org", "https://", "null"),
            )
        ),
        (
            {"name": "new", "spec": M.spec.to_dict(), "settings": {"segments": [{"name": "n", "labels": ["a"]}]}},
            "bad-argument",
        ),
        (
            {"name": "new", "spec": M.spec.to_dict(), "settings": {"segments": [{"name": "s\n", "labels": ["a"]}]}},
            "bad-argument",
        ),
        (
            {"name": "new", "spec": M.spec.to_dict(), "settings": {"segments": [{"name": "s", "labels": ["a", "a"]}]}},
            "bad-argument",
        ),
        *(
            ({"name": "new", "spec": M.spec.to_dict(), "settings": {"expired": [of]}}, "bad-argument")
            for of in (M.fingerprint, "0" * 64)
        ),
    ],
)
def test_wrong_collections_are_not_made(small: Running, body: Any, kind: str) -> None:
    assert small.ask("POST", "/v1/collections", body, small.admin).kind == kind
    assert set(small.service.directory.desks) == {"themes", "other"}


def test_a_wrong_name_is_refused_in_words(small: Running) -> None:
    found = small.ask("POST", "/v1/collections", {"name": "New one", "spec": M.spec.to_dict()}, small.admin)
    assert found.json["error"] == (
        "the name of a collection must be at most 64 lower-case letters, digits, dots, dashes and underscores, and "
        "begin with a letter or digit, got 'New one'"
    )


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("POST", "/v1/collections", '{"name": "one", "name": "two", "spec": SPEC}'),
        ("POST", "/v1/collections", '{"name": "one", "spec": SPEC, "settings": {"minimum": 9, "minimum": 1}}'),
        ("POST", "/v1/collections", '{"name": "one", "spec": {"x": [{"y": 1, "y": 1}]}}'),
        ("PATCH", "/v1/collections/themes", '{"minimum": 9, "minimum": 1}'),
        ("POST", "/v1/collections/themes/candidates", '{"candidates": ["a"], "top": 1, "top": 2}'),
    ],
)
def test_a_member_that_is_given_twice_is_refused_in_every_body(
    small: Running, method: str, path: str, text: str
) -> None:
    body = text.replace("SPEC", M.spec.to_json()).encode()
    found = small.ask(method, path, body, small.admin, content_type=JSON)
    assert (found.kind, found.json["error"]) == ("not-json", "the body has the same member twice")
    assert set(small.service.directory.desks) == {"themes", "other"}


@pytest.mark.parametrize("label", ["a\x00b", "a\nb", "a\n", "\x1f"])
def test_a_note_beside_a_key_has_no_control_characters(small: Running, label: str) -> None:
    # PostgreSQL takes no text with a zero byte, which is the sender's fault and not the store's
    for path, body in (("/v1/keys", {}), ("/v1/collections/themes/keys", {"role": "read"})):
        assert small.ask("POST", path, {**body, "label": label}, small.admin).kind == "bad-argument"


def test_a_collection_of_another_kind_of_spec_is_not_mixed(small: Running) -> None:
    found = small.ask("POST", "/v1/collections/themes/specs", {"spec": HITTERS.to_dict()}, small.admin)
    assert found.kind == "conflict"
    assert small.ask("PATCH", "/v1/collections/themes", {"bucket": "hour"}, small.admin).kind == "conflict"
    assert small.ask("PATCH", "/v1/collections/themes", {"expired": ["0" * 64]}, small.admin).kind == "bad-argument"


def test_the_next_bucket_is_taken_since_clocks_may_be_ahead_and_no_later_one(small: Running) -> None:
    assert small.ask("POST", "/v1/reports", frame(small, hour=DAY + 24).to_bytes()).status == 200
    refused = small.ask("POST", "/v1/reports", frame(small, hour=DAY + 48).to_bytes())
    assert refused.json["error"] == "the bucket begins after the next one by the collector's clock"
    assert refused.json["retry_after"] == 3600 * (DAY + 24 - NOW // 3600)  # when the one before it begins
    small.fold()


def test_a_key_in_the_frame_and_another_in_the_header_are_refused(small: Running) -> None:
    own, other = (small.key("write", name) for name in ("themes", "other"))
    assert small.ask("POST", "/v1/reports", frame(small).to_bytes(), other).kind == "wrong-key"
    assert small.ask("POST", "/v1/reports", frame(small).to_bytes(), own).status == 200
    assert small.ask("POST", "/v1/reports", frame(small).to_bytes(), small.key("read")).kind == "wrong-key"
    small.fold()


def test_closed_collections_and_expired_specs_take_nothing(collector: Running) -> None:
    def change(**settings: Any) -> Answer:
        return collector.ask("PATCH", "/v1/collections/themes", settings, collector.admin)

    def send() -> Answer:
        return collector.ask("POST", "/v1/reports", frame(collector).to_bytes())

    assert change(open=False).json["settings"]["open"] is False
    assert send().kind == "closed"
    assert change(open=True, expired=[M.fingerprint]).json["specs"][0]["expired"] is True
    assert send().kind == "expired"
    assert collector.ask("GET", "/v1/forms/themes").kind == "expired"
    assert change(expired=[]).status == 200
    assert send().status == 200


def test_refusals_are_counted_by_day_and_reason_for_the_readers_of_the_collection(collector: Running) -> None:
    secret = Key.read(collector.key("write")).secret
    for _ in range(3):
        collector.ask("POST", "/v1/reports", frame(collector, payloads=b"\3").to_bytes())
    collector.ask("POST", "/v1/reports", Frame(secret, bytes(32), DAY, b"", bytes(16), b"\0").to_bytes())
    rows = [
        {"day": "2026-03-30", "kind": "bad-payload", "count": 3},
        {"day": "2026-03-30", "kind": "unknown-spec", "count": 1},
    ]
    path, key = "/v1/collections/themes/refusals", collector.key("read")
    assert collector.ask("GET", path, None, key).json == {"refusals": rows}
    collector.service.keeper.round()
    assert collector.ask("GET", path, None, key).json == {"refusals": rows}


def test_a_change_of_settings_undoes_no_other(collector: Running) -> None:
    service = collector.service
    stale = service.directory.desk("themes")
    service.office.change(stale, {"open": False})
    service.office.change(stale, {"minimum": 7})  # by a process that has not read the first yet
    service.refresh()
    settings = service.directory.desk("themes").settings
    assert (settings.open, settings.minimum) == (False, 7)


def test_changes_that_meet_each_other_again_and_again_are_refused(
    collector: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector.service.store, "change_collection", lambda *_: False)
    change = collector.ask("PATCH", "/v1/collections/themes", {"open": False}, collector.admin)
    assert change.kind == "conflict"


def test_deleting_reports_is_bounded_by_the_rate_of_the_key(collector: Running) -> None:
    collector.make("slow", requests_per_second=1.0)
    paths = [f"/v1/reports/{place:032x}?bucket={DAY}" for place in range(20)]
    kinds = [collector.ask("DELETE", path, None, collector.key("write", "slow")).kind for path in paths]
    assert kinds[0] == "no-such-report"
    assert kinds[-1] == "rate"


def test_readiness_waits_for_no_question(collector: Running) -> None:
    with contextlib.ExitStack() as stack:
        release = threading.Event()
        stack.callback(release.set)
        for _ in range(100):
            for threads in (collector.application._answering, collector.application._prompt):
                threads.pool.submit(release.wait, 30)
        assert collector.ask("GET", "/ready").status == 200
        assert not release.is_set()
