"""Readers learn of no single report: what they are told beside answers advances by whole minimums, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.collector.http.asking import COUNTRIES, PATH, send
from tests.collector.http.running import DAY, M, Running, batch

MINIMUM = 100
QUESTIONS = (
    "",
    "/estimate",
    "/trend?value=a",
    "/difference?a.to=2026-03-29&b.from=2026-03-30",
    "/difference?a.country=de&b.country=fr",
    "/difference?a.country=it&b.from=2026-03-30",
)


@pytest.fixture
def published() -> Iterator[Running]:
    """Two days of reports from two countries, of which all are published."""
    made = Running()
    made.make(minimum=MINIMUM, **COUNTRIES)
    for day in range(2):
        for place in range(2):
            send(made, M, ["a"] * 130, hour=DAY - 24 * day, segments=bytes([place]))
    made.fold()
    yield made
    made.close()


def told(collector: Running, key: str) -> list[Any]:
    """All that this key is told."""
    found = [collector.ask("GET", PATH + each, None, key) for each in QUESTIONS]
    found += [collector.ask("GET", each, None, key) for each in ("/v1/collections", "/metrics")]
    return [(each.status, each.body) for each in found]


@pytest.mark.parametrize("folded", [False, True])
def test_a_reader_sees_no_difference_until_a_minimum_of_reports_is_there(published: Running, folded: bool) -> None:
    before = told(published, published.key("read"))
    for hour, segments in ((DAY, b"\0"), (DAY - 24, b"\0"), (DAY, b"\2"), (DAY - 48, b"\1")):
        for n in (1, MINIMUM - 2):
            send(published, M, ["a"] * n, hour=hour, segments=segments)
            if folded:
                published.fold()
            assert told(published, published.key("read")) == before
    send(published, M, ["a"], segments=b"\0")
    if folded:
        published.fold()
    assert told(published, published.key("read")) != before


def test_an_administrator_is_told_each_report(published: Running) -> None:
    send(published, M, ["a"] * 30, segments=b"\2")
    found = published.ask("GET", PATH, None, published.admin).json
    assert (found["counted"], found["waiting"]) == (520, 30)
    published.fold()
    found = published.ask("GET", PATH, None, published.admin).json
    assert (found["counted"], found["published"], found["waiting"]) == (550, 520, 0)
    assert [each["counted"] for each in found["buckets"]] == [260, 290]
    assert published.ask("GET", f"{PATH}/estimate", None, published.admin).json["withheld"] == 30


def test_waiting_reports_are_told_to_readers_in_whole_minimums(published: Running) -> None:
    send(published, M, ["a"] * 250, segments=b"\2")
    assert published.ask("GET", PATH, None, published.key("read")).json["waiting"] == 200


def test_metrics_tell_a_reader_nothing_of_other_collections(published: Running) -> None:
    published.make("other")
    before = published.ask("GET", "/metrics", None, published.key("read")).body
    assert published.ask("POST", "/v1/batches", batch(published, ["a"] * 500, "other").to_bytes()).status == 200
    published.ask("GET", "/v1/collections/other/estimate", None, published.key("read", "other"))
    assert published.ask("GET", "/metrics", None, published.key("read")).body == before
    published.fold()
    assert published.ask("GET", "/metrics", None, published.key("read")).body == before


def test_after_the_minimum_was_raised_readers_are_told_of_no_cell_below_it(published: Running) -> None:
    send(published, M, ["a"] * 900, segments=b"\0")
    published.fold()
    assert published.ask("PATCH", PATH, {"minimum": 1_000}, published.admin).status == 200
    found = published.ask("GET", PATH, None, published.key("read")).json
    assert (found["counted"], found["published"]) == (1_030, 1_030)
    assert [each["published"] for each in found["buckets"]] == [1_030]
    assert counted_by_metrics(published, "read") == 1_030
    assert counted_by_metrics(published, "admin") == 1_420
    answer = published.ask("GET", f"{PATH}/estimate", None, published.key("read")).json
    assert (answer["n"], answer["withheld"]) == (1_030, 0)
    assert len(published.ask("GET", f"{PATH}/trend?value=a", None, published.key("read")).json["buckets"]) == 1
    send(published, M, ["a"] * 900, segments=b"\0")  # too few more
    published.fold()
    assert published.ask("GET", PATH, None, published.key("read")).json == found
    published.ask("PATCH", PATH, {"minimum": 2_000}, published.admin)
    assert published.ask("GET", PATH, None, published.key("read")).json["counted"] == 0
    assert counted_by_metrics(published, "read") == 0


def test_after_the_minimum_was_lowered_readers_are_told_what_is_published_and_no_more(published: Running) -> None:
    send(published, M, ["a"] * 60, segments=b"\0")
    published.fold()
    published.ask("PATCH", PATH, {"minimum": 50}, published.admin)
    found = published.ask("GET", PATH, None, published.key("read")).json
    assert (found["counted"], found["published"]) == (520, 520)


def counted_by_metrics(collector: Running, role: str) -> int:
    text = collector.ask("GET", "/metrics", None, collector.key(role)).body.decode()
    return int(re.findall(r'^deniable_collection_reports\{collection="themes"\} (\d+)$', text, re.MULTILINE)[0])
