"""The examples of docs/collector-api.md: what they send is taken, and what they show is what is answered."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

import deniable as dn
from deniable.core.reports import Reports
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from tests.collector.http.asking import PAGE, send
from tests.collector.http.running import DAY, Running

THEMES = dn.mechanism("grr", labels=["light", "dark", "system"], epsilon=1.0)
WORDS = dn.mechanism("orr", domain=dn.Domain.open(max_bytes=20), epsilon=4.0)
HITTERS = dn.HeavyHitters.new(epsilon=6.0, max_bytes=3, alphabet="abc")
LEFT_OUT = "..."


def examples(after: str) -> list[Any]:
    """The JSON in the first block after these words."""
    block = PAGE.split(after, 1)[1].split("```text\n", 1)[1].split("```", 1)[0]
    starts = re.finditer(r"^(?:\d{3} )?(?=\{)", block, re.MULTILINE)
    return [json.JSONDecoder().raw_decode(block, start.end())[0] for start in starts]


def differences(shown: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where an answer is not like an example: other members, other types, other words."""
    if isinstance(shown, dict) and isinstance(found, dict):
        more = LEFT_OUT in shown
        for name in sorted((shown.keys() ^ found.keys()) - ({LEFT_OUT} | (found.keys() if more else set()))):
            yield f"{place}.{name} is in one of the two"
        for name in shown.keys() & found.keys():
            yield from differences(shown[name], found[name], f"{place}.{name}")
    elif isinstance(shown, list) and isinstance(found, list):
        if len(shown) > len(found):
            yield f"{place} has fewer rows"
        for number, (one, other) in enumerate(zip(shown, found, strict=False)):
            yield from differences(one, other, f"{place}[{number}]")
    elif isinstance(shown, str) and isinstance(found, str):
        if digits := re.fullmatch("<([0-9]+) digits>", shown):
            if not re.fullmatch(f"[0-9a-f]{{{digits[1]}}}", found):
                yield f"{place} has no {digits[1]} digits"
        elif not found.startswith(shown.partition(LEFT_OUT)[0]):
            yield f"{place} is {found!r}"
    elif type(shown) is not type(found):
        yield f"{place} is {found!r}"


@pytest.fixture(scope="module")
def shown() -> Iterator[tuple[Running, Any]]:
    """A collector with the collection of the page, made by the request of the page, and what was answered."""
    made = Running()
    body, _ = examples("## Make a collection")
    answer = made.ask("POST", "/v1/collections", body, made.admin)
    assert answer.status == 201, answer
    made.keys["themes"] = {each["role"]: each["key"] for each in answer.json["keys"]}
    for place in range(2):
        for day in range(2):
            values = ["dark"] * 20_000 + ["light"] * (10_000 + 9_000 * place)
            send(made, THEMES, values, hour=DAY + 24 - 24 * day, segments=bytes([place]))
    made.make("words", WORDS)
    send(made, WORDS, ["a"] * 3000 + ["z"] * 1500, "words")
    made.make("found", HITTERS)
    drawn = HITTERS.privatize(["abc"] * 3000, seed=3)
    reports = dn.HitterReports(drawn.levels, Reports(drawn.reports.data, HITTERS.fingerprint))
    secret, payloads = Key.read(made.keys["found"]["write"]).secret, Payloads(HITTERS, False).joined(reports)
    sent = Frame(secret, bytes.fromhex(HITTERS.fingerprint), DAY, b"", b"", payloads, 3000, os.urandom(16))
    assert made.ask("POST", "/v1/batches", sent.to_bytes()).status == 200
    made.fold()
    yield made, answer.json
    made.close()


def test_a_collection_is_made_as_the_page_shows(shown: Any) -> None:
    body, expected = examples("## Make a collection")
    assert body["spec"] == THEMES.spec.to_dict()
    assert not list(differences(expected, shown[1]))


@pytest.mark.parametrize(
    ("after", "path", "about"),
    [
        ("/estimate` gives", "themes/estimate", ()),
        ("GET .../trend?value=dark", "themes/trend?value=dark", ("label", "buckets")),
        ("GET .../difference?a.country", "themes/difference?a.country=de&b.country=fr", ()),
        ("`GET .../heavy-hitters` gives", "found/heavy-hitters", ("strings",)),
    ],
)
def test_answers_are_as_the_page_shows(shown: Any, after: str, path: str, about: tuple[str, ...]) -> None:
    (expected,) = examples(after)
    found = shown[0].ask("GET", f"/v1/collections/{path}", None, shown[0].admin).json
    chosen = {name: found[name] for name in about} if about else found
    assert not list(differences(expected, chosen))


def test_candidates_are_answered_as_the_page_shows(shown: Any) -> None:
    collector, (expected,) = shown[0], examples("`POST .../candidates`, for open domains")
    (asked,) = re.findall(r"takes `(\{\"candidates\".*?\})`", PAGE, re.DOTALL)
    body = {**json.loads(asked), "segments": {}}
    found = collector.ask("POST", "/v1/collections/words/candidates", body, collector.admin)
    assert found.status == 200, found
    assert not list(differences({**expected, LEFT_OUT: LEFT_OUT}, found.json))


def test_an_example_that_is_wrong_is_noticed() -> None:
    shown = {"n": 1, "id": "<4 digits>", "rows": [{"a": 1.0}]}
    assert not list(differences(shown, {"n": 2, "id": "0af1", "rows": [{"a": 2.0}, {"b": 1}]}))
    for wrong in ({"n": "2"}, {"id": "0a"}, {"rows": []}, {"rows": [{"b": 1.0}]}, {"more": 1}):
        assert list(differences(shown, {"n": 2, "id": "0af1", "rows": [{"a": 2.0}], **wrong}))
