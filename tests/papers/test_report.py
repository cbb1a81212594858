"""The report and the record of the last run: what they say follows from the verdicts, and is what is published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from papers.frame.cache import Cache
from papers.frame.experiment import HOLDS, NOT_RUN, SLIP, UNDECIDED, Claim, Heat, Lines, Scatter, Table
from papers.frame.judging import exact
from papers.frame.library import PAPERS, experiments
from papers.frame.record import SHIPPED, counts, declared, file_name, in_words, judged, pictures, read, record, shipped
from papers.frame.report import page, write
from papers.frame.runner import run
from tests.docs.pages import DOCS
from tests.papers.test_frame import toy
from tools.derived import text_of

PUBLISHED = read()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    found = Cache(tmp_path / "results")
    run([toy()], found)
    return found


def test_the_report_is_a_folder_that_needs_nothing_else(cache: Cache, tmp_path: Path) -> None:
    shown = (Lines("epsilon", "mse", "method"), Table(("epsilon", "method"), ("mse",)))
    path = write([judged(toy(picture=shown, note="a < b"), cache)], tmp_path / "report")
    text = path.read_text()
    assert "Better is better." in text
    assert '<span class="verdict holds">holds</span>' in text
    assert "True in all 2 settings" in text
    assert "a &lt; b" in text
    assert "python -m papers run toy/figure-1" in text
    assert "http" not in text
    made = {str(each.relative_to(path.parent)) for each in path.parent.rglob("*.*")}
    assert made == {"index.html", "verdicts.json", "toy-figure-1.csv", "figures/toy-figure-1.svg"}


@pytest.mark.parametrize(
    "picture",
    [
        Lines("epsilon", "mse", "method", panels=("seed",), log_x=True, log_y=True, median=True),
        Heat("epsilon", "seed", "mse", panels=("method",), diverging=True),
        Scatter("epsilon", "mse", "method", log_y=True),
    ],
)
def test_every_kind_of_picture_is_drawn(picture: Any, cache: Cache, tmp_path: Path) -> None:
    path = write([judged(toy(picture=picture), cache)], tmp_path / "report")
    assert (path.parent / "figures/toy-figure-1.svg").read_text().startswith("<svg")
    assert 'src="figures/toy-figure-1.svg"' in path.read_text()


def test_an_experiment_that_was_not_run_says_so(tmp_path: Path) -> None:
    entry = judged(toy(), Cache(tmp_path / "none"))
    assert [verdict.kind for _, verdict in entry.verdicts] == [NOT_RUN]
    assert NOT_RUN in write([entry], tmp_path / "report").read_text()


def test_verdicts_are_counted_in_words(cache: Cache) -> None:
    def claim(good: bool, **more: str) -> Claim:
        return Claim("text", exact(lambda _: good, lambda _: ""), **more)

    def told(*claims: Claim) -> str:
        return in_words(record([judged(toy(claims=claims), cache)])["experiments"])

    assert told(claim(True), claim(True), claim(False, slip="x")) == "2 of 3 claims hold, 1 printed slip"
    assert told(claim(False, slip="x"), claim(False, slip="x"), claim(False)) == (
        "0 of 3 claims hold, 2 printed slips, 1 contradicted"
    )
    assert told(claim(True)) == "The claim holds"
    assert told(claim(False)) == "The claim does not hold: contradicted"


def test_a_slip_is_shown_with_what_should_be_printed(cache: Cache) -> None:
    wrong = Claim("x = 1", exact(lambda _: False, lambda _: "x is 2"), slip="x = 2")
    text = page(record([judged(toy(claims=(wrong,)), cache)]))
    assert "In print it should read: x = 2." in text
    assert '<span class="verdict printed-slip">' in text


def test_the_published_record_is_of_the_experiments_as_they_are_declared() -> None:
    """If this fails, run `make papers` and `python -m papers report --docs`."""
    for each, found in zip(experiments(), PUBLISHED["experiments"], strict=True):
        assert declared(each) == {name: found[name] for name in declared(each)}, each.id
        said = [(claim["text"], claim["where"], claim["slip"]) for claim in found["claims"]]
        assert said == [(claim.text, claim.where, claim.slip) for claim in each.claims], each.id
        files = [file_name(each, n) for n, picture in enumerate(pictures(each)) if not isinstance(picture, Table)]
        assert [picture["file"] for picture in found["pictures"] if "file" in picture] == files, each.id


def test_all_claims_were_judged_and_their_pictures_are_published() -> None:
    kinds = {claim["kind"] for each in PUBLISHED["experiments"] for claim in each["claims"]}
    assert NOT_RUN not in kinds
    assert len(shipped()) == sum(len(each.claims) for each in experiments())
    named = {each["file"] for one in PUBLISHED["experiments"] for each in one["pictures"] if "file" in each}
    assert {path.name for path in (SHIPPED.parent / "figures").iterdir()} == named


def test_a_claim_of_the_published_record_holds_only_with_support_in_every_setting() -> None:
    for each in PUBLISHED["experiments"]:
        for claim in each["claims"]:
            found = re.match(r"True in (\d+) of (\d+) settings?", claim["numbers"])
            if found and claim["kind"] == HOLDS:
                assert found[1] == found[2], (each["id"], claim["text"])


@pytest.mark.parametrize(
    ("experiment", "text"),
    [
        ("kbr/figure-3", "permutations in place of hashes change O-RAPPOR little"),
        ("kbr/figure-11", "O-RAPPOR is the same within 5% for C = 2 and C = 1024"),
        ("kbr/figure-12", "O-RAPPOR is the same within 5% for C = 8 and C = 1024"),
        ("kbr/figure-15", "O-RAPPOR is the same within 5% for C = 16 and C = 1024"),
        ("kbr/figure-11", "one cohort makes O-RAPPOR clearly worse, by 5% or more"),
    ],
)
def test_claims_without_enough_data_are_not_decided(experiment: str, text: str) -> None:
    assert shipped()[experiment, text] == UNDECIDED


def test_the_published_page_and_tables_follow_from_the_record() -> None:
    assert (DOCS / "papers/report.html").read_text() == page(PUBLISHED)
    assert (DOCS / "papers.md").read_text() == text_of("docs/papers.md")


def test_the_published_page_names_every_paper_with_its_address() -> None:
    text = page(PUBLISHED)
    for paper in PAPERS:
        assert f'href="{paper.url}"' in text
        assert f'id="{paper.name}"' in text
    assert counts(PUBLISHED["experiments"])[SLIP] >= 1
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links <= set(re.findall(r'id="([^"]+)"', text))


def test_a_method_looks_the_same_in_all_published_pictures_of_its_paper() -> None:
    key = re.compile(r'<g fill="(#\w+)"><path [^>]*/><use href="#(m\d)"[^>]*/></g><text [^>]*>([^<]*)</text>')
    for paper in PAPERS:
        seen: dict[str, set[tuple[str, str]]] = {}
        for each in paper.experiments():
            for number, picture in enumerate(pictures(each)):
                if isinstance(picture, Lines | Scatter) and picture.by == "method":
                    text = (SHIPPED.parent / "figures" / file_name(each, number)).read_text()
                    for colour, marker, label in key.findall(text):
                        seen.setdefault(label, set()).add((colour, marker))
        assert {label: found for label, found in seen.items() if len(found) > 1} == {}, paper.name
