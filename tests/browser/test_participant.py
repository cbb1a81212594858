"""The participant's page lists what is sent, asks every kind of question, and speaks calmly of what does not work."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import deniable as dn
from deniable.wire.buckets import Buckets, hour_text
from tests.browser.people import PATIENCE, QUESTION, Site, choose, send
from tests.browser.test_dashboard import accessible

expect.set_options(timeout=PATIENCE)
GROUPS = [{"name": "release", "labels": ["5.1", "5.2"]}]


def asked(site: Site, **more: str) -> Page:
    """The question, opened in a fresh browser."""
    page = site.context().new_page()
    page.goto(site.question(**more))
    page.get_by_role("heading", name=QUESTION).wait_for()
    return page


def agreed(page: Page) -> None:
    """Agree, and see the report."""
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="See what would be sent").click()


def test_a_group_that_the_link_does_not_name_is_asked_for(site: Site) -> None:
    site.ask_about(segments=GROUPS)
    page = asked(site)
    page.get_by_role("radio", name="bus", exact=True).check()
    agreed(page)
    expect(page.get_by_role("alert")).to_have_text("Choose your release.")
    page.get_by_label("Your release").select_option("5.2")
    page.get_by_role("button", name="See what would be sent").click()
    expect(page.get_by_text("your group: release 5.2")).to_be_visible()
    assert accessible(page) == []
    assert send(page) == "Thank you. Your report has arrived."
    site.collector.fold()
    key = site.collector.key("read", "way-to-work")
    answer = site.served.ask("GET", "/v1/collections/way-to-work/estimate?segment.release=5.2", key=key)
    assert answer.json["n"] == 1


def test_a_group_that_the_link_names_is_not_asked_for(site: Site) -> None:
    site.ask_about(segments=GROUPS)
    page = asked(site, **{"segment.release": "5.1"})
    assert page.get_by_role("combobox").count() == 0
    choose(page, "bus")
    expect(page.get_by_text("your group: release 5.1")).to_be_visible()
    assert send(page) == "Thank you. Your report has arrived."


@pytest.mark.parametrize("bucket", ["hour", "day", "week", "none"])
def test_all_that_is_sent_is_listed(site: Site, bucket: str) -> None:
    asked_about = site.ask_about(bucket=bucket)
    page = asked(site)
    expect(page.get_by_text("nobody, including us, can be certain")).to_be_visible()
    choose(page, "bus")
    sent: list[bytes] = []
    page.on("request", lambda request: sent.append(request.post_data_buffer or b""))
    text = page.locator("main").inner_text()
    assert send(page) == "Thank you. Your report has arrived."
    (frame,) = [body for body in sent if body]
    assert asked_about.fingerprint in text
    assert frame[60:76].hex() in text  # the id
    assert frame[76:].hex(" ") in text.replace("\n", " ")  # the report itself
    hour = int.from_bytes(frame[56:60], "little")
    assert hour_text(hour) in text
    assert ("the day of" if bucket == "none" else f"the {bucket} of") in text
    assert Buckets(bucket).is_start(hour)
    assert "network address" in text


def test_a_long_range_of_numbers_is_answered_in_a_field(site: Site) -> None:
    made = dn.mechanism("grr", domain=dn.Domain.integers(0, 300, no_answer="rather not"), epsilon=8.0)
    site.make(made.spec.to_dict())
    page = asked(site)
    assert page.get_by_role("radio").count() == 1  # "rather not"
    number = page.get_by_role("spinbutton")
    number.fill("301")
    agreed(page)
    expect(page.get_by_role("alert")).to_contain_text("does not allow this answer")
    number.fill("300")
    agreed(page)
    page.get_by_role("heading", name="This is the report").wait_for()
    assert send(page) == "Thank you. Your report has arrived."
    assert site.reports() == 1


def test_no_answer_is_one_of_the_answers(site: Site) -> None:
    made = dn.mechanism(
        "grr", domain=dn.Domain.categories(["walk", "bus"], other="else", no_answer="rather not"), epsilon=2.0
    )
    site.make(made.spec.to_dict())
    page = asked(site)
    assert page.locator(".choice label").all_inner_texts() == ["walk", "bus", "else", "rather not"]
    choose(page, "rather not")
    assert send(page) == "Thank you. Your report has arrived."


@pytest.mark.parametrize("width", [390, 1280])
def test_long_answers_stay_within_the_page(site: Site, width: int) -> None:
    site.ask_about(labels=["https://example.org/" + "x" * 140, "an answer that goes on and on " * 6, "no"])
    page = site.context(viewport={"width": width, "height": 844}).new_page()
    page.goto(site.question(question="Why" + "y" * 150 + "?"))
    page.get_by_role("radio").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_one_of_very_many_answers_is_written(site: Site) -> None:
    site.ask_about(labels=[f"street {number}" for number in range(150)])
    page = asked(site)
    page.get_by_label("Your answer").fill("street 151")
    agreed(page)
    expect(page.get_by_role("alert")).to_contain_text("does not allow this answer")
    page.get_by_label("Your answer").fill("street 149")
    agreed(page)
    page.get_by_role("heading", name="This is the report").wait_for()
    assert send(page) == "Thank you. Your report has arrived."


def open_specs() -> dict[str, dict[str, Any]]:
    """Questions that any text answers."""
    return {
        "open": dn.mechanism("orr", domain=dn.Domain.open(), epsilon=2.0).spec.to_dict(),
        "heavy hitters": dn.HeavyHitters.new(epsilon=2.0, max_bytes=12).to_dict(),
    }


@pytest.mark.parametrize("kind", ["open", "heavy hitters"])
def test_an_open_question_is_answered_in_words(site: Site, kind: str) -> None:
    site.make(open_specs()[kind])
    page = asked(site)
    page.get_by_role("textbox", name="Your answer").fill("by sledge")
    agreed(page)
    page.get_by_role("heading", name="This is the report").wait_for()
    assert accessible(page) == []
    assert send(page) == "Thank you. Your report has arrived."
    assert site.reports() == 1


def test_a_key_to_read_in_a_link_leaves_that_of_the_tab_alone(site: Site) -> None:
    site.ask_about()
    page = site.reader()
    page.goto(site.question(read=site.collector.key("read", "way-to-work")))
    choose(page, "bus")
    send(page)
    expect(page.get_by_text("1 person answered")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('deniable-key')") == site.collector.admin


def test_the_question_is_believed_only_if_it_is_signed(site: Site) -> None:
    site.ask_about()
    page = site.context().new_page()
    page.goto(site.question(pinned="0" * 64))
    expect(page.get_by_role("alert")).to_have_text(
        "The question is not signed by the people this page trusts. Nothing was sent."
    )


def test_an_unknown_mechanism_is_one_calm_sentence(site: Site) -> None:
    site.ask_about()
    page = site.context().new_page()
    script = site.served.ask("GET", "/answer.js").body.decode()
    older = script.replace('name:"grr"', 'name:"a-later-one"')
    assert older != script
    page.route("**/answer.js", lambda route: route.fulfill(content_type="text/javascript", body=older))
    page.goto(site.question())
    expect(page.get_by_role("alert")).to_have_text(
        "This page is older than the question. Please reload it; nothing was sent."
    )


def test_a_link_to_no_collection_is_one_calm_sentence(site: Site) -> None:
    site.ask_about()
    page = site.context().new_page()
    page.goto(site.question().replace("way-to-work", "way-to-nowhere"))
    expect(page.get_by_role("alert")).to_have_text(
        "There is no question at this link: it may be incomplete, or older than the collection. Nothing was sent."
    )


def test_full_storage_is_one_calm_sentence_and_nothing_is_sent(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    full = "IDBObjectStore.prototype.put = function () { throw new DOMException('full', 'QuotaExceededError'); };"
    page.evaluate(f"() => {{ {full} }}")
    page.get_by_role("radio", name="bus", exact=True).check()
    agreed(page)
    expect(page.get_by_role("alert")).to_contain_text("does not let the page keep anything")
    assert site.reports() == 0


def test_a_private_window_keeps_an_answer_as_long_as_it_is_open(site: Site) -> None:
    site.ask_about()
    page = asked(site)  # every context of these tests is such a window
    assert page.evaluate("navigator.storage.persisted()") is False
    choose(page, "bus")
    assert send(page) == "Thank you. Your report has arrived."
    second = page.context.new_page()
    second.goto(site.question())
    expect(second.get_by_role("heading", name="Thank you")).to_be_visible()
    page.context.close()
    assert asked(site).get_by_role("radio").count() > 0  # what it kept went with it
    assert site.reports() == 1


def refusing(page: Page, kind: str, status: int) -> None:
    """Let the collector answer reports like this."""
    body = f'{{"error": "no", "kind": "{kind}", "code": {status}}}'
    page.route("**/v1/reports", lambda route: route.fulfill(status=status, content_type="application/json", body=body))


@pytest.mark.parametrize(
    ("kind", "status", "heading", "sentence"),
    [
        ("storage", 503, "Your report waits", "The collection cannot take reports right now. Yours waits"),
        ("wrong-origin", 403, "Your report waits", "does not take reports from the address of this page"),
        ("rate", 429, "Your report waits", "Many people are answering at once"),
        ("closed", 409, "The collection did not take", "was closed before your report arrived. It was not counted."),
        ("expired", 409, "The collection did not take", "was replaced by a newer one"),
        ("unknown-spec", 409, "The collection did not take", "does not ask this question any more"),
        ("bad-segments", 400, "The collection did not take", "The groups of this question have changed"),
        ("bad-payload", 400, "The collection did not take", "Trying again would not help"),
    ],
)
def test_what_the_collector_refuses_is_said_of_the_report(
    site: Site, kind: str, status: int, heading: str, sentence: str
) -> None:
    site.ask_about()
    page = asked(site)
    refusing(page, kind, status)
    choose(page, "bus")
    assert send(page).startswith(heading)
    expect(page.get_by_text(sentence)).to_be_visible()
    text = page.locator("main").inner_text()
    assert "try again later" not in text
    assert "othing was sent" not in text
    assert "This browser" not in text


def test_a_report_that_waits_says_so_and_shows_when_it_has_been_sent(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    choose(page, "bus")
    page.context.set_offline(True)
    assert send(page) == "Your report waits"
    expect(page.get_by_text("nothing is sent until you open it again")).to_be_visible()
    expect(page.get_by_role("button", name="Take it back")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_role("heading", name="Thank you. Your report has arrived.")).to_be_visible()
    assert site.reports() == 1


def test_a_report_that_waits_can_be_taken_back(site: Site) -> None:
    site.ask_about()
    page = asked(site)
    refusing(page, "busy", 429)
    choose(page, "bus")
    assert send(page) == "Your report waits"
    page.unroute("**/v1/reports")
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("heading", name=re.compile("Taken back"))).to_be_visible()
    assert site.reports() == 0
