"""What administrators write: it is checked where they write it, and said in a sentence."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import deniable as dn
from tests.browser.people import PATIENCE, Site
from tests.browser.test_dashboard import opened
from tests.browser.test_looking import requests

expect.set_options(timeout=PATIENCE)


def lunch(site: Site) -> Page:
    """The form of a new collection, with a question."""
    site.ask_about("other")
    page = opened(site.reader(name="other"), site, "#/new")
    page.get_by_label("Name, as it stands").fill("lunch")
    page.get_by_label("Answers, one per line").fill("soup\nsalad")
    expect(page.get_by_text("from 10,000 reports")).to_be_visible()
    return page


@pytest.mark.parametrize("groups", ["DE, FR", "country: DE, FR\nphones", "country:", ": DE, FR", "country: ,"])
def test_groups_that_are_not_written_as_such_are_refused(site: Site, groups: str) -> None:
    page = lunch(site)
    page.get_by_label("Groups, one kind per line").fill(groups)
    page.get_by_role("button", name="Make the collection").click()
    expect(page.get_by_role("alert")).to_have_text("Write groups as country: DE, FR, one kind per line.")
    assert site.served.ask("GET", "/v1/collections/lunch", key=site.collector.admin).status == 404


def test_groups_are_made_as_they_are_written(site: Site) -> None:
    page = lunch(site)
    page.get_by_label("Groups, one kind per line").fill("country : DE, FR,\n\nrelease: 5.1, 5:2")
    page.get_by_role("button", name="Make the collection").click()
    expect(page.get_by_role("heading", name="lunch is open")).to_be_visible()
    made = site.served.ask("GET", "/v1/collections/lunch", key=site.collector.admin).json
    assert made["settings"]["segments"] == [
        {"name": "country", "labels": ["DE", "FR"]},
        {"name": "release", "labels": ["5.1", "5:2"]},
    ]


@pytest.mark.parametrize("people", ["-5", "1e300", "0", "1.5", ""])
def test_a_number_of_people_that_is_none_is_said_in_a_sentence_and_not_asked_for(site: Site, people: str) -> None:
    page = lunch(site)
    asked = requests(page)
    page.get_by_label("How many people").fill(people)
    told = "Write how many people you expect: a whole number from 1 to 1,000,000,000,000."
    expect(page.get_by_label("What to expect").get_by_text(told)).to_be_visible()
    page.get_by_role("button", name="Make the collection").click()
    assert asked == []


@pytest.mark.parametrize("minimum", ["", "0", "1e300", "2.5"])
def test_a_rule_that_is_none_is_not_sent(site: Site, minimum: str) -> None:
    site.ask_about()
    page = opened(site.reader(), site, "#/c/way-to-work/settings")
    field = page.get_by_label("Minimum number of reports")
    field.fill(minimum)
    asked = requests(page)
    page.get_by_role("button", name="Save").click()
    assert field.evaluate("field => field.validationMessage")  # which the browser shows beside it
    assert asked == []


def test_retention_is_offered_only_where_time_is_kept(site: Site) -> None:
    site.ask_about()
    site.make(
        dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0986122886681098).spec.to_dict(), "timeless", bucket="none"
    )
    page = opened(site.reader(), site, "#/c/way-to-work/settings")
    expect(page.get_by_label("Keep counts for")).to_be_visible()
    opened(page, site, "#/c/timeless/settings")
    expect(page.get_by_role("heading", name="Settings of timeless")).to_be_visible()
    assert page.get_by_label("Keep counts for").count() == 0
    page.get_by_label("Minimum number of reports").fill("7")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved")).to_be_visible()
    settings = site.served.ask("GET", "/v1/collections/timeless", key=site.collector.admin).json["settings"]
    assert (settings["minimum"], settings["retention_days"]) == (7, None)
    opened(page, site, "#/c/timeless")
    expect(page.get_by_text("grr, epsilon 1.1", exact=True)).to_be_visible()  # a bound, in as many digits as others
    opened(page, site, "#/")
    expect(page.get_by_text("grr, epsilon 1.1, 2 values.")).to_be_visible()


@pytest.mark.parametrize("damaged", ["#/c/%E0%A4%A", "#/c/%", "#/%E0%A4%A"])
def test_a_damaged_address_leads_on(site: Site, damaged: str) -> None:
    site.ask_about()
    page = opened(site.reader(), site, damaged)
    if damaged.startswith("#/c/"):
        expect(page.get_by_role("alert")).to_have_text("There is no collection of this name.")
        page.get_by_role("link", name="All collections").click()
    expect(page.get_by_role("heading", name="Collections")).to_be_visible()
