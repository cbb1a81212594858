"""Cards say what `print` says, cannot be broken by labels, and stay small."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cards.markup import Scale, card, table
from tests.cards.objects import HOSTILE, MAKERS, estimate, shown

TAGS = {"style", "div", "span", "table", "thead", "tbody", "tr", "th", "td", "svg", "title", "line", "circle"}
ATTRIBUTES = {"class", "role", "aria-label", "scope", "colspan", "dir", "width", "height", "viewbox"} | {
    *("x1", "x2", "y1", "y2", "cx", "cy", "r", "stroke", "fill")
}


class Card(HTMLParser):
    """The elements of a card, all closed, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: dict[str, list[str]] = {"": [], "style": [], "title": []}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        self.text[inside if inside in self.text else ""].append(data)

    @property
    def words(self) -> str:
        return "\n".join(self.text[""])


@pytest.mark.parametrize("name", MAKERS)
def test_a_card_is_closed_and_holds_no_script_and_nothing_from_outside(name: str) -> None:
    html = shown(name)._repr_html_()
    found = Card(html)
    assert {tag for tag, _ in found.elements} <= TAGS
    assert {attribute for _, given in found.elements for attribute in given} <= ATTRIBUTES
    assert not re.search(r"url\(|@import|http", "".join(found.text["style"]))
    assert len(html) < 16_000


@pytest.mark.parametrize("name", ["estimate", "mechanism", "spec", "differences", "alike", "findings"])
def test_labels_are_shown_as_they_are(name: str) -> None:
    words = Card(shown(name)._repr_html_()).words
    assert all(label in words for label in HOSTILE)


def numbers(text: str) -> set[str]:
    return {found.rstrip(".,") for found in re.findall(r"\d[\d.,]*(?:e-?\d+)?%?", text)}


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("mechanism", "open mechanism", "spec")])
def test_a_card_says_what_print_says(name: str) -> None:
    thing = shown(name)
    if type(thing).__str__ is object.__str__:  # what print shows is the short description
        assert numbers(str(thing).partition("fingerprint")[0]) <= numbers(Card(thing._repr_html_()).words)
    else:
        assert numbers(str(thing)) <= numbers(Card(thing._repr_html_()).words)


def test_an_estimate_says_its_title_its_remarks_and_what_its_method_does() -> None:
    lines = Card(estimate()._repr_html_()).words.splitlines()
    assert estimate().title in " ".join(lines)
    assert set(estimate().remarks()) < set(lines)
    assert "composite: the most likely distribution if the bits of a report were independent." in lines


def bars(html: str) -> list[dict[str, float]]:
    found = []
    for tag, given in Card(html).elements:
        if given.get("class") == "dn-span":
            found.append({"low": float(given["x1"]), "high": float(given["x2"])})
        elif tag == "circle":
            found[-1]["middle"] = float(given["cx"])
    return found


def test_bars_are_drawn_to_one_scale_that_contains_zero() -> None:
    rows = estimate(method="unbiased").top(20)
    drawn = bars(estimate(method="unbiased")._repr_html_())
    known = [(row.low, row.frequency, row.high) for row in rows]
    places = [(bar["low"], bar["middle"], bar["high"]) for bar in drawn]
    assert len(known) == len(places) == len(HOSTILE)
    slope, offset = np.polyfit(np.ravel(known), np.ravel(places), 1)
    assert slope > 0
    assert np.abs(slope * np.ravel(known) + offset - np.ravel(places)).max() < 0.06  # one decimal
    assert 0 < offset < 150  # where zero is


def test_each_bar_is_put_into_words() -> None:
    titles = Card(estimate()._repr_html_()).text["title"]
    assert len(titles) == len(HOSTILE)
    row = estimate().top(1)[0]
    assert re.fullmatch(rf"{re.escape(str(row.label))}: [\d.]+%, 95% interval [\d.]+% to [\d.]+%", titles[0])


@pytest.mark.parametrize("ends", [(-np.inf, 1.0, np.inf), (np.nan, np.nan, np.nan), (0.0, 0.0, 0.0)])
def test_a_bar_without_ends_stays_inside(ends: tuple[float, float, float]) -> None:
    places = bars(Scale(ends).bar(*ends, "no end"))[0].values()
    assert all(0 <= place <= 150 for place in places)


def test_large_domains_show_the_top_and_say_how_much_is_left_out() -> None:
    m = dn.mechanism("csr", k=22_000, epsilon=1.0)
    html = m.estimate(dn.simulate(m, [5] * 22_000, seed=1))._repr_html_()
    assert len(bars(html)) == 20
    assert "... and 21,980 more" in Card(html).words
    assert len(html) < 16_000
    labels = dn.mechanism("csr", labels=[f"label {i}" for i in range(5_000)], epsilon=1.0)
    assert len(labels._repr_html_()) < 6_000
    assert "... 4,992 more" in labels._repr_html_()


def test_two_values_and_booleans() -> None:
    m = dn.mechanism("grr", labels=[True, False], epsilon=1.0)
    html = m.estimate(dn.simulate(m, [60, 40], seed=1))._repr_html_()
    assert len(bars(html)) == 2
    assert "... and" not in html


def test_a_long_label_is_cut() -> None:
    html = card("Test", "title", table(("value",), [("x" * 5_000,)]))
    assert "x" * 119 + "…" in html
    assert "x" * 120 not in html


@pytest.mark.parametrize("name", MAKERS)
def test_the_short_description_is_one_short_line(name: str) -> None:
    thing: Any = shown(name)
    assert repr(thing).startswith(f"{type(thing).__name__}(")
    assert "\n" not in repr(thing)
    assert len(repr(thing)) < 140


def test_other_large_objects_have_a_short_description_too() -> None:
    labels = dn.Domain.categories([f"label {i}" for i in range(5_000)])
    listed = ", ".join(f"label {i}" for i in range(8))
    assert repr(labels) == f"Categories(k=5,000, {listed}, ... 4,992 more)"
    continuous = dn.to_laplace(dn.DiscreteLaplace(1.0).release([3] * 500, seed=1), seed=1)
    assert repr(continuous) == "ContinuousRelease(counts=500, noise=Laplace, simulated)"
    tuning = dn.tune("orr", candidates=50, epsilon=2.0, n=10_000)
    assert repr(tuning).startswith("Tuning(mechanism=orr, n=10,000, candidates=50, std_error=0.")


def test_a_mechanism_of_ones_own_may_describe_itself() -> None:
    class Loud(dn.RandomizedResponse):
        def __repr__(self) -> str:
            return "LOUD"

    assert repr(Loud(dn.Domain.of(3), 1.0)) == "LOUD"
    assert re.fullmatch(
        r"RandomizedResponse\(k=3, epsilon=1, fingerprint=[0-9a-f]{12}\.\.\.\)",
        repr(dn.mechanism("grr", k=3, epsilon=1.0)),
    )
