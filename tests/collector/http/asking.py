"""Batches sent and answers read, as tests of answers do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from deniable.core.reports import Reports
from deniable.core.summary import Summary
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from tests import ROOT
from tests.collector.http.running import DAY, Running

COUNTRIES = {"segments": [{"name": "country", "labels": ["de", "fr", "it"]}]}
PATH = "/v1/collections/themes"
PAGE = (ROOT / "docs/collector-api.md").read_text()


def send(
    collector: Running,
    spec: Any,
    values: Sequence[object],
    name: str = "themes",
    hour: int = DAY,
    segments: bytes = b"",
) -> Summary:
    """Send a batch and return the summary of its reports."""
    reports = Reports(spec.privatize(values, seed=len(values)).data, spec.fingerprint)  # not flagged as simulated
    secret = Key.read(collector.keys[name]["write"]).secret
    payloads = Payloads(spec, False).joined(reports)
    sent = Frame(secret, bytes.fromhex(spec.fingerprint), hour, segments, b"", payloads, len(values), os.urandom(16))
    assert collector.ask("POST", "/v1/batches", sent.to_bytes()).status == 200
    return spec.summarize(reports)  # type: ignore[no-any-return]


def get(collector: Running, path: str, name: str = "themes") -> Any:
    answer = collector.ask("GET", f"/v1/collections/{name}/{path}", None, collector.key("read", name))
    assert answer.status == 200, answer.body
    return described(answer.json)


def described(found: dict[str, Any]) -> dict[str, Any]:
    """An answer, all of whose members the page on the API names."""
    assert [name for name in found if f'"{name}"' not in PAGE and f"`{name}`" not in PAGE] == []
    return found
