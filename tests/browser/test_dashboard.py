"""The dashboard shows what the collector answers: by keyboard, by screen reader, in the dark, on a phone."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from deniable.cli.commands.demo.screen import link, take
from tests import ROOT
from tests.browser.people import PATIENCE, WAYS, Site, number, picture

AXE = ROOT / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"
VALUES = ["walk"] * 900 + ["bicycle"] * 500 + ["bus"] * 300 + ["car"] * 20

expect.set_options(timeout=PATIENCE)


@pytest.fixture
def filled(site: Site) -> Site:
    """A site whose question has three days of answers."""
    asked = site.ask_about(segments=[])
    for back in range(3):
        site.fill(asked, VALUES, back=back)
    return site


def opened(page: Page, site: Site, path: str) -> Page:
    page.goto(f"{site.base}/{path}")
    return page


def accessible(page: Page) -> list[str]:
    """What axe finds wrong with a page."""
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found["violations"]]


PLACES = {
    "collections": ("#/", "h1:has-text('Collections')"),
    "collection": ("#/c/way-to-work", "section[aria-label=Trend] svg path"),
    "new collection": ("#/new", "h1:has-text('New collection')"),
    "settings": ("#/c/way-to-work/settings", "section[aria-label=Keys] table"),
    "sign in": ("#/key", "h1:has-text('Sign in')"),
}


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_axe_finds_nothing_on_any_page(filled: Site, look: str) -> None:
    options: dict[str, Any] = {"color_scheme": "dark" if look == "dark" else "light"}
    if look == "phone":
        options |= {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    page = filled.reader(**options)
    for name, (path, ready) in PLACES.items():
        opened(page, filled, path)
        page.locator(ready).first.wait_for()
        picture(page, f"{name.replace(' ', '-')}-{look}")
        assert accessible(page) == [], name
        if look == "phone":
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    assert filled.errors == []


def test_long_names_leave_room_for_the_numbers_on_a_phone(site: Site) -> None:
    labels = ["https://example.org/" + "x" * 140, "no"]
    segments = [{"name": "country", "labels": ["DE", "a country with a name that is quite long"]}]
    site.fill(site.ask_about(labels=labels, segments=segments), labels * 400, segments=b"\1")
    page = opened(site.reader(viewport={"width": 390, "height": 844}), site, "#/c/way-to-work")
    share = page.locator("section[aria-label=Table] tbody td").first
    share.wait_for()
    parts = [share, *page.locator(".sheet select").all()]
    boxes = [box for each in parts if (box := each.bounding_box()) is not None]
    assert len(boxes) > 3
    assert all(box["x"] + box["width"] <= 390 - 16 for box in boxes)  # within the sheet


def test_the_table_has_the_numbers_of_the_api(filled: Site) -> None:
    page = opened(filled.reader("read"), filled, "#/c/way-to-work")
    rows = page.locator("section[aria-label=Table] tbody tr")
    rows.nth(3).wait_for()
    key = filled.collector.key("read", "way-to-work")
    answer = filled.served.ask("GET", "/v1/collections/way-to-work/estimate?top=4", key=key).json
    assert answer["n"] == 3 * len(VALUES)
    for row, value in zip(rows.all(), answer["values"], strict=True):
        label, share, _, people = row.locator("th, td").all_inner_texts()
        assert label == value["label"]
        assert float(share.split("%")[0]) == pytest.approx(100 * value["frequency"], abs=0.06)
        assert number(people) == pytest.approx(value["users"], abs=1 + 0.05 * answer["n"] * value["std_error"])
    expect(page.get_by_text("factor of 7.39").first).to_be_visible()
    assert page.get_by_role("link", name="Settings and keys").count() == 0  # for administrators alone
    assert filled.errors == []


def test_sorting_searching_and_looks_are_kept_in_the_address(filled: Site) -> None:
    page = opened(filled.reader(), filled, "#/c/way-to-work")
    first = page.locator("section[aria-label=Table] tbody th").first
    expect(first).to_have_text("walk")
    page.get_by_label("Search").fill("b")
    expect(page.locator("section[aria-label=Table] tbody th")).to_have_text(["bicycle", "bus"])
    page.get_by_label("Sort by").select_option("label")
    page.get_by_label("Log scale").check()
    assert "search=b" in page.url
    assert "log=1" in page.url
    page.reload()
    expect(page.locator("section[aria-label=Table] tbody th")).to_have_text(["bicycle", "bus"])
    expect(page.get_by_label("Log scale")).to_be_checked()


def test_what_is_shown_can_be_taken_along(filled: Site) -> None:
    page = opened(filled.reader(), filled, "#/c/way-to-work")
    kept = {}
    for button in ("CSV", "Arrow", "PNG", "SVG"):
        with page.expect_download() as waiting:
            page.locator("section[aria-label=Histogram]").get_by_role("button", name=button, exact=True).click()
        kept[button] = waiting.value.path().read_bytes()
    rows = list(csv.DictReader(kept["CSV"].decode().splitlines()))
    assert [row["label"] for row in rows] == [*WAYS[:3], "car"]
    assert sum(float(row["frequency"]) for row in rows) == pytest.approx(1, abs=1e-6)
    assert kept["PNG"].startswith(b"\x89PNG")
    assert b"<svg" in kept["SVG"]
    import pyarrow as pa

    assert pa.ipc.open_stream(kept["Arrow"]).read_all()["label"].to_pylist() == WAYS


def test_groups_stand_side_by_side_with_their_difference(site: Site) -> None:
    asked = site.ask_about(segments=[{"name": "country", "labels": ["DE", "FR"]}])
    for place, values in enumerate((["walk"] * 900 + ["bus"] * 100, ["walk"] * 300 + ["bus"] * 700)):
        site.fill(asked, values, segments=bytes([place]))
    page = opened(site.reader(), site, "#/c/way-to-work?compare=country")
    expect(page.get_by_text("DE and FR differ")).to_be_visible()
    heads = page.locator("section[aria-label=Table] thead").inner_text()
    assert "DE minus FR" in heads
    picture(page, "groups")
    assert site.errors == []


def test_a_collection_is_made_step_by_step_with_the_error_to_expect(site: Site) -> None:
    site.ask_about("other")
    page = opened(site.reader(name="other"), site, "#/new")
    page.get_by_label("Name, as it stands").fill("lunch")
    page.get_by_label("Answers, one per line").fill("soup\nsalad\nbread")
    expect(page.get_by_text("standard error of a share, from 10,000 reports")).to_be_visible()
    before = page.locator("aside .big").inner_text()
    page.get_by_label("How many people").fill("1000000")
    expect(page.locator("aside .big")).not_to_have_text(before)
    page.get_by_role("button", name="Make the collection").click()
    expect(page.get_by_role("heading", name="lunch is open")).to_be_visible()
    write, read = page.locator("dd code").all_inner_texts()
    assert (write[:4], read[:4]) == ("dnw_", "dnr_")
    made = site.served.ask("GET", "/v1/collections/lunch", key=read).json
    assert made["specs"][0]["values"] == 3
    assert site.errors == []


def test_keys_are_rotated_without_loss(filled: Site) -> None:
    page = opened(filled.reader(), filled, "#/c/way-to-work/settings")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_label("Label").fill("app 2")
    page.get_by_role("button", name="Make a key").click()
    fresh = page.get_by_text("Shown once").locator("code").inner_text()
    old = filled.collector.key("write", "way-to-work")
    path = "/v1/reports/" + 32 * "0" + "?bucket=0"
    kinds = [filled.served.ask("DELETE", path, key=key).kind for key in (old, fresh)]
    assert kinds == ["no-such-report", "no-such-report"]  # both are good
    page.get_by_role("row", name="write").first.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("revoked").first).to_be_visible()
    assert filled.served.ask("DELETE", path, key=old).kind == "unknown-key"
    assert filled.served.ask("DELETE", path, key=fresh).kind == "no-such-report"


def test_a_key_that_cannot_read_is_told_apart_and_a_revoked_one_is_asked_for_anew(filled: Site) -> None:
    page = filled.context().new_page()
    page.goto(filled.base)
    field = page.get_by_label("Key")
    field.fill(filled.collector.key("write", "way-to-work"))
    field.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("can only send")
    field.fill("dnr_" + "A" * 22)
    field.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("key")
    page.get_by_role("link", name="Use another key").click()
    field.fill(filled.collector.key("read", "way-to-work"))
    field.press("Enter")
    expect(page.get_by_role("link", name="way-to-work")).to_be_visible()


def test_a_page_is_used_by_keyboard_alone(filled: Site) -> None:
    page = opened(filled.reader(), filled, "#/")
    page.get_by_role("link", name="way-to-work").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "way-to-work":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="way-to-work")).to_be_visible()


def test_too_few_reports_are_said_calmly_and_nothing_is_told(site: Site) -> None:
    asked = site.ask_about(minimum=500)
    site.fill(asked, ["walk"] * 100)
    page = opened(site.reader(), site, "#/c/way-to-work")
    told = "100 reports have arrived. They are shown once at least 500 can be shown together."
    expect(page.get_by_text(told, exact=True)).to_be_visible()
    assert "walk" not in page.locator("main").inner_text()
    page.reload()
    expect(page.get_by_text("Nothing was refused.")).to_be_visible()  # nor has the page asked for what it cannot get


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_collection_without_reports_says_so_calmly(site: Site, look: str) -> None:
    site.ask_about()
    page = opened(site.reader(color_scheme=look), site, "#/c/way-to-work")
    expect(page.get_by_role("heading", name="Nothing to show yet")).to_be_visible()
    expect(page.get_by_text("No reports have arrived. Nothing is shown before there is at least 1.")).to_be_visible()
    assert page.get_by_label("Search").count() == 0  # there is nothing to look through
    assert accessible(page) == []


def test_what_is_not_there_is_said_in_a_sentence_with_a_way_on(site: Site) -> None:
    page = opened(site.reader(), site, "#/c/another")
    expect(page.get_by_role("alert")).to_have_text("There is no collection of this name.")
    page.get_by_role("link", name="All collections").click()
    expect(page.get_by_role("heading", name="Collections")).to_be_visible()


def test_pages_carry_the_strict_policy_and_name_no_other_host(site: Site) -> None:
    for name in ("/", "/answer.html", "/app.js", "/answer.js", "/client.js", "/app.css"):
        answer = site.served.ask("GET", name)
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        text = answer.body.decode()
        for known in ("http://www.w3.org/2000/svg", "https://w3.org", "https://example.org"):  # names, and an example
            text = text.replace(known, "")
        assert "http://" not in text, name
        assert "https://" not in text, name
    assert json.loads(site.served.ask("GET", "/package.json").body)["kind"] == "not-found"


def test_the_link_of_the_demo_leads_to_the_collection_and_keeps_the_key_out_of_requests(
    filled: Site, tmp_path: Path
) -> None:
    key = filled.collector.key("read", "way-to-work")
    page = filled.context().new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(link(filled.base, key, "way-to-work"))
    expect(page.get_by_role("heading", name="way-to-work")).to_be_visible()
    assert key not in page.url
    assert not [url for url in asked if key in url.partition("#")[0]]
    assert take(link(filled.base, key, "way-to-work"), tmp_path / "dashboard.png")
    assert (tmp_path / "dashboard.png").read_bytes().startswith(b"\x89PNG")
