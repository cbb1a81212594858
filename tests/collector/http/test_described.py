"""What every route answers is what the OpenAPI document says, to the last member."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import deniable as dn
from deniable.collector.http.openapi import described
from deniable.collector.http.table import ROUTES
from deniable.core.reports import Reports
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from tests.collector.http import conforming
from tests.collector.http.asking import COUNTRIES, PATH, send
from tests.collector.http.running import DAY, LABELS, M, Running, batch, frame

WORDS = dn.mechanism("orr", domain=dn.Domain.open(max_bytes=20), epsilon=4.0)
AGES = dn.mechanism("grr", domain=dn.Domain.integers(0, 9), epsilon=2.0)
HITTERS = dn.HeavyHitters.new(epsilon=6.0, max_bytes=3, alphabet="abc")
ID = "0b" * 16
# a good request, or several, for every route: the rest of the path with the query, and the body
GOOD: dict[str, list[tuple[str, Any]]] = {
    "POST /v1/reports": [("", "report")],
    "POST /v1/batches": [("", "batch")],
    "DELETE /v1/reports/{id}": [(f"?bucket={DAY}", None)],
    "GET /v1/ids": [("?count=3", None)],
    "GET /v1/forms/{name}": [("", None)],
    "GET /v1/keys": [("", None)],
    "POST /v1/keys": [("", {"label": "second"})],
    "DELETE /v1/keys/{id}": [("", None)],
    "GET /v1/collections": [("", None)],
    "POST /v1/collections": [("", {"name": "new", "spec": M.spec.to_dict(), "settings": COUNTRIES})],
    "GET /v1/collections/{name}": [("", None)],
    "PATCH /v1/collections/{name}": [("", {"retention_days": 900})],
    "GET /v1/collections/{name}/specs": [("", None), (f"?fingerprint={M.fingerprint}", None)],
    "POST /v1/collections/{name}/specs": [
        ("", {"spec": dn.mechanism("oue", labels=LABELS, epsilon=1.0).spec.to_dict()})
    ],
    "GET /v1/collections/{name}/keys": [("", None)],
    "POST /v1/collections/{name}/keys": [("", {"role": "read", "label": "dashboard"})],
    "DELETE /v1/collections/{name}/keys/{id}": [("", None)],
    "GET /v1/collections/{name}/estimate": [
        (query, None) for query in ("", "?format=columns", "?format=csv", "?format=arrow", "?top=2", "?method=unbiased")
    ],
    "GET /v1/collections/{name}/trend": [
        ("?value=a", None),
        ("?value=a&format=csv", None),
        ("?value=c&from=2026-03-30", None),
    ],
    "GET /v1/collections/{name}/difference": [
        ("?a.country=de&b.country=fr", None),
        ("?a.country=de&b.country=fr&top=1", None),
    ],
    "POST /v1/collections/{name}/candidates": [
        ("", {"candidates": ["apple", "plum"]}),
        ("", {"candidates": ["apple", "plum"], "complete": True, "method": "least-squares"}),
    ],
    "GET /v1/collections/{name}/heavy-hitters": [("", None), ("?top=1", None)],
    "GET /v1/collections/{name}/published": [("", None)],
    "GET /v1/collections/{name}/refusals": [("", None)],
    "GET /v1/collections/{name}/summaries": [("", None)],
    "POST /v1/collections/{name}/summaries": [(f"?id={ID}", "table")],
    "POST /v1/preview": [
        ("", {"labels": LABELS, "epsilon": 1.0}),
        ("", {"spec": WORDS.spec.to_dict()}),
        ("", {"spec": HITTERS.to_dict(), "n": 10}),
    ],
    "GET /v1/openapi.json": [("", None)],
    "GET /health": [("", None)],
    "GET /ready": [("", None)],
    "GET /metrics": [("", None)],
    "GET /": [("", None)],
    "GET /{file}": [("", None)],
}
NAMES = {"POST /v1/collections/{name}/candidates": "words", "GET /v1/collections/{name}/heavy-hitters": "found"}


@pytest.fixture(scope="module")
def busy() -> Iterator[Running]:
    """A collector with reports of all kinds: of labels, numbers, words, and strings to be found."""
    made = Running()
    made.make(**COUNTRIES)
    made.make("ages", AGES)
    made.make("words", WORDS)
    made.make("found", HITTERS)
    for place in range(2):
        for day in range(2):
            send(made, M, ["a"] * 300 + ["b"] * 100, hour=DAY - 24 * day, segments=bytes([place]))
    send(made, AGES, [3] * 300 + [4] * 100, "ages")
    send(made, WORDS, ["apple"] * 3000 + ["pear"] * 1500, "words")
    drawn = HITTERS.privatize(["abc"] * 3000 + ["ca"] * 1000, seed=3)
    reports = dn.HitterReports(drawn.levels, Reports(drawn.reports.data, HITTERS.fingerprint))
    secret, payloads = Key.read(made.keys["found"]["write"]).secret, Payloads(HITTERS, False).joined(reports)
    sent = Frame(secret, bytes.fromhex(HITTERS.fingerprint), DAY, b"", b"", payloads, 4000, os.urandom(16))
    assert made.ask("POST", "/v1/batches", sent.to_bytes()).status == 200
    made.fold()
    for kind in ("not-found", "wrong-method"):  # counted by day, for one of the routes
        made.service.outcomes.add("other", kind, DAY, made.service.directory.desk("themes").number)
    yield made
    made.close()


def test_every_route_has_a_good_request() -> None:
    assert set(GOOD) == {route.key for route in ROUTES}


def body_of(collector: Running, body: Any) -> Any:
    if body == "report":
        return frame(collector, segments=b"\0", ids=bytes.fromhex(ID)).to_bytes()
    if body == "batch":
        return batch(collector, ["a", "b"], segments=b"\0").to_bytes()
    if body == "table":
        return collector.ask("GET", f"{PATH}/summaries", None, collector.admin).body
    return body


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.key)
def test_good_requests_are_answered_as_the_document_says(busy: Running, route: Any) -> None:
    name = NAMES.get(route.key, "themes")
    if route.key == "DELETE /v1/reports/{id}":
        busy.ask("POST", "/v1/reports", body_of(busy, "report"))
    kinds = set()
    for rest, body in GOOD[route.key]:
        path = route.path.replace("{name}", name).replace("{file}", "app.css")
        if "/keys/" in path:
            keys, wanted = (f"{PATH}/keys", {"role": "read"}) if "{name}" in route.path else ("/v1/keys", {})
            made = busy.ask("POST", keys, wanted, busy.admin).json
            path = path.replace("{id}", made["id"])
        key = busy.key(route.role, name) if route.role != "anybody" else None
        answer = busy.ask(route.method, path.replace("{id}", ID) + rest, body_of(busy, body), key)
        assert answer.status == route.status, answer.body
        kinds.add(answer.headers["content-type"].partition(";")[0])
    assert kinds <= set(route.gives)


def test_labels_that_are_numbers_are_described(busy: Running) -> None:
    path, key = "/v1/collections/ages", busy.key("read", "ages")
    found = busy.ask("GET", f"{path}/estimate?top=1", None, key)
    assert found.json["values"][0]["label"] == 3
    assert busy.ask("GET", f"{path}/estimate?format=columns", None, key).status == 200


def test_a_form_that_the_client_has_is_described(busy: Running) -> None:
    tag = busy.ask("GET", "/v1/forms/themes").headers["etag"]
    assert busy.ask("GET", "/v1/forms/themes", if_none_match=tag).status == 304


def test_a_trend_with_buckets_that_are_not_told_is_described(busy: Running) -> None:
    busy.make("sparse", minimum=100)
    send(busy, M, ["a"] * 200, "sparse")
    send(busy, M, ["a"] * 50, "sparse", hour=DAY - 24)
    busy.fold()
    found = busy.ask("GET", "/v1/collections/sparse/trend?value=a", None, busy.admin).json
    assert [row["frequency"] is None for row in found["buckets"]] == [True, False]


def test_an_answer_with_a_member_too_many_or_too_few_is_noticed(busy: Running) -> None:
    path = f"{PATH}/difference"
    answer = busy.ask("GET", f"{path}?a.country=de&b.country=fr", None, busy.admin)
    for wrong in ({**answer.json, "more": 1}, {**answer.json, "n": 1}, {"n": [1, 2]}):
        with pytest.raises(jsonschema.ValidationError):
            conforming.check("GET", path, 200, answer.headers, wrong)


def test_every_answer_in_json_has_a_schema_that_says_something() -> None:
    operations = [own for paths in described()["paths"].values() for own in paths.values()]
    for operation in operations:
        for status, response in operation["responses"].items():
            schema = response.get("content", {}).get("application/json", {}).get("schema")
            open_ended = operation["operationId"] == "openapi" and status == "200"
            assert schema is None or open_ended or "$ref" in schema or "anyOf" in schema, operation["operationId"]
