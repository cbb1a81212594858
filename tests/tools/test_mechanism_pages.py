"""What documents say of mechanisms follows from classes and pages; a page that says too little is reported."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from tests.contract import cases
from tools import mechanism_pages

FRONT = """---
mechanism: a coin
when: never
guarantee: exact
error: large
bits: '1'
server time: none
attack rate: p
parameters: '`w` is the size.'
---

# ss: a coin
"""


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of docs/mechanisms."""
    monkeypatch.setattr(mechanism_pages, "PAGES", tmp_path)
    return tmp_path


def test_every_mechanism_is_shown_once_and_beside_its_family() -> None:
    shown = [cls.name for cls in mechanism_pages.classes()]
    assert sorted(shown) == dn.list_mechanisms()
    families = [cls.__module__.split(".")[2] for cls in mechanism_pages.classes()]
    changes = sum(one != other for one, other in pairwise(families))
    assert changes == len(set(families)) - 1


def test_the_front_of_a_page_is_read(pages: Path) -> None:
    (pages / "ss.md").write_text(FRONT)
    assert mechanism_pages.front("ss")["server time"] == "none"
    assert mechanism_pages._entry(dn.SubsetSelection).endswith("`w` is the size.")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "ss has no page"),
        ("# ss: a coin\n", "does not say at its front: mechanism, when, guarantee"),
        (FRONT.replace("bits: '1'\n", ""), "does not say at its front: bits"),
        (FRONT.replace("`w`", "It"), "does not say at its front what w means"),
    ],
)
def test_a_page_that_says_too_little_is_reported(pages: Path, text: str | None, complaint: str) -> None:
    if text is not None:
        (pages / "ss.md").write_text(text)
    with pytest.raises(LookupError, match=complaint):
        mechanism_pages._entry(dn.SubsetSelection)


def refuse(*_: Any) -> None:
    """Makes no report."""
    raise AssertionError("a report is made")


@pytest.mark.parametrize("name", mechanism_pages.simulated_at_once())
def test_a_billion_users_are_simulated_without_their_reports(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = cases.of(name).large_one()
    monkeypatch.setattr(type(m), "randomize", refuse)
    assert dn.simulate(m, [10**9 // m.k] * m.k).n == 10**9 // m.k * m.k


@pytest.mark.parametrize("name", sorted(set(dn.list_mechanisms()) - set(mechanism_pages.simulated_at_once())))
def test_the_other_mechanisms_make_every_report(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = cases.of(name).large_one()
    monkeypatch.setattr(type(m), "randomize", refuse)
    with pytest.raises(AssertionError, match="a report is made"):
        dn.simulate(m, [10_000 // m.k] * m.k)
