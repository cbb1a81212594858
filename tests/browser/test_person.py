"""A person answers on a page: once, whatever tabs, network and storage do, and sees what will be sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests import ROOT
from tests.browser.people import PATIENCE, QUESTION, Site, choose, picture, send
from tests.browser.test_dashboard import accessible

expect.set_options(timeout=PATIENCE)


def asked(site: Site, **more: str) -> Page:
    """The question, opened in a fresh browser."""
    page = site.context().new_page()
    page.goto(site.question(**more))
    page.get_by_role("heading", name=QUESTION).wait_for()
    return page


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_a_report_is_seen_then_sent_then_part_of_the_picture(site: Site, look: str) -> None:
    site.ask_about()
    options: dict[str, Any] = {"color_scheme": "dark" if look == "dark" else "light"}
    if look == "phone":
        options["viewport"] = {"width": 390, "height": 844}
    page = site.context(**options).new_page()
    page.goto(site.question(read=site.collector.key("read", "way-to-work")))
    page.get_by_role("heading", name=QUESTION).wait_for()
    picture(page, f"question-{look}")
    assert accessible(page) == []
    choose(page, "bus")
    assert site.reports() == 0  # nothing leaves before the person says so
    expect(page.get_by_text("at most 88.1% sure")).to_be_visible()
    picture(page, f"about-to-send-{look}")
    assert accessible(page) == []
    assert send(page) == "Thank you. Your report has arrived."
    expect(page.get_by_text("1 person answered")).to_be_visible()
    picture(page, f"answered-{look}")
    assert accessible(page) == []
    assert site.reports() == 1
    assert site.errors == []


def test_asking_again_never_makes_a_second_report(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    choose(page, "walk")
    frame = page.evaluate("indexedDB.databases().then(() => location.hash.length)")
    assert frame > 0
    page.reload()  # before it is sent: the same report waits
    page.get_by_role("heading", name="This is the report").wait_for()
    assert send(page) == "Thank you. Your report has arrived."
    page.goto("about:blank")
    page.goto(site.question())
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert page.get_by_role("radio").count() == 0
    assert site.reports() == 1


def test_two_tabs_at_once_make_one_report(site: Site) -> None:
    site.ask_about()
    context = site.context()
    tabs = [context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto(site.question())
        tab.get_by_role("heading", name=QUESTION).wait_for()
    for tab, value in zip(tabs, ("walk", "car"), strict=True):
        tab.get_by_role("radio", name=value, exact=True).check()
        tab.get_by_role("checkbox").check()
    for tab in tabs:
        tab.get_by_role("button", name="See what would be sent").click(no_wait_after=True)
    shown = []
    for tab in tabs:
        tab.get_by_role("heading", name="This is the report").wait_for()
        shown.append(tab.locator(".sent").inner_text())
    assert shown[0] == shown[1]
    for tab in tabs:
        assert send(tab) == "Thank you. Your report has arrived."
    assert site.reports() == 1


def test_an_answer_given_offline_waits_and_is_sent_when_the_network_is_back(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    choose(page, "bus")
    page.context.set_offline(True)
    assert send(page) == "Your report waits"
    assert site.reports() == 0
    page.context.set_offline(False)
    page.wait_for_timeout(200)
    for _ in range(100):
        if site.reports():
            break
        page.wait_for_timeout(100)
    assert site.reports() == 1
    page.reload()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_a_tab_that_is_closed_in_mid_send_counts_once(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    choose(page, "walk")
    page.get_by_role("button", name="Send it").click(no_wait_after=True)
    page.close()  # a beacon may go out; nobody hears whether it arrived
    again = next(iter(site._contexts)).new_page()
    again.goto(site.question())
    again.locator("h1").wait_for()
    if again.get_by_role("button", name="Send it").count():
        send(again)
    expect(again.get_by_role("heading", name="Thank you")).to_be_visible()
    assert site.reports() == 1


def test_a_lost_answer_of_the_server_counts_once(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    choose(page, "walk")
    lost = []

    def lose(route: Route) -> None:
        if lost:
            return route.continue_()
        lost.append(route.fetch().status)  # it arrives, and the answer does not
        return route.abort()

    page.route("**/v1/reports", lose)
    assert send(page).startswith("Your report waits")
    assert lost == [200]
    page.reload()  # who said "send it" need not say so again
    expect(page.get_by_role("heading", name="Thank you. Your report has arrived.")).to_be_visible()
    assert site.reports() == 1


def test_taking_it_back_before_it_is_sent_sends_nothing(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    choose(page, "walk")
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("heading", name="Taken back")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You took this answer back.")).to_be_visible()
    assert site.reports() == 0


def test_nothing_happens_without_consent(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    page.get_by_role("radio", name="walk", exact=True).check()
    page.get_by_role("button", name="See what would be sent").click()
    expect(page.get_by_role("alert")).to_have_text("Nothing happens until you agree.")
    assert site.reports() == 0


def test_blocked_storage_is_said_calmly_and_nothing_is_sent(site: Site) -> None:
    site.ask_about()
    context = site.context()
    context.add_init_script(
        "Object.defineProperty(window, 'indexedDB', {get() { throw new DOMException('no', 'SecurityError'); }});"
    )
    page = context.new_page()
    page.goto(site.question())
    expect(page.get_by_role("alert")).to_contain_text("does not let the page keep anything")
    assert site.reports() == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("wrong key", "The link to this page is no longer good, and nothing was counted."),
        ("closed", "This question is closed. Thank you all the same; nothing was sent."),
        ("newer", "This page is older than the question. Please reload it; nothing was sent."),
        ("unsigned", "The question is not signed by the people this page trusts. Nothing was sent."),
        ("late clock", "One of the clocks is wrong"),
        ("early clock", ""),
    ],
)
def test_what_does_not_work_is_one_calm_sentence(site: Site, change: str, sentence: str) -> None:
    site.ask_about()
    context = site.context()
    page = context.new_page()
    link = site.question()
    if change == "wrong key":
        link = link.replace(site.collector.key("write", "way-to-work"), "dnw_" + "AB" * 10 + "AA")
    if change == "closed":
        admin = site.collector.admin
        assert site.served.ask("PATCH", "/v1/collections/way-to-work", {"open": False}, admin).status == 200
    if change in ("newer", "unsigned"):
        page.route("**/v1/forms/**", lambda route: forged(route, change))
    if "clock" in change:
        shift = (1 if change == "late clock" else -1) * 40 * 86_400_000
        context.add_init_script(f"const now = Date.now; Date.now = () => now() + {shift};")
    page.goto(link)
    if change in ("wrong key", "early clock"):  # the others are known before anything is asked
        page.get_by_role("heading", name=QUESTION).wait_for()
        choose(page, "bus")
    if change == "wrong key":
        page.get_by_role("button", name="Send it").click()
    if sentence:
        expect(page.get_by_text(sentence)).to_be_visible()
        page.unroute_all(behavior="wait")  # the form is asked for twice
        assert site.reports() == 0
    else:  # the form says what time it is
        assert send(page) == "Thank you. Your report has arrived."
        assert site.reports() == 1


def forged(route: Route, change: str) -> None:
    """Answer with a form that is not what was signed, or of a later layout."""
    document = route.fetch().json()
    if change == "unsigned":
        document["form"] = document["form"].replace('"open":true', '"open": true')
    else:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        from deniable.wire.forms import Signer

        signer = Signer.new()
        text = document["form"].replace('"deniable_form":1', '"deniable_form":2')
        halves = decode_dss_signature(signer.private.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        signature = b"".join(each.to_bytes(32, "big") for each in halves)
        document = {"form": text, "key": signer.public.hex(), "signature": signature.hex()}
    route.fulfill(status=200, content_type="application/json", body=json.dumps(document))


@contextmanager
def elsewhere(folder: Path) -> Iterator[str]:
    """A site of its own, on another port."""

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(folder))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def example() -> str:
    """The page of docs/pages.md: one script tag and three lines."""
    text = (ROOT / "docs" / "pages.md").read_text()
    (page,) = [part.split("```")[0] for part in text.split("```html\n")[1:]]
    return page


@pytest.mark.parametrize("allowed", [True, False])
def test_a_page_elsewhere_includes_the_client_by_a_script_tag(site: Site, tmp_path: Path, allowed: bool) -> None:
    with elsewhere(tmp_path) as origin:
        site.ask_about("commute", origins=[origin] if allowed else [])
        page_text = example().replace("http://127.0.0.1:8321", site.base)
        page_text = page_text.replace("dnw_...", site.collector.key("write", "commute"))
        (tmp_path / "index.html").write_text(page_text)
        page = site.browser.new_context().new_page()
        page.goto(origin)
        expect(page.locator("body")).to_contain_text("Thank you" if allowed else "later")
        if allowed:
            page.goto("about:blank")  # leaving sends a beacon
        for _ in range(50):
            if site.reports("commute"):
                break
            page.wait_for_timeout(100)
        assert site.reports("commute") == (1 if allowed else 0)
        page.context.close()
