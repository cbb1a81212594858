"""What is asked comes signed, from the key that was pinned or seen first, and is used until it expires."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import deniable as dn
from deniable.client import Client, Unreachable
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.wire.forms import Segment, Signer
from deniable.wire.payloads import Question
from deniable.wire.refusals import Refused
from tests.client.collector import BEFORE, CUT, GATEWAY, NAME, PORTAL, QUESTION, Collector
from tests.hostile import forms

Device = Callable[..., Client]
FORM = f"GET /v1/forms/{NAME}"


@dataclass(frozen=True)
class Written:
    """A form as some other release would write it."""

    text: str

    def to_json(self) -> str:
        return self.text


def test_a_form_is_fetched_once_and_kept(collector: Collector, device: Device) -> None:
    for person in ("ann", "ben", "cem"):
        device(person=person).answer("walk")
    assert collector.requests[FORM] == 1


def test_a_form_that_has_expired_is_fetched_again(collector: Collector, device: Device) -> None:
    clock = [time.time()]
    client = device(clock=lambda: clock[0])
    client.refresh()
    clock[0] += 86_000
    client.answer("walk")
    assert collector.requests[FORM] == 1
    clock[0] += 1000
    collector.skew = 87_000
    later = device(clock=lambda: clock[0], person="ann")
    later.answer("walk")
    assert collector.requests[FORM] == 2


def test_a_form_that_has_expired_is_not_used_offline(collector: Collector, device: Device) -> None:
    clock = [time.time()]
    client = device(clock=lambda: clock[0])
    client.refresh()
    clock[0] += 90_000
    collector.faults.extend([BEFORE] * 3)
    with pytest.raises(Unreachable):
        client.answer("walk")
    collector.faults.clear()
    with pytest.raises(Unreachable, match="Is the clock of this device right"):  # the collector's is a day behind
        client.answer("walk")
    assert client.spent() == 0


@pytest.mark.parametrize("fault", [BEFORE, PORTAL, GATEWAY, CUT, "storage"])
def test_without_a_form_nothing_is_spent(collector: Collector, device: Device, fault: str) -> None:
    client = device()
    collector.faults.append(fault)
    with pytest.raises((Unreachable, Refused)):
        client.answer("walk")
    assert client.spent() == 0
    assert client.answer("walk").state == "waiting"


def test_a_pinned_key_or_fingerprint_is_enough(collector: Collector, device: Device) -> None:
    for person, pin in (("ann", collector.signed_by), ("ben", QUESTION.fingerprint)):
        assert device(person=person, pinned=pin).answer("walk").state == "waiting"


def test_another_pin_is_refused(device: Device) -> None:
    with pytest.raises(dn.SpecError, match="neither the key nor the spec that is pinned"):
        device(pinned="0" * 64).answer("walk")
    with pytest.raises(dn.SpecError, match="pinned is 000000000000"):
        device(pinned="0" * 64, spec=QUESTION)


def test_a_pinned_spec_is_answered_though_there_is_a_newer_one(collector: Collector, device: Device) -> None:
    collector.questions.insert(0, dn.mechanism("grr", k=4, epsilon=9.0))
    assert device(pinned=QUESTION.fingerprint).answer("walk").fingerprint == QUESTION.fingerprint


def test_another_key_than_before_is_refused(collector: Collector, device: Device) -> None:
    device().refresh()
    collector.signer = Signer.new()
    with pytest.raises(dn.SpecError, match=collector.signed_by):
        device().refresh()
    device(pinned=collector.signed_by).refresh()
    device().refresh()


def test_a_changed_bit_of_a_form_is_refused(
    collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = collector.form()
    for changes in (
        {"form": signed["form"].replace('"bucket":"day"', '"bucket":"hour"')},
        {"signature": f"{int(signed['signature'][0], 16) ^ 1:x}" + signed["signature"][1:]},
        {"key": Signer.new().public.hex()},
    ):
        monkeypatch.setattr(collector, "form", lambda changes=changes: {**signed, **changes})
        with pytest.raises(dn.SpecError, match="not signed by the key it names"):
            device().answer("walk")
    assert device().spent() == 0


def test_the_form_of_another_collection_is_refused(device: Device, collector: Collector) -> None:
    client = device(collection="other", spec=collector.questions[0])
    with pytest.raises(Refused):
        client.refresh()
    with pytest.raises(dn.SpecError, match="form is of the collection 'commute'"):
        device(collection="other", spec=json.dumps(collector.form()))


def test_a_closed_collection_is_not_answered(collector: Collector, device: Device) -> None:
    collector.open = False
    with pytest.raises(Refused, match="closed"):
        device().answer("walk")
    assert device().spent() == 0


def test_a_mechanism_that_is_not_known_is_refused_by_name_or_passed_over(
    collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    future = {**QUESTION.spec.to_dict(), "mechanism": "telepathy"}
    form = json.loads(collector.form()["form"])

    def signed(specs: list[object]) -> dict[str, str]:
        from deniable.wire.forms import Form

        read = Form.from_json(json.dumps({**form, "specs": specs}))
        return collector.signer.signed(read)

    monkeypatch.setattr(collector, "form", lambda: signed([future]))
    with pytest.raises(dn.SpecError, match="telepathy"):
        device().answer("walk")
    monkeypatch.setattr(collector, "form", lambda: signed([future, QUESTION.spec.to_dict()]))
    assert device().answer("walk").fingerprint == QUESTION.fingerprint


@pytest.mark.parametrize(
    ("changes", "kind", "told"),
    [
        ({"deniable_form": 2, "colour": "red"}, dn.UnsupportedVersion, "form has version 2; this release reads up to"),
        ({"bucket": "fortnight"}, dn.SpecError, "form counts by the 'fortnight'; this release knows hour, day"),
        ({"bucket": ["day"]}, dn.SpecError, "form member bucket is of the wrong type"),
    ],
)
def test_a_collector_that_is_too_new_costs_nothing_and_loses_nothing(
    collector: Collector,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    kind: type[Exception],
    told: str,
) -> None:
    usual = collector.form
    written = Written(json.dumps(json.loads(usual()["form"]) | changes))
    monkeypatch.setattr(collector, "form", lambda: collector.signer.signed(written))  # type: ignore[arg-type]
    with pytest.raises(kind, match=re.escape(told)):
        device().answer("walk")
    assert device().spent() == 0
    monkeypatch.setattr(collector, "form", usual)
    assert device().answer("walk").state == "waiting"


def test_a_costly_spec_is_refused(collector: Collector, device: Device) -> None:
    collector.questions = [dn.mechanism("grr", k=2**25, epsilon=1.0)]
    with pytest.raises(dn.SpecError, match="above the limit"):
        device().answer(1)
    assert device().spent() == 0


def test_segments_are_named_by_the_form(collector: Collector, device: Device) -> None:
    collector.segments = (Segment("version", ("1.0", "2.0")), Segment("country", ("de", "fr", "no")))
    chosen = {"country": "no", "version": "2.0"}
    device(segments=chosen).answer("walk")
    assert device(segments=chosen).send().sent == 1
    (frame,) = collector.taken.values()
    assert frame.segments == bytes([1, 2])
    for wrong in ({}, {"version": "2.0"}, {**chosen, "extra": "1"}, {**chosen, "country": "se"}):
        with pytest.raises(dn.InvalidArgument, match="segment"):
            device(person="ann", segments=wrong).answer("walk")
    assert device(person="ann").spent() == 0


def test_ids_are_fetched_where_the_form_says_so(collector: Collector, device: Device) -> None:
    collector.issued_ids = True
    client = device()
    client.refresh()  # ids too, ahead
    entry = client.answer("walk")
    assert collector.requests["GET /v1/ids"] == 1
    assert entry.id in collector.issued
    assert client.send().sent == 1
    for number in range(9):
        other = device(person=str(number))
        other.answer("walk")
        assert other.send().sent == 1
    assert collector.requests["GET /v1/ids"] == 2
    assert len({report_id for _, report_id in collector.taken}) == 10


def test_without_issued_ids_nothing_is_spent(collector: Collector, device: Device) -> None:
    collector.issued_ids = True
    client = device()
    for fault in (BEFORE, PORTAL):
        collector.faults.extend([None, fault] if fault == BEFORE else [fault])
        with pytest.raises(Unreachable):
            client.answer("walk")
    assert client.spent() == 0


@pytest.mark.parametrize("bucket", ["hour", "day", "week", "none"])
def test_reports_name_the_bucket_they_were_made_in(collector: Collector, device: Device, bucket: str) -> None:
    collector.bucket, collector.window = bucket, 400
    for person, options in (("ann", {}), ("ben", {"spec": QUESTION, "bucket": bucket})):
        client = device(person=person, **options)
        client.answer("walk")
        assert client.send().sent == 1


OPEN = dn.Domain.open()
QUESTIONS: dict[str, tuple[Question, object]] = {
    "clh": (dn.mechanism("clh", k=50, epsilon=2.0), 49),
    "olh": (dn.mechanism("olh", k=100, epsilon=1.0), 99),
    "oue": (dn.mechanism("oue", k=1000, epsilon=1.0), 999),
    "ss": (dn.mechanism("ss", k=30, epsilon=1.0), 7),
    "hr": (dn.mechanism("hr", k=30, epsilon=1.0), 7),
    "integers": (dn.mechanism("csr", domain=dn.Domain.integers(-5, 5, no_answer=True), epsilon=1.0), None),
    "other": (dn.mechanism("grr", domain=dn.Domain.categories(["x", "y"], other=True), epsilon=1.0), "z"),
    "open orr": (dn.mechanism("orr", domain=OPEN, epsilon=1.0), "example.org"),
    "open cms": (dn.mechanism("cms", domain=OPEN, epsilon=1.0), "example.org"),
    "hitters": (HeavyHitters.new(epsilon=4.0, max_bytes=9), "example"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_of_every_kind_are_answered(collector: Collector, device: Device, name: str) -> None:
    question, value = QUESTIONS[name]
    collector.questions = [question]
    client = device()
    client.answer(value)
    assert client.send().sent == 1
    assert client.spent() == question.guarantee().epsilon
    assert "factor of at most" in str(client.explain())


@pytest.mark.parametrize("form", ["mechanism", "text", "bytes", "dict", "file", "signed", "signed file"])
def test_a_spec_can_be_given_in_any_form(collector: Collector, device: Device, tmp_path: Path, form: str) -> None:
    spec = QUESTION.spec
    signed = json.dumps(collector.form())
    file, signed_file = tmp_path / "spec.json", tmp_path / "form.json"
    file.write_text(spec.to_json())
    signed_file.write_text(signed)
    given = {
        "mechanism": QUESTION,
        "text": spec.to_json(),
        "bytes": spec.to_json().encode(),
        "dict": spec.to_dict(),
        "file": file,
        "signed": signed,
        "signed file": signed_file,
    }[form]
    client = device(spec=given)
    client.answer("walk")
    assert collector.requests[FORM] == 0
    assert client.send().sent == 1


@pytest.mark.parametrize("spec", ["", "[]", "7", "{}", b"\xff", {"deniable": 1}])
def test_a_spec_that_is_none_is_refused(device: Device, spec: object) -> None:
    with pytest.raises(dn.SpecError):
        device(spec=spec)


def test_an_address_that_anybody_can_listen_to_needs_a_pin(store: Path, collector: Collector) -> None:
    arguments = ("http://reports.example.org", collector.key.text, NAME)
    with pytest.raises(dn.InvalidArgument, match="begin with https"):
        Client(*arguments, store=store)
    Client(*arguments, store=store, pinned=collector.signed_by)
    Client(*arguments, store=store, spec=QUESTION)


@pytest.mark.parametrize(
    ("member", "value", "says"),
    [
        ("specs", [5], "each spec of a form must be a JSON object"),
        ("specs", [QUESTION.spec.to_dict(), True], "each spec of a form must be a JSON object"),
        ("specs", [QUESTION.spec.to_dict()] * 17, "at most 16 specs, got 17"),
        ("segments", [{"name": "a", "labels": ["b"]}] * 4, "at most 3 segments, got 4"),
        ("segments", [{"name": "a", "labels": [str(n) for n in range(256)]}], "1 to 255 labels, got 256"),
        ("segments", [{"name": "a", "labels": []}], "1 to 255 labels, got 0"),
        ("window", 10**300, "window must lie from 0 to 1,099,511,627,776"),
        ("window", -1, "window must lie from 0"),
        ("issued", 2**50, "issued must lie from 0"),
        ("expires", 2**64, "expires must lie from 0"),
    ],
)
def test_a_form_that_no_collector_makes_is_refused_before_anything_is_spent(
    member: str, value: object, says: str, collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = json.loads(collector.form()["form"])
    signed = forms.sign(json.dumps({**found, member: value}))
    monkeypatch.setattr(collector, "form", lambda: signed)
    client = device()
    with pytest.raises(dn.SpecError, match=says):
        client.answer("walk")
    assert client.spent() == 0


@pytest.mark.parametrize("bucket", [2**70, -1, 2**32, "today"])
def test_ids_of_a_bucket_that_cannot_be_are_no_ids(
    bucket: object, collector: Collector, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.issued_ids = True
    issue = collector.issue
    monkeypatch.setattr(collector, "issue", lambda count: {**issue(count), "bucket": bucket})
    client = device()
    with pytest.raises(Unreachable, match="holds no ids"):
        client.answer("walk")
    assert client.spent() == 0
