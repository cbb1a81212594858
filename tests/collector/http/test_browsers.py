"""What browsers are told: which pages may use a collection, what the dashboard may load, how long a form is good."""

from __future__ import annotations

import json

import pytest

from deniable.collector.http.pages import FOLDER
from deniable.wire.forms import read_signed
from tests.collector.http.running import DAY, NOW, M, Running, frame

PAGE, OTHER = "https://example.org", "https://example.net"


@pytest.fixture
def shared(collector: Running) -> Running:
    """A collector with a collection for the pages of one origin."""
    collector.make("pages", origins=[PAGE])
    return collector


def test_pages_of_other_origins_cannot_send(shared: Running) -> None:
    body = frame(shared, "a", "pages").to_bytes()
    refused = shared.ask("POST", "/v1/reports", body, origin=OTHER, content_type="text/plain")
    assert refused.kind == "wrong-origin"
    assert "access-control-allow-origin" not in refused.headers
    taken = shared.ask("POST", "/v1/reports", body, origin=PAGE, content_type="text/plain")
    assert taken.status == 200
    assert taken.headers["access-control-allow-origin"] == PAGE
    assert taken.headers["vary"] == "origin"
    assert shared.ask("POST", "/v1/reports", frame(shared).to_bytes(), origin=PAGE).kind == "wrong-origin"


def test_a_page_learns_why_its_report_was_refused(shared: Running) -> None:
    body = frame(shared, "a", "pages", payloads=b"\7").to_bytes()
    refused = shared.ask("POST", "/v1/reports", body, origin=PAGE)
    assert refused.kind == "bad-payload"
    assert refused.headers["access-control-allow-origin"] == PAGE


def test_a_preflight_names_methods_and_headers_to_pages_that_may_send(shared: Running) -> None:
    allowed = shared.ask("OPTIONS", "/v1/reports", origin=PAGE)
    assert allowed.status == 204
    assert allowed.headers["access-control-allow-methods"] == "POST"
    assert allowed.headers["access-control-allow-headers"] == "authorization, content-type"
    assert shared.ask("OPTIONS", "/v1/reports", origin=OTHER).kind == "wrong-origin"
    assert shared.ask("OPTIONS", "/v1/collections/themes/estimate", origin=PAGE).kind == "wrong-origin"
    assert shared.ask("OPTIONS", "/v1/collections/pages/estimate", origin=PAGE).status == 204
    assert shared.ask("OPTIONS", "/v1/reports").headers["allow"] == "POST"
    assert shared.ask("OPTIONS", "/v1/nothing").kind == "not-found"


def test_a_collection_may_be_open_to_all_pages(shared: Running) -> None:
    shared.ask("PATCH", "/v1/collections/pages", {"origins": ["*"]}, shared.admin)
    body = frame(shared, "a", "pages").to_bytes()
    assert shared.ask("POST", "/v1/reports", body, origin=OTHER).headers["access-control-allow-origin"] == OTHER


def test_answers_are_for_the_dashboard_of_the_same_host_and_pages_that_are_listed(shared: Running) -> None:
    path, key = "/v1/collections/pages", shared.key("read", "pages")
    assert shared.ask("GET", path, None, key, origin=PAGE).headers["access-control-allow-origin"] == PAGE
    assert shared.ask("GET", path, None, key, origin=OTHER).kind == "wrong-origin"
    assert shared.ask("GET", path, None, key, origin="http://test").status == 200
    found = shared.ask("GET", path, None, key)
    assert found.headers["cache-control"] == "no-store"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert shared.ask("GET", "/v1/collections", None, shared.admin, origin=PAGE).kind == "wrong-origin"


def test_the_dashboard_may_load_nothing_from_elsewhere(collector: Running) -> None:
    page = collector.ask("GET", "/")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    for path in FOLDER.iterdir():
        if path.suffix in (".css", ".js", ".svg"):
            assert collector.ask("GET", f"/{path.name}").body == path.read_bytes()
    assert b"<script>" not in page.body


def test_a_form_is_signed_fresh_and_has_a_tag(collector: Running) -> None:
    first = collector.ask("GET", "/v1/forms/themes")
    view = collector.ask("GET", "/v1/collections/themes", None, collector.admin).json
    form = read_signed(first.body, view["signed_by"])
    assert (form.collection, form.open, form.bucket, form.window) == ("themes", True, "day", 168)
    assert form.specs == (M.spec.to_dict(),)
    assert form.issued <= NOW < form.expires <= NOW + 86_400
    tag = first.headers["etag"]
    unchanged = collector.ask("GET", "/v1/forms/themes", if_none_match=tag)
    assert (unchanged.status, unchanged.body) == (304, b"")
    collector.ask("PATCH", "/v1/collections/themes", {"open": False}, collector.admin)
    changed = collector.ask("GET", "/v1/forms/themes", if_none_match=tag)
    assert changed.status == 200
    assert json.loads(changed.json["form"])["open"] is False
    collector.now[0] = NOW + 86_400
    later = read_signed(collector.ask("GET", "/v1/forms/themes").body)
    assert later.issued <= NOW + 86_400 < later.expires
    assert later.issued // 3600 >= DAY


def test_a_head_is_a_get_and_options_name_the_methods(collector: Running) -> None:
    assert collector.ask("HEAD", "/health").status == 200
    assert collector.ask("OPTIONS", "/v1/collections/themes").headers["allow"] == "GET, PATCH"
