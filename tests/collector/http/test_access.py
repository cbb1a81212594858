"""Who may do what, over every route: a route that is added without a row here fails."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.collector.http.table import ANYBODY, ROUTES, Route
from deniable.wire.keys import ADMIN, READ, WRITE, Key
from tests.collector.http.running import DAY, Answer, M, Running, batch, frame

ID = "00" * 16
KEYS = ("none", "unknown", WRITE, READ, ADMIN, "other write", "other read")
OPEN_TO = {  # of all keys, those that open each kind of route
    ANYBODY: set(KEYS),
    WRITE: {WRITE},
    READ: {READ, ADMIN},
    ADMIN: {ADMIN},
}
# the role of each route, said again, so that a change in the table is a change here; True: other collections' keys work
MATRIX: dict[str, tuple[str, bool]] = {
    "POST /v1/reports": (WRITE, False),
    "POST /v1/batches": (WRITE, False),
    "DELETE /v1/reports/{id}": (WRITE, True),
    "GET /v1/ids": (WRITE, True),
    "GET /v1/forms/{name}": (ANYBODY, True),
    "GET /v1/collections": (READ, True),
    "POST /v1/collections": (ADMIN, False),
    "GET /v1/collections/{name}": (READ, False),
    "PATCH /v1/collections/{name}": (ADMIN, False),
    "GET /v1/collections/{name}/specs": (READ, False),
    "POST /v1/collections/{name}/specs": (ADMIN, False),
    "GET /v1/collections/{name}/keys": (ADMIN, False),
    "POST /v1/collections/{name}/keys": (ADMIN, False),
    "DELETE /v1/collections/{name}/keys/{id}": (ADMIN, False),
    "GET /v1/keys": (ADMIN, False),
    "POST /v1/keys": (ADMIN, False),
    "DELETE /v1/keys/{id}": (ADMIN, False),
    "GET /v1/collections/{name}/estimate": (READ, False),
    "GET /v1/collections/{name}/trend": (READ, False),
    "GET /v1/collections/{name}/difference": (READ, False),
    "POST /v1/collections/{name}/candidates": (READ, False),
    "GET /v1/collections/{name}/heavy-hitters": (READ, False),
    "GET /v1/collections/{name}/published": (READ, False),
    "GET /v1/collections/{name}/refusals": (READ, False),
    "GET /v1/collections/{name}/summaries": (ADMIN, False),
    "POST /v1/collections/{name}/summaries": (ADMIN, False),
    "POST /v1/preview": (ADMIN, False),
    "GET /v1/openapi.json": (ANYBODY, True),
    "GET /health": (ANYBODY, True),
    "GET /ready": (ANYBODY, True),
    "GET /metrics": (READ, True),
    "GET /": (ANYBODY, True),
    "GET /{file}": (ANYBODY, True),
}
BODIES: dict[str, Any] = {
    "PATCH /v1/collections/{name}": {},
    "POST /v1/collections": {"name": "new", "spec": M.spec.to_dict()},
    "POST /v1/collections/{name}/specs": {"spec": M.spec.to_dict()},
    "POST /v1/collections/{name}/keys": {"role": "read"},
    "POST /v1/keys": {"label": "another administrator"},
    "POST /v1/collections/{name}/candidates": {"candidates": ["a"]},
    "POST /v1/collections/{name}/summaries": b"no table",
    "POST /v1/preview": {"labels": ["a", "b"], "epsilon": 1.0},
}
QUERIES = {"trend": "?value=a", "summaries": f"?id={ID}", f"reports/{ID}": f"?bucket={DAY}"}


@pytest.fixture(scope="module")
def two() -> Any:
    """A collector with two collections."""
    made = Running()
    made.make()
    made.make("other")
    yield made
    made.close()


def key_named(collector: Running, name: str, role: str) -> str | None:
    if name == "none":
        return None
    if name == "unknown":
        return Key.new(READ if role == ANYBODY else role).text
    return collector.key(name.rpartition(" ")[2], "other" if name.startswith("other") else "themes")


def opens(route: Route, key: str) -> bool:
    """Whether the key should open the route, by the matrix."""
    role, others = MATRIX[route.key]
    own = key.rpartition(" ")[2]
    return key in OPEN_TO[role] or (key.startswith("other ") and others and own in OPEN_TO[role])


def ask(collector: Running, route: Route, secret: str | None) -> Answer:
    """Send a request that fits the route."""
    path = route.path.replace("{name}", "themes").replace("{id}", ID).replace("{file}", "app.css")
    path += QUERIES.get(path.removeprefix("/v1/").removeprefix("collections/themes/"), "")
    body = BODIES.get(route.key)
    if route.path == "/v1/reports" and route.method == "POST":
        body = frame(collector, key=bytes(16)).to_bytes()
    elif route.path == "/v1/batches":
        body = batch(collector, ["a"], key=bytes(16)).to_bytes()
    return collector.ask(route.method, path, body, secret)


def test_every_route_has_a_row() -> None:
    assert set(MATRIX) == {route.key for route in ROUTES}
    assert {route.key: route.role for route in ROUTES} == {key: role for key, (role, _) in MATRIX.items()}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.key)
def test_a_key_opens_what_its_row_says_and_nothing_else(two: Running, route: Route, key: str) -> None:
    answer = ask(two, route, key_named(two, key, route.role))
    if key.startswith("other write") and route.role == WRITE and not MATRIX[route.key][1]:
        assert answer.status == 200  # the report goes to the collection of the key
    elif opens(route, key):
        assert answer.kind not in ("no-key", "unknown-key", "wrong-key")
        assert answer.status < 500
    else:
        assert answer.kind == {"none": "no-key", "unknown": "unknown-key"}.get(key, "wrong-key")


@pytest.mark.parametrize("route", [route for route in ROUTES if route.role != ANYBODY], ids=lambda route: route.key)
def test_every_route_with_a_key_is_bounded_by_the_rate_of_the_key(two: Running, route: Route) -> None:
    allowance = two.service.directory.holder_of(Key.read(two.key(route.role))).allowance
    rates = allowance.requests, allowance._requests
    allowance.requests, allowance._requests = 0.001, 0.0
    try:
        answer = ask(two, route, two.key(route.role))
    finally:
        allowance.requests, allowance._requests = rates
    assert (answer.status, answer.kind) == (429, "rate")
    assert 0 < int(answer.headers["retry-after"]) <= 1000


def test_a_key_with_the_right_secret_and_another_role_is_refused(two: Running) -> None:
    secret = Key.read(two.key(WRITE)).secret
    for role in (READ, ADMIN):
        assert two.ask("GET", "/v1/collections", None, Key(role, secret).text).kind == "wrong-key"


def test_a_revoked_key_opens_nothing_and_its_successor_does(two: Running) -> None:
    made = two.ask("POST", "/v1/collections/themes/keys", {"role": "write", "label": "app 2"}, two.admin).json
    body = frame(two, key=bytes(16)).to_bytes()
    assert two.ask("POST", "/v1/reports", body, made["key"]).status == 200
    assert two.ask("DELETE", f"/v1/collections/themes/keys/{made['id']}", None, two.admin).json == {"revoked": True}
    assert two.ask("POST", "/v1/reports", body, made["key"]).kind == "unknown-key"
    assert two.ask("POST", "/v1/reports", body, two.key(WRITE)).status == 200
    listed = two.ask("GET", "/v1/collections/themes/keys", None, two.admin).json["keys"]
    assert [each["label"] for each in listed if each["revoked"] is not None] == ["app 2"]
    assert "dnw_" not in str(listed)


def test_an_administrators_key_is_listed_replaced_and_revoked_but_not_the_last(collector: Running) -> None:
    def keys(key: str) -> list[dict[str, Any]]:
        return list(collector.ask("GET", "/v1/keys", None, key).json["keys"])

    (first,) = keys(collector.admin)
    assert (first["role"], first["label"], first["revoked"]) == ("admin", "tests", None)
    refused = collector.ask("DELETE", f"/v1/keys/{first['id']}", None, collector.admin)
    assert (refused.kind, refused.status) == ("conflict", 409)
    assert "POST /v1/keys" in refused.json["error"]
    made = collector.ask("POST", "/v1/keys", {"label": "new"}, collector.admin)
    assert (made.status, made.json["role"]) == (201, "admin")
    assert collector.ask("DELETE", f"/v1/keys/{first['id']}", None, made.json["key"]).json == {"revoked": True}
    assert collector.ask("GET", "/v1/keys", None, collector.admin).kind == "unknown-key"
    assert {each["label"]: each["revoked"] is None for each in keys(made.json["key"])} == {"tests": False, "new": True}
    assert collector.ask("DELETE", f"/v1/keys/{made.json['id']}", None, made.json["key"]).kind == "conflict"
    assert collector.ask("DELETE", f"/v1/keys/{first['id']}", None, made.json["key"]).kind == "not-found"
    assert "dna_" not in str(keys(made.json["key"]))


def test_a_key_is_revoked_by_the_route_of_its_kind_alone(collector: Running) -> None:
    admin = collector.ask("POST", "/v1/keys", {}, collector.admin).json
    own = collector.ask("GET", "/v1/collections/themes/keys", None, collector.admin).json["keys"][0]
    assert collector.ask("DELETE", f"/v1/keys/{own['id']}", None, collector.admin).kind == "not-found"
    path = f"/v1/collections/themes/keys/{admin['id']}"
    assert collector.ask("DELETE", path, None, collector.admin).kind == "not-found"


def test_a_read_key_lists_its_own_collection_only(two: Running) -> None:
    def names(key: str) -> list[str]:
        return [each["name"] for each in two.ask("GET", "/v1/collections", None, key).json["collections"]]

    assert names(two.key(READ)) == ["themes"]
    assert {"themes", "other"} <= set(names(two.admin))
    counted = two.ask("GET", "/metrics", None, two.key(READ)).body.decode()
    assert 'collection="themes"' in counted
    assert 'collection="other"' not in counted


@pytest.mark.parametrize(
    "text", ["", "dnw_", "Basic abc", "dnx_AAAAAAAAAAAAAAAAAAAAAA", "dnr_AAAAAAAAAAAAAAAAAAAAAB", "ü"]
)
def test_what_is_no_key_is_refused_without_quoting_it(two: Running, text: str) -> None:
    answer = two.ask("GET", "/v1/collections", authorization=f"Bearer {text}")
    assert answer.kind == "no-key"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert len(text) < 5 or text not in answer.json["error"]
