"""The TypeScript client in single situations: what is final, what waits, what is never sent."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.wire.forms import Form, Signer
from tests.clients.typescript import Client, node

DEVICE = Path(__file__).with_name("device.mjs")
EXPECTED = {
    "a page of somebody else is no answer": ["queued", "queued", "queued"],
    "refusals by others and of settings leave the report waiting": ["queued"] * 4,
    "final refusals end it": ["expired", "refused", "refused"],
    "without consent nothing is sent": [0, "queued"],
    "what was never sent is forgotten without a request": [0, "expired", "forgotten", ""],
    "a larger epsilon costs the difference, under the cap": ["cap", True, 8, 8],
    "forms of another collection or past their date are refused": ["form", "clock", ""],
    "consent for one question is none for another": "consent",
}


@pytest.fixture(scope="module")
def happened(client: Client) -> dict[str, Any]:
    """What happened in every situation."""
    now, signer = int(time.time()), Signer.new()

    def signed(epsilon: float, name: str = "survey", expires: int = now + 1000) -> dict[str, str]:
        spec = dn.mechanism("grr", labels=["yes", "no"], epsilon=epsilon).spec.to_dict()
        return signer.signed(Form(name, True, (spec,), "day", (), 168, False, now - 10_000, expires))

    documents = {
        "small": signed(1.0),
        "large": signed(8.0),
        "other": signed(1.0, "other"),
        "old": signed(1.0, expires=now - 5),
    }
    command = [node(), str(DEVICE), str(client.built)]
    done = subprocess.run(
        command, input=json.dumps({"documents": documents}), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("case", EXPECTED)
def test_a_device_does_what_it_promises(happened: dict[str, Any], case: str) -> None:
    assert happened[case] == EXPECTED[case]


def test_a_report_that_may_have_arrived_is_deleted_until_the_collector_answers(happened: dict[str, Any]) -> None:
    *fates, words = happened["what may have arrived is deleted until the collector answers"]
    assert fates == ["withdrawing", "expired", "counted"]
    assert "after it was counted" in words


def test_what_is_at_most_so_much_is_rounded_up(happened: dict[str, Any]) -> None:
    words = happened["bounds are rounded up"]
    assert "more than 2.72 times" in words  # e = 2.71828...
    assert "at most 73.2% sure" in words
    assert "1 randomised byte under" in words
