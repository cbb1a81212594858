"""The TypeScript client in single situations: what is final, what waits, what is never sent, what is said of it."""

from __future__ import annotations

import json
import math
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.wire.forms import Form, Signer
from tests.clients.typescript import Client, node

FOLDER = Path(__file__).parent
BOUNDS = (0.5, 1.0, 1.5, 3.0, 5.0, 8.0)
URL = "https://collector.example"
EXPECTED = {
    "a page of somebody else is no answer": ["queued", "queued", "queued"],
    "refusals by others and of settings leave the report waiting": ["queued"] * 4,
    "final refusals end it": ["expired", "refused", "refused"],
    "without consent nothing is sent": [0, "queued"],
    "what was never sent is forgotten without a request": [0, "expired", "forgotten", ""],
    "an acknowledgement outweighs the refusal of another attempt": ["refused", "sent"],
    "two tabs send a report once": 1,
    "no Retry-After makes it wait for ever": True,
    "a clock that was ahead does not keep a report for days": "sent",
    "an answer that is no object leaves the report waiting": "queued",
    "every request ends in time": [True, True, "offline"],
    "a larger epsilon costs the difference, under the cap": ["cap", True, 8, 8],
    "forms of another collection or past their date are refused": ["form", "clock", ""],
    "consent for one question is none for another": "consent",
    "a form that this program is too old for costs nothing": ["newer", 0, "newer", 0, "newer", 0],
    "what is no form is no answer": ["offline", "form", "form", "form", "form"],
    "ids that are none are no answer": ["offline", 0, "offline", 0, "offline", 0, "offline", 0],
    "an address has one spelling": [[True, False, False], 1, "url"],
    "a question has one answer at all addresses": [
        *(False, True, 1),
        [["https://elsewhere.example/v1/reports", "B" * 21 + "A"]],
        *(1, "sent", "consent"),
    ],
    "a report that may have arrived stays at its address": [URL, 1],
    "an answer that was begun at another address is finished for the same price": [1, "queued"],
    "other questions have answers of their own": [True, 2],
    "a beacon is sent on leaving and empties nothing": [1, f"{URL}/v1/reports", True, "queued", 0],
    "without consent no beacon is sent, whichever tab withdrew it": [1, True, True, True],
    "an answer in another tab is sent on leaving this one": True,
    "a report that another tab has sent is no beacon any more": True,
    "where tabs cannot talk a client works": ["queued", "queued"],
    "a report is sent within an hour unless told otherwise": [3_600_000, True],
    "what is spent is kept before a word is drawn": ["spent", "key"],
    "what has been read is answered in two changes: spent, then kept": [
        *(True, ["change", 1, False], ["words"]),
        ["change", 1, True],
    ],
    "what has been read is refused in the order of what has not": ["consent", "value", 0, None, False, 1],
    "the browser is asked to keep the ledger once there is consent": [0, 1],
    "a store that is full is not tried without end": [1, 0],
    "no request carries cookies or follows a redirect": [["GET", "POST", "DELETE"], True],
    "a report outlives its page, unless browsers would not carry it": [True, False],
    "pauses grow twofold up to an hour, and no two devices keep the same": [True, True, True],
    "Retry-After is heeded whoever says it": [["queued", True, 1], True] * 4,
    "a deletion heeds Retry-After of a proxy too": ["withdrawing", True],
    "a collection that is not there is told from a collector that does not answer": [
        *("unknown", "offline", "offline", "offline"),
    ],
    "a cap that bounds nothing is refused": ["setting"] * 6,
    "a delay that is none is refused": ["setting"] * 6,
    "a ledger that cannot be added to spends nothing": ["cap", 0],
    "a client without mechanisms says what it lacks": [
        *(True, "mechanisms must be a list, such as [grr]"),
        *("setting", "setting"),
    ],
    "storage that is barred is trouble with the store": "storage",
}


@dataclass(frozen=True)
class Written:
    """A form as some other release would write it."""

    text: str

    def to_json(self) -> str:
        return self.text


def forms(now: int) -> dict[str, Any]:
    """What collectors say: the usual, and what devices must not take."""
    signer = Signer.new()

    def form(epsilon: float = 1.0, name: str = "survey", expires: int = now + 1000, issued_ids: bool = False) -> Form:
        spec = dn.mechanism("grr", labels=["yes", "no"], epsilon=epsilon).spec.to_dict()
        return Form(name, True, (spec,), "day", (), 168, issued_ids, now - 10_000, expires)

    def written(**changes: Any) -> Any:
        return signer.signed(Written(json.dumps(json.loads(form().to_json()) | changes)))  # type: ignore[arg-type]

    return {
        "small": signer.signed(form()),
        "large": signer.signed(form(8.0)),
        "other": signer.signed(form(name="other")),
        "old": signer.signed(form(expires=now - 5)),
        "issued": signer.signed(form(issued_ids=True)),
        "bounds": {str(epsilon): signer.signed(form(epsilon)) for epsilon in BOUNDS},
        "fortnights": written(bucket="fortnight"),
        "layout": written(deniable_form=2),
        "layout with more": written(deniable_form=2, colour="red"),
        "garbage": signer.signed(Written("{")),  # type: ignore[arg-type]
    }


@pytest.fixture(scope="module")
def happened(client: Client) -> dict[str, Any]:
    """What happened in every situation."""
    documents, found = forms(int(time.time())), {}
    for cases in ("device.mjs", "ledger.mjs", "requests.mjs", "setups.mjs"):
        command = [node(), str(FOLDER / cases), str(client.built)]
        given = json.dumps({"documents": documents})
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found |= json.loads(done.stdout)
    return found


@pytest.mark.parametrize("case", EXPECTED)
def test_a_device_does_what_it_promises(happened: dict[str, Any], case: str) -> None:
    assert happened[case] == EXPECTED[case]


def test_a_report_that_may_have_arrived_is_deleted_until_the_collector_answers(happened: dict[str, Any]) -> None:
    *fates, words = happened["what may have arrived is deleted until the collector answers"]
    assert fates == ["withdrawing", "expired", "counted"]
    assert "after it was counted" in words


def test_what_was_lost_before_it_was_refused_may_have_been_counted(happened: dict[str, Any]) -> None:
    for fate, words, requests, end, after in happened["a report that was lost and then refused may have been counted"]:
        assert fate in ("refused", "expired")
        assert "may have been counted" in words
        assert "not counted" not in words
        assert (requests, end) == (1, "gone")
        assert "may have been counted" in after
        assert "deleted" not in after
    fate, words = happened["an attempt that never ended may have been counted"]
    assert fate == "refused"
    assert "may have been counted" in words


def test_what_was_refused_at_once_was_not_counted(happened: dict[str, Any]) -> None:
    for words, requests, after in happened["a report that was refused at once was not counted"]:
        assert "It was not counted." in words
        assert "may have been" not in words
        assert requests == 0
        assert "had not taken" in after
        assert "Nothing left this device" not in after


def test_deleted_is_said_only_where_the_collector_knows(happened: dict[str, Any]) -> None:
    (old, unsure), (known, sure) = happened["what the collector no longer remembers is not called deleted"]
    assert (old, known) == ("gone", "deleted")
    assert "deleted" not in unsure
    assert "it may have been counted" in unsure
    assert "before it was counted" in sure


@pytest.mark.parametrize("epsilon", BOUNDS)
def test_what_is_at_most_so_much_is_rounded_up(happened: dict[str, Any], epsilon: float) -> None:
    words = happened["bounds are rounded up"][str(epsilon)]
    odds = float(re.findall(r"more than ([0-9.,]+) times", words)[0].replace(",", ""))
    sure = float(re.findall(r"at most ([0-9.]+)% sure", words)[0])
    certainty = 100 / (1 + math.exp(-epsilon))
    assert math.exp(epsilon) <= odds <= 1.01 * math.exp(epsilon)
    assert certainty <= sure <= min(certainty + 0.1, 99.99)


def test_what_is_sent_is_shown(happened: dict[str, Any]) -> None:
    words, kept = happened["what is sent is shown"]
    day = time.strftime("%Y-%m-%d", time.gmtime(3600 * kept["hour"]))
    for part in (f"1 randomised byte, {kept['frame'][-2:]};", kept["id"], day, kept["fingerprint"][:12]):
        assert part in words
    assert "the network address that it sends from" in words
    assert "segments" not in words


def test_a_client_works_in_a_worker_with_a_fetch_and_a_store_of_its_own(client: Client) -> None:
    given = json.dumps({"documents": forms(int(time.time()))})
    command = [node(), str(FOLDER / "worker.mjs"), str(client.built)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["first"] == {"fresh": True, "fate": "queued"}
    assert found["again"] == {"fresh": False, "fate": "sent"}
    assert found["posted"] == [76 + 1]
    assert found["spent"] == 1
    assert "the collection has it" in found["words"]
    assert found["code"] == "storage"
