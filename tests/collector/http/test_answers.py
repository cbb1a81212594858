"""Answers over HTTP equal those of the library on the same reports, and are made of published counts alone."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import tracemalloc
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.core.reports import Reports
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from tests.collector.http.asking import PATH, described, get, send
from tests.collector.http.running import DAY, LABELS, M, Running


def test_an_estimate_equals_that_of_the_library(countries: Any) -> None:
    collector, sent = countries
    whole = M.estimate(sum(sent.values()))
    found = get(collector, "estimate")
    expected = json.loads(json.dumps(whole.to_dict()))
    assert found["values"] == expected["values"]
    assert {name: found[name] for name in expected} == expected
    assert (found["from"], found["to"], found["segments"]) == (DAY - 72, DAY, {})
    assert (found["specs"], found["withheld"], found["matches"]) == ([M.fingerprint], 0, 3)


def test_a_selection_is_of_buckets_and_labels(countries: Any) -> None:
    collector, sent = countries
    wanted = sum(sent[day, 1] for day in (1, 2))
    for times in (
        f"from={DAY - 48}&to={DAY - 24}",
        "from=2026-03-28&to=2026-03-29",
        "from=2026-03-28T05:00Z&to=2026-03-29",
    ):
        found = get(collector, f"estimate?{times}&segment.country=fr&method=unbiased&target=population&level=0.9")
        expected = M.estimate(wanted, "unbiased", target="population")
        assert [row["low"] for row in found["values"]] == expected.interval(0.9).low.tolist()
        assert found["segments"] == {"country": ["fr"]}
    both = get(collector, "estimate?segment.country=fr&segment.country=de")
    assert both["n"] == sum(each.n for each in sent.values())


def test_top_and_search_choose_rows(countries: Any) -> None:
    collector, sent = countries
    whole = M.estimate(sum(sent.values()))
    top = get(collector, "estimate?top=2")
    assert [row["label"] for row in top["values"]] == ["a", "b"]
    assert top["simultaneous"] is True
    assert [row["low"] for row in top["values"]] == [row.low for row in whole.top(2)]
    searched = get(collector, "estimate?search=B")
    assert [row["label"] for row in searched["values"]] == ["b"]
    assert (searched["matches"], searched["simultaneous"]) == (1, False)


def test_csv_and_arrow_have_the_rows_of_the_library(countries: Any) -> None:
    collector, sent = countries
    whole = M.estimate(sum(sent.values())).to_arrow()
    key = collector.key("read")
    arrow = collector.ask("GET", f"{PATH}/estimate?format=arrow", None, key)
    assert arrow.headers["content-type"] == "application/vnd.apache.arrow.stream"
    assert pa.ipc.open_stream(arrow.body).read_all().equals(whole)
    text = collector.ask("GET", f"{PATH}/estimate?format=csv", None, key)
    assert text.headers["content-type"].startswith("text/csv")
    assert [row["label"] for row in csv.DictReader(io.StringIO(text.body.decode()))] == LABELS
    trend = collector.ask("GET", f"{PATH}/trend?value=a&format=csv", None, key).body.decode()
    assert len(trend.splitlines()) == 5


def test_a_trend_has_a_row_for_each_bucket(countries: Any) -> None:
    collector, sent = countries
    found = get(collector, "trend?value=a&segment.country=de")
    assert [row["bucket"] for row in found["buckets"]] == [DAY - 72, DAY - 48, DAY - 24, DAY]
    assert found["buckets"][-1]["time"] == "2026-03-30"
    expected = [M.estimate(sent[day, 0], "unbiased")["a"] for day in (3, 2, 1, 0)]
    assert [row["low"] for row in found["buckets"]] == [row.low for row in expected]
    assert collector.ask("GET", f"{PATH}/trend?value=z", None, collector.admin).kind == "bad-argument"


def test_a_difference_equals_that_of_the_library(countries: Any) -> None:
    collector, sent = countries
    first, second = (sum(sent[day, place] for day in range(4)) for place in (0, 1))
    a, b = (M.estimate(each, "unbiased", target="population") for each in (first, second))
    found = get(collector, "difference?a.country=de&b.country=fr")
    assert found["values"] == json.loads(json.dumps([row.to_dict() for row in (a - b).rows(simultaneous=True)]))
    assert found["alike"]["p_value"] == dn.alike({"a": a, "b": b}).p_value
    assert found["n"] == [first.n, second.n]
    over_time = get(collector, "difference?a.to=2026-03-28&b.from=2026-03-29&segment.country=de")
    assert over_time["n"] == [sum(sent[day, 0].n for day in days) for days in ((3, 2), (1, 0))]
    both = collector.ask("GET", f"{PATH}/difference?a.country=de&b.to=2026-03-30", None, collector.admin)
    assert both.kind == "bad-argument"


def test_nothing_is_told_below_the_minimum_and_answers_advance_by_it() -> None:
    collector = Running()
    collector.make(minimum=100)
    key = collector.admin  # readers are told less, see below

    def told() -> tuple[int, int]:
        collector.fold()
        answer = collector.ask("GET", f"{PATH}/estimate", None, key)
        return (answer.json["n"], answer.json["withheld"]) if answer.status == 200 else (0, answer.status)

    send(collector, M, ["a"] * 99)
    assert told() == (0, 403)
    send(collector, M, ["a"])
    assert told() == (100, 0)
    send(collector, M, ["a"] * 99)
    assert told() == (100, 99)
    send(collector, M, ["a"] * 30)
    assert told() == (229, 0)
    send(collector, M, ["b"] * 60, hour=DAY - 24)
    assert told() == (229, 60)  # of another bucket, below the minimum
    rows = collector.ask("GET", f"{PATH}/trend?value=a", None, key).json["buckets"]
    assert [(row["n"], row["withheld"]) for row in rows] == [(0, 60), (229, 0)]
    assert rows[0]["frequency"] is None
    collector.close()


def cache(collector: Running) -> list[int]:
    """How many answers came from the cache, and how many were made."""
    text = collector.ask("GET", "/metrics", None, collector.admin).body.decode()
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return [int(lines[f"deniable_cache_{name}_total"]) for name in ("hits", "misses")]


def test_an_answer_comes_from_a_cache_until_a_report_is_counted(countries: Any) -> None:
    collector, _ = countries
    first = get(collector, "estimate")
    assert cache(collector) == [0, 1]
    assert get(collector, "estimate") == first
    assert cache(collector) == [1, 1]
    send(collector, M, ["a"], segments=b"\0")
    collector.fold()
    assert get(collector, "estimate")["n"] == first["n"] + 1
    assert cache(collector) == [1, 2]


def test_an_answer_stays_in_the_cache_when_the_window_moves_on_but_not_when_the_settings_change(countries: Any) -> None:
    collector, _ = countries
    get(collector, "estimate")
    before = collector.service.directory.desks["themes"].row.remembered_from
    collector.service.keeper.round()
    collector.service.refresh()
    assert collector.service.directory.desks["themes"].row.remembered_from > before
    get(collector, "estimate")
    assert cache(collector) == [1, 1]
    assert collector.ask("PATCH", PATH, {"minimum": 2}, collector.admin).status == 200
    get(collector, "estimate")
    assert cache(collector) == [1, 2]


def test_answers_about_many_cells_are_kept_in_little_more_than_their_own_bytes(collector: Running) -> None:
    collector.make("hours", bucket="hour", window_hours=300)
    now = collector.service.clock.hour()
    for hour in range(200):
        send(collector, M, ["a"], "hours", hour=now - hour)
    collector.fold()
    get(collector, "estimate", "hours")
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for place in range(40):  # half of them about new counts
        if place % 2:
            send(collector, M, ["a"], "hours", hour=now)
            collector.fold()
        get(collector, f"estimate?search=a&top={place + 1}&method=unbiased", "hours")
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert cache(collector)[1] == 41
    assert taken < 40 * 4_000


def test_after_a_new_report_only_the_latest_bucket_is_read_again(countries: Any, monkeypatch: Any) -> None:
    collector, sent = countries
    store, read = collector.service.store, []
    published = store.published

    def noticed(cells: Any) -> Any:
        read.append({cell.bucket for cell in cells})
        return published(cells)

    monkeypatch.setattr(store, "published", noticed)
    days = {DAY - 72, DAY - 48, DAY - 24, DAY}
    total = sum(sent.values())
    assert get(collector, "estimate?method=unbiased")["values"] == M.estimate(total, "unbiased").to_dict()["values"]
    assert set().union(*read) == days
    for hour, changed in ((DAY, {DAY}), (DAY - 48, days - {DAY}), (DAY, {DAY})):
        read.clear()
        total += send(collector, M, ["a", "b"], hour=hour, segments=b"\0")
        collector.fold()
        found = get(collector, "estimate?method=unbiased")
        assert found["values"] == json.loads(json.dumps(M.estimate(total, "unbiased").to_dict()["values"]))
        assert set().union(*read) == changed


def test_reports_under_two_specs_are_estimated_together(collector: Running) -> None:
    new = dn.mechanism("oue", labels=LABELS, epsilon=2.0)
    added = collector.ask("POST", f"{PATH}/specs", {"spec": new.spec.to_dict()}, collector.admin)
    assert [each["mechanism"] for each in added.json["specs"]] == ["grr", "oue"]
    old_summary, new_summary = send(collector, M, ["a"] * 400), send(collector, new, ["a"] * 300 + ["b"] * 100)
    collector.fold()
    found = get(collector, "estimate?method=unbiased&target=population")
    expected = dn.combine_specs([(new, new_summary), (M, old_summary)], "unbiased", target="population")
    assert [row["frequency"] for row in found["values"]] == expected.frequencies.tolist()
    assert found["n"] == 800
    assert set(found["specs"]) == {M.fingerprint, new.fingerprint}
    alone = get(collector, f"estimate?spec={new.fingerprint}&method=projected")
    assert [row["frequency"] for row in alone["values"]] == new.estimate(new_summary, "projected").frequencies.tolist()
    form = json.loads(collector.ask("GET", "/v1/forms/themes").json["form"])
    assert [each["mechanism"] for each in form["specs"]] == ["oue", "grr"]


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "d"], ["a", "b", "c", "d"]])
def test_a_spec_of_other_labels_is_refused_before_it_spoils_answers(collector: Running, labels: list[str]) -> None:
    other = {"spec": dn.mechanism("grr", labels=labels, epsilon=1.0).spec.to_dict()}
    refused = collector.ask("POST", f"{PATH}/specs", other, collector.admin)
    assert refused.kind == "conflict"
    assert refused.json["error"].endswith("have other labels than this one. Ask a new question in a new collection.")
    turned = dn.mechanism("grr", labels=LABELS[::-1], epsilon=1.0)
    added = collector.ask("POST", f"{PATH}/specs", {"spec": turned.spec.to_dict()}, collector.admin)
    assert added.status == 201
    send(collector, M, ["a"] * 400)
    send(collector, turned, ["a"] * 400)
    collector.fold()
    assert [row["label"] for row in get(collector, "estimate?method=unbiased")["values"]] == LABELS[::-1]


def test_candidates_of_an_open_domain(collector: Running) -> None:
    m = dn.mechanism("orr", domain=dn.Domain.open(max_bytes=20), epsilon=4.0)
    collector.make("words", m)
    summary = send(collector, m, ["apple"] * 3000 + ["pear"] * 1500, "words")
    collector.fold()
    body = {"candidates": ["apple", "pear", "plum"], "from": "2026-03-30", "level": 0.9}
    answer = collector.ask("POST", "/v1/collections/words/candidates", body, collector.key("read", "words"))
    found = described(answer.json)
    expected = m.estimate(summary, candidates=body["candidates"])
    assert [row["label"] for row in found["present"]] == [row.label for row in expected.present(level=0.9)][:2]
    assert found["present"][0]["label"] == "apple"
    assert found["present"][0]["low"] == expected.present(level=0.9)[0].low
    assert found["unlisted"]["label"] == expected.domain.label(3)
    twice = collector.ask("POST", "/v1/collections/words/candidates", {"candidates": list("abcb")}, collector.admin)
    assert twice.json["error"] == "candidates must be different, got 'b' more than once"
    refused = collector.ask("GET", "/v1/collections/words/estimate", None, collector.key("read", "words"))
    assert refused.kind == "bad-argument"
    assert "candidates" in refused.json["error"]


def test_heavy_hitters(collector: Running) -> None:
    hitters = dn.HeavyHitters.new(epsilon=6.0, max_bytes=3, alphabet="abc")
    collector.make("found", hitters)
    drawn = hitters.privatize(["abc"] * 3000 + ["ca"] * 1000, seed=3)
    reports = dn.HitterReports(drawn.levels, Reports(drawn.reports.data, hitters.fingerprint))
    secret = Key.read(collector.keys["found"]["write"]).secret
    payloads = Payloads(hitters, False).joined(reports)
    sent = Frame(secret, bytes.fromhex(hitters.fingerprint), DAY, b"", b"", payloads, 4000, os.urandom(16))
    assert collector.ask("POST", "/v1/batches", sent.to_bytes()).status == 200
    collector.fold()
    found = get(collector, "heavy-hitters?top=1", "found")
    expected = hitters.find(hitters.summarize(reports)).to_dict(top=1)
    assert found["strings"] == json.loads(json.dumps(expected["strings"]))
    assert found["strings"][0]["label"] == "abc"
    assert found["n"] == 4000


def test_a_preview_says_what_to_expect(collector: Running) -> None:
    asked = {"labels": LABELS, "epsilon": 2.0, "mechanism": "grr", "n": 5000}
    found = collector.ask("POST", "/v1/preview", asked, collector.admin).json
    assert found["fingerprint"] == M.fingerprint
    assert found["std_error"]["population"] == pytest.approx(M.variance(0.0, 5000, target="population") ** 0.5)
    assert collector.ask("POST", "/v1/preview", {"spec": found["spec"]}, collector.admin).json["payload_bytes"] == 1
    assert collector.ask("POST", "/v1/preview", {"epsilon": 1.0}, collector.admin).kind == "bad-argument"
