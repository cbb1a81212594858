"""Looking at an answer: choices keep their place, ask for no more than they need, and say what they do."""

from __future__ import annotations

import csv
import re

from playwright.sync_api import Page, Route, expect

from tests.browser.people import PATIENCE, SCREENS, WAYS, Site
from tests.browser.test_dashboard import accessible, filled, opened

expect.set_options(timeout=PATIENCE)
__all__ = ["filled"]
CITIES = ["Berlin", "Paris", "Rome", "Oslo", "Bern", "Wien"]
FOCUSED = "document.activeElement.closest('label')?.innerText.split('\\n')[0] ?? document.activeElement.textContent"


def looked_at(site: Site, view: str = "") -> Page:
    """The collection, once its trend is drawn."""
    page = opened(site.reader(), site, f"#/c/way-to-work{view}")
    page.locator("section[aria-label=Trend] svg path").first.wait_for()
    return page


def cities(site: Site) -> None:
    """A question that is counted apart by six cities, in each with another share of those who walk."""
    asked = site.ask_about(segments=[{"name": "city", "labels": CITIES}])
    for place in range(len(CITIES)):
        values = ["walk"] * (100 + 150 * place) + ["bus"] * (900 - 150 * place)
        site.fill(asked, values, segments=bytes([place]))


def requests(page: Page) -> list[str]:
    """What is asked of the collector from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/v1/" in request.url else None)
    return asked


def test_a_choice_leaves_the_panel_open_and_the_focus_where_it_is(filled: Site) -> None:
    page = looked_at(filled)
    page.locator("summary", has_text="How it is estimated").focus()
    page.keyboard.press("Enter")
    for label, key in (("Method", "ArrowDown"), ("Interval", "ArrowDown"), ("Holds for", "ArrowDown")):
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUSED) == label
        with page.expect_response("**/estimate?**"):
            page.keyboard.press(key)
        expect(page.locator("[aria-busy]")).to_have_count(0)
        assert page.evaluate(FOCUSED) == label
        assert page.locator("details[open] select").count() == 4


def test_sorting_by_the_head_of_a_column_keeps_the_focus_and_says_the_order(filled: Site) -> None:
    page = looked_at(filled)
    heads = page.locator("section[aria-label=Table] thead th")
    expect(heads.nth(1)).to_have_attribute("aria-sort", "descending")
    heads.nth(0).get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(heads.nth(0)).to_have_attribute("aria-sort", "ascending")
    assert heads.nth(0).text_content() == "value ▴"
    assert page.evaluate("document.activeElement.textContent") == "value ▴"
    assert page.locator("section[aria-label=Table] tbody th").all_inner_texts() == sorted(WAYS)
    assert page.get_by_label("Sort by").input_value() == "label"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert heads.nth(1).text_content() == "share ▾"
    assert heads.locator("button").count() == 2  # an interval and people are no order of their own


def test_searching_asks_for_no_trend(filled: Site) -> None:
    page = looked_at(filled)
    asked = requests(page)
    page.get_by_label("Search").press_sequentially("walk")
    expect(page.locator("section[aria-label=Table] tbody th")).to_have_text(["walk"])
    assert asked == []
    page.get_by_label("A value to add").fill("bus")
    with page.expect_response("**/trend?**"):
        page.get_by_label("A value to add").press("Enter")
    expect(page.get_by_role("button", name="Take bus out of the trend")).to_be_visible()


def test_the_theme_changes_without_asking_again_and_keeps_the_focus(filled: Site) -> None:
    page = looked_at(filled)
    asked = requests(page)
    page.get_by_role("button", name="Switch to the dark theme").press("Enter")
    expect(page.get_by_role("button", name="Switch to the light theme")).to_be_focused()
    assert asked == []


def test_a_trend_is_saved_as_a_file(filled: Site) -> None:
    page = looked_at(filled)
    with page.expect_download() as waiting:
        page.locator("section[aria-label=Trend]").get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(waiting.value.path().read_text().splitlines()))
    assert len(rows) == 3
    assert 0.3 < float(rows[0]["walk frequency"]) < 0.7
    expect(page.get_by_text("Bands are 95% intervals, each for one value in a day")).to_be_visible()


def test_of_six_groups_four_are_shown_and_people_choose_which(site: Site) -> None:
    cities(site)
    page = opened(site.reader(), site, "#/c/way-to-work?compare=city")
    expect(page.get_by_text("Groups, at most 4 of 6 at a time")).to_be_visible()
    expect(page.get_by_text("Berlin and Paris differ")).to_be_visible()
    boxes = page.get_by_role("group", name=re.compile("Groups")).get_by_role("checkbox")
    assert [box.is_checked() for box in boxes.all()] == [True] * 4 + [False] * 2
    assert boxes.nth(5).is_disabled()
    for city in ("Paris", "Rome"):
        page.get_by_role("checkbox", name=city).uncheck()
    page.get_by_role("checkbox", name="Wien").check()
    heads = page.locator("section[aria-label=Table] thead th")
    expect(heads.nth(1)).to_have_text("Berlin minus Oslo")
    page.get_by_label("minus").select_option("Wien")
    expect(heads.nth(1)).to_have_text("Berlin minus Wien")
    expect(page.get_by_text(re.compile(r"% \(Berlin\), .*% \(Oslo\), .*% \(Wien\) stands out"))).to_be_visible()
    page.reload()
    expect(heads.nth(1)).to_have_text("Berlin minus Wien")
    assert accessible(page) == []


def test_a_late_answer_changes_nothing_once_somebody_has_gone_elsewhere(filled: Site) -> None:
    page = filled.reader()
    held: list[Route] = []
    page.route("**/estimate?**", lambda route: held.append(route))
    opened(page, filled, "#/c/way-to-work")
    page.get_by_text("Estimating").wait_for()
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(20)
    page.evaluate("location.hash = '#/'")
    page.get_by_role("heading", name="Collections").wait_for()
    with page.expect_response("**/estimate?**"):
        held[0].continue_()
    page.wait_for_timeout(100)
    assert page.url.endswith("#/")
    assert page.get_by_role("heading", name="Collections").is_visible()


def test_a_preview_that_fails_says_why(site: Site) -> None:
    site.ask_about("other")
    page = opened(site.reader(name="other"), site, "#/new")
    body = '{"error": "the planner is on holiday", "kind": "busy", "code": 429}'
    page.route("**/preview", lambda route: route.fulfill(status=429, content_type="application/json", body=body))
    page.get_by_label("Name, as it stands").fill("lunch")
    page.get_by_label("Answers, one per line").fill("soup\nsalad")
    page.get_by_role("button", name="Make the collection").click()
    expect(page.get_by_role("alert")).to_have_text("The planner is on holiday.")


def test_the_latest_preview_wins(site: Site) -> None:
    site.ask_about("other")
    page = opened(site.reader(name="other"), site, "#/new")
    held: list[Route] = []
    page.route("**/preview", lambda route: route.continue_() if held else held.append(route))
    page.get_by_label("Answers, one per line").fill("soup\nsalad")
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(20)
    page.get_by_label("How many people").fill("123456")
    expect(page.get_by_text("from 123,456 reports")).to_be_visible()
    with page.expect_response("**/preview"):
        held[0].continue_()
    page.wait_for_timeout(100)
    expect(page.get_by_text("from 123,456 reports")).to_be_visible()


def test_sites_that_may_ask_are_named_when_a_collection_is_made_and_later(site: Site) -> None:
    site.ask_about("other")
    page = opened(site.reader(name="other"), site, "#/new")
    page.get_by_label("Name, as it stands").fill("lunch")
    page.get_by_label("Answers, one per line").fill("soup\nsalad")
    page.get_by_label("Sites whose pages may ask").fill("https://a.example\nhttps://b.example\n")
    page.get_by_role("button", name="Make the collection").click()
    expect(page.get_by_role("heading", name="lunch is open")).to_be_visible()
    page.goto(f"{site.base}/#/c/lunch/settings")
    sites = page.get_by_label("Sites whose pages may ask")
    expect(sites).to_have_value("https://a.example\nhttps://b.example")
    sites.fill("https://c.example")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved")).to_be_visible()
    made = site.served.ask("GET", "/v1/collections/lunch", key=site.collector.admin).json
    assert made["settings"]["origins"] == ["https://c.example"]
    sites.fill("c.example")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("origin must be")).to_be_visible()


def test_a_cell_is_grey_where_its_own_group_may_not_have_the_value(site: Site) -> None:
    asked = site.ask_about(segments=[{"name": "city", "labels": CITIES[:2]}])
    site.fill(asked, ["walk"] * 2000, segments=bytes([0]))
    site.fill(asked, ["walk"] * 1000 + ["bus"] * 1000, segments=bytes([1]))
    page = opened(site.reader(), site, "#/c/way-to-work?compare=city")
    row = page.locator("section[aria-label=Table] tbody tr", has_text="bus")
    row.wait_for()
    grey = [cell.get_attribute("class") == "absent" for cell in row.locator("td").all()]
    assert grey == [False, True, True, False, False]  # the difference, then share and interval of each


def test_saved_pictures_name_the_groups_and_the_values(site: Site) -> None:
    asked = site.ask_about(segments=[{"name": "city", "labels": CITIES[:2]}])
    for back in range(2):
        for place in range(2):
            site.fill(asked, ["walk"] * 300 + ["bus"] * 200, back=back, segments=bytes([place]))
    page = looked_at(site, "?compare=city&picked=walk&picked=bus")
    for part, names in (("Histogram", ["Berlin (1,000 reports)", "Paris (1,000 reports)"]), ("Trend", ["walk", "bus"])):
        section = page.locator(f"section[aria-label={part}]")
        with page.expect_download() as waiting:
            section.get_by_role("button", name="SVG").click()
        saved = waiting.value.path().read_text()
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", saved)
        assert texts[: len(names)] == names
        shown, height = (
            float(re.findall(r'viewBox="0 0 \S+ (\S+)"', each)[0]) for each in (section.inner_html(), saved)
        )
        assert height > shown
        with page.expect_download() as waiting:
            section.get_by_role("button", name="PNG").click()
        SCREENS.mkdir(parents=True, exist_ok=True)
        waiting.value.save_as(SCREENS / f"saved-{part.lower()}.png")


def test_the_left_end_of_the_axis_is_not_cut_off_on_a_phone(filled: Site) -> None:
    page = opened(filled.reader(viewport={"width": 390, "height": 844}), filled, "#/c/way-to-work")
    zero = page.locator("section[aria-label=Histogram] svg text", has_text=re.compile("^0%$"))
    zero.wait_for()
    picture = page.locator("section[aria-label=Histogram] .figure svg").bounding_box()
    place = zero.bounding_box()
    assert picture is not None
    assert place is not None
    assert place["x"] >= picture["x"]


def test_inputs_and_lists_have_one_height(filled: Site) -> None:
    page = looked_at(filled)
    fields = page.locator("form[aria-label='What to show'] .row").first.locator("input[type=search], select")
    heights = {round(box["height"]) for each in fields.all() if (box := each.bounding_box())}
    assert len(heights) == 1


def test_a_single_day_has_no_trend_and_none_is_asked_for(site: Site) -> None:
    site.fill(site.ask_about(), ["walk"] * 50 + ["bus"] * 50)
    page = site.reader()
    asked = requests(page)
    opened(page, site, "#/c/way-to-work")
    page.locator("section[aria-label=Table] tbody th").first.wait_for()
    assert page.locator("section[aria-label=Trend]").count() == 0
    assert not [url for url in asked if "/trend" in url]


def test_retention_is_not_offered_where_counts_have_no_time(site: Site) -> None:
    for name, bucket, fields in (("lunch", "none", 0), ("dinner", "day", 1)):
        site.ask_about(name, bucket=bucket)
        page = site.reader()
        page.goto(f"{site.base}/#/c/{name}/settings")
        page.get_by_label("Minimum number of reports").fill("7")
        expect(page.get_by_label("Keep counts for (days)")).to_have_count(fields)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved")).to_be_visible()
        made = site.served.ask("GET", f"/v1/collections/{name}", key=site.collector.admin).json
        assert (made["settings"]["minimum"], made["settings"]["retention_days"]) == (7, None)
