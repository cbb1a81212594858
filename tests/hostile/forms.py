"""Forms of a hostile collector: whatever it likes, under its own signature, for a device that answers."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from deniable.client import Client
from deniable.client.entries import BEGUN
from deniable.wire.forms import LATEST, MOST_LABELS, MOST_SPECS, Form, Segment, Signer
from tests.hostile.mutations import changed, junk, text_of

NAME, SEGMENT, LABELS = "commute", "system", ("a", "b")
NUMBERS = (-1, 0, 1, LATEST, LATEST + 1, 2**63, 10**300, True, 1.0)


@functools.cache
def signer() -> Signer:
    """The collector's key."""
    return Signer.new()


def form(spec: dict[str, Any]) -> dict[str, Any]:
    """The members of a sound form."""
    made = Form(NAME, True, (spec,), "day", (Segment(SEGMENT, LABELS),), 168, False, 1_700_000_000, LATEST)
    return dict(json.loads(made.to_json()))


def sign(text: str) -> dict[str, str]:
    """Any text with a good signature."""
    r, s = decode_dss_signature(signer().private.sign(text.encode("utf-8", "replace"), ec.ECDSA(hashes.SHA256())))
    return {
        "form": text,
        "key": signer().public.hex(),
        "signature": (r.to_bytes(32, "big") + s.to_bytes(32, "big")).hex(),
    }


def signed(source: random.Random, spec: dict[str, Any]) -> dict[str, Any]:
    """A signed form of which one to three members are odd, or the whole of it."""
    members = form(spec)
    for name in source.sample(sorted(members), source.choice((0, 1, 1, 1, 2, 3))):
        members[name] = _odd(name, members[name], source)
    text = json.dumps(members)
    if source.random() < 0.3:
        made = text_of(members, source)
        text = made if isinstance(made, str) else made.decode("utf-8", "replace")
    document: dict[str, Any] = sign(text)
    return changed(document, source) if source.random() < 0.1 else document


def _odd(name: str, value: Any, source: random.Random) -> Any:
    if source.random() < 0.3:
        return junk(source)
    if name == "specs":
        other, odd = changed(value[0], source), junk(source)
        return source.choice(([other], [other, *value], value * (MOST_SPECS + 1), [odd], [odd, *value]))
    if name == "segments":
        many = [str(number) for number in range(source.choice((MOST_LABELS, MOST_LABELS + 1, 0)))]
        return source.choice(([{**value[0], "labels": [*many, "a"]}], value * 4, changed(value, source), []))
    if name == "bucket":
        return source.choice(("hour", "day", "week", "none", "month", ["day"]))
    return source.choice(NUMBERS)


def answered(document: dict[str, Any], person: str, store: Path) -> None:
    """Answer what a signed form asks, as a device does that has no network; what was spent must have been sent."""
    client = Client(None, None, NAME, store=store, spec=document, person=person, segments={SEGMENT: "a"})
    client.consent(True)
    try:
        client.answer("yes")
    finally:
        entry = client.entry()
        if client.spent() > 0 and (entry is None or entry.state == BEGUN):
            raise AssertionError("epsilon was spent, and no report was made")
