"""A collector read by its address: a reader estimates what the collector itself answers, and is told no more."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.client import Unreachable
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from deniable.wire.refusals import Refused
from tests.collector.http.asking import PATH, get, send
from tests.collector.http.running import DAY, M, Running, Served, batch, serving


def at(served: Served, name: str = "themes") -> dn.Collection:
    url = f"http://127.0.0.1:{served.port}/v1/collections/{name}"
    return dn.collection(url, served.collector.key("read", name))


@pytest.fixture
def read(countries: Any) -> Iterator[tuple[Running, dn.Collection]]:
    """Four days of two countries, over HTTP."""
    with serving(countries[0]) as served:
        yield countries[0], at(served)


def same(answer: dn.Estimate, served: dict[str, Any]) -> None:
    assert answer.n == served["n"]
    assert answer.method == served["method"]
    assert [row._asdict() for row in answer.rows()] == served["values"]


def test_a_reader_makes_the_answer_of_every_store(served: Served) -> None:
    send(served.collector, M, ["a"] * 500 + ["b"] * 300)
    served.collector.fold()
    same(at(served).estimate(), get(served.collector, "estimate"))


@pytest.mark.parametrize("method", [None, "unbiased", "projected"])
def test_a_reader_makes_the_answer_of_every_selection(read: tuple[Running, dn.Collection], method: str | None) -> None:
    collector, reader = read
    more = "" if method is None else f"&method={method}"
    same(reader.estimate(method), get(collector, f"estimate?target=users{more}"))
    same(
        reader.estimate(method, first=date(2026, 3, 28), last="2026-03-29", segments={"country": "fr"}),
        get(collector, f"estimate?from=2026-03-28&to=2026-03-29&segment.country=fr{more}"),
    )
    assert reader.estimate(method, first=DAY, segments={"country": ["de", "fr"]}).n == 900


def test_a_reader_has_the_whole_estimate(read: tuple[Running, dn.Collection]) -> None:
    collector, reader = read
    answer = reader.estimate("unbiased")
    assert answer.sum(["a", "b"]).value == pytest.approx(answer.frequencies[0] + answer.frequencies[1])
    wide = get(collector, "estimate?method=unbiased&level=0.99&simultaneous=true")["values"]
    assert [row._asdict() for row in answer.rows(0.99, simultaneous=True)] == wide
    assert answer.details["withheld"] == 0


def test_a_trend_and_a_difference_are_those_of_the_collector(read: tuple[Running, dn.Collection]) -> None:
    collector, reader = read
    for moment, row in zip(reader.trend("a"), get(collector, "trend?value=a")["buckets"], strict=True):
        assert moment.start == datetime.fromtimestamp(3600 * row["bucket"], UTC)
        assert [*moment[1:]] == [row[name] for name in ("n", "frequency", "std_error", "low", "high")]
    between = reader.difference({"country": "de"}, {"country": "fr"}, first=DAY - 48)
    expected = get(collector, f"difference?a.country=de&b.country=fr&from={DAY - 48}")["values"]
    assert [each.to_dict() for each in between.rows(simultaneous=True)] == expected
    times = reader.difference({"to": str(DAY - 48)}, {"from": str(DAY - 24)})
    assert [each.to_dict() for each in times.rows(simultaneous=True)] == get(
        collector, f"difference?a.to={DAY - 48}&b.from={DAY - 24}"
    )["values"]
    with pytest.raises(dn.InvalidArgument, match="b must have no reports in common with a"):
        reader.difference({"country": "de"}, {"country": ["de", "fr"]})


def test_reports_under_two_specs_are_combined(collector: Running) -> None:
    newer = dn.mechanism("oue", labels=["a", "b", "c"], epsilon=1.0)
    wanted = {"spec": newer.spec.to_dict()}
    assert collector.ask("POST", f"{PATH}/specs", wanted, collector.admin).status == 201
    send(collector, M, ["a"] * 300 + ["b"] * 200)
    collector.fold()
    with serving(collector) as served:
        assert at(served).estimate().fingerprint == M.fingerprint  # the new one has no reports yet
        send(collector, newer, ["a"] * 100 + ["c"] * 400)
        collector.fold()
        for target in ("users", "population"):
            same(at(served).estimate(target=target), get(collector, f"estimate?target={target}"))
        assert at(served).summaries(spec=M.fingerprint).n == 500
        with pytest.raises(dn.InvalidArgument, match="spec must be given where there are reports of several"):
            at(served).summaries()


def test_only_published_counts_of_told_cells_leave(collector: Running) -> None:
    collector.make("strict", minimum=100, segments=[{"name": "country", "labels": ["de", "fr"]}])
    first = send(collector, M, ["a"] * 150, "strict", segments=b"\0")
    collector.fold()
    send(collector, M, ["a"] * 99, "strict", segments=b"\0")  # too few more
    send(collector, M, ["b"] * 99, "strict", segments=b"\1")  # too few at all
    collector.fold()
    with serving(collector) as served:
        table = at(served, "strict").summaries()
        assert dict(table.items()) == {(DAY, "de"): first}
        assert at(served, "strict").estimate().details["withheld"] == 0  # whole minimums, of which there is none
        with pytest.raises(Refused, match="fewer than 100 published reports") as refused:
            at(served, "strict").estimate(segments={"country": "fr"})
        assert refused.value.kind == "too-few-reports"


def test_cells_from_before_the_minimum_was_raised_are_withheld_everywhere(countries: Any) -> None:
    collector, sent = countries
    changed = collector.ask("PATCH", PATH, {"minimum": 450}, collector.admin)
    assert changed.status == 200
    of_france = sum(sent[day, 1].n for day in range(4))
    with serving(collector) as served:
        assert {country for _, country in at(served).summaries()} == {"fr"}
        same(at(served).estimate(), get(collector, "estimate"))
    answer = get(collector, "estimate")
    assert (answer["n"], answer["withheld"]) == (of_france, 0)  # a reader is not told that there are others
    exact = collector.ask("GET", f"{PATH}/estimate", None, collector.admin).json
    assert (exact["n"], exact["withheld"]) == (of_france, sum(each.n for each in sent.values()) - of_france)


def test_candidates_and_heavy_hitters_are_found_here(collector: Running) -> None:
    words = dn.mechanism("orr", domain=dn.Domain.open(max_bytes=20), epsilon=4.0)
    collector.make("words", words)
    summary = send(collector, words, ["apple"] * 3000 + ["pear"] * 2000, "words")
    hitters = dn.HeavyHitters.new(epsilon=6.0, max_bytes=3, alphabet="abc")
    collector.make("strings", hitters)
    drawn = hitters.privatize(["abc"] * 3000 + ["ca"] * 1000, seed=3)
    reports = dn.HitterReports(drawn.levels, dn.Reports(drawn.reports.data, hitters.fingerprint))
    sent = batch(collector, ["a"], "strings")._replace(
        fingerprint=bytes.fromhex(hitters.fingerprint), payloads=Payloads(hitters, False).joined(reports), n=4000
    )
    assert collector.ask("POST", "/v1/batches", sent.to_bytes()).status == 200
    collector.fold()
    sought = ["apple", "plum"]
    with serving(collector) as served:
        found = at(served, "words").candidates(sought)
        np.testing.assert_array_equal(found.frequencies, words.estimate(summary, candidates=sought).frequencies)
        strings = at(served, "strings").heavy_hitters()
        assert strings.to_dict() == hitters.find(hitters.summarize(reports)).to_dict()
        with pytest.raises(dn.InvalidArgument, match=r"Use candidates\(\)"):
            at(served, "words").estimate()
        with pytest.raises(dn.InvalidArgument, match="collection must search for strings, got 'open strings'"):
            at(served, "words").heavy_hitters()
        with pytest.raises(dn.InvalidArgument, match="collection must be for open strings, got 'heavy hitters'"):
            at(served, "strings").candidates(sought)


def test_keys_and_addresses_are_checked_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    place, key = "http://127.0.0.1:9/v1/collections/themes", Key.new("read").text
    monkeypatch.delenv("DENIABLE_READ_KEY", raising=False)
    for url, given, reason in [
        ("http://127.0.0.1:9", key, "url must be the address of a collection"),
        ("http://127.0.0.1:9/v1/collections/a/estimate", key, "url must be the address of a collection"),
        ("http://reports.example.org/v1/collections/a", key, "url must start with https://"),
        (place, Key.new("write").text, "key must be a key to read"),
        (place, "secret", "key must be dnw_"),
        (place, None, "key must be given, or be in the variable DENIABLE_READ_KEY"),
    ]:
        with pytest.raises(dn.InvalidArgument, match=reason) as wrong:
            dn.collection(url, given)
        assert given is None or given not in str(wrong.value)
    monkeypatch.setenv("DENIABLE_READ_KEY", key)
    assert "themes" in repr(dn.collection(place))
    assert key not in repr(dn.collection(place))
    assert "example" in repr(dn.collection("http://reports.example.org/v1/collections/a", key, insecure=True))
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9 cannot be reached"):
        dn.collection(place).estimate()


def test_a_reader_is_refused_with_the_reason(read: tuple[Running, dn.Collection]) -> None:
    collector, reader = read
    for where, reason in [
        ({"first": "monday"}, "a time must be"),
        ({"segments": {"country": "xx"}}, "segment country must be one of de, fr, it"),
        ({"spec": "00" * 32}, "collection themes has no spec"),
    ]:
        with pytest.raises(Refused, match=reason):
            reader.estimate(**where)  # type: ignore[arg-type]
    with pytest.raises(dn.InvalidArgument, match="selection must be given by first, last, segments, spec"):
        reader.estimate(until="2026-03-28")  # type: ignore[call-arg]
    with pytest.raises(dn.InvalidArgument, match="label must be one of the 3 labels"):
        reader.trend("z")
    collector.service.office.revoke(
        collector.service.directory, collector.service.directory.desk("themes"), _read_key_id(collector)
    )
    collector.service.refresh()
    with pytest.raises(Refused, match="the key was never made, or was revoked"):
        reader.estimate()


def _read_key_id(collector: Running) -> str:
    listed = collector.ask("GET", f"{PATH}/keys", None, collector.admin).json["keys"]
    return next(each["id"] for each in listed if each["role"] == "read")


@pytest.mark.parametrize("data", [b"<html>", b"{}"])
def test_what_is_no_collector_is_called_so(
    read: tuple[Running, dn.Collection], monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    from deniable.client.web import Reply, Web

    monkeypatch.setattr(Web, "request", lambda *_, **__: Reply(200, data, None, None))
    with pytest.raises(Unreachable, match="it is no Parquet file"):
        read[1].estimate()


def test_a_table_without_its_spec_is_refused(
    read: tuple[Running, dn.Collection], monkeypatch: pytest.MonkeyPatch
) -> None:
    from deniable.client.web import Reply, Web

    exported = read[0].ask("GET", f"{PATH}/summaries", None, read[0].admin).body
    monkeypatch.setattr(Web, "request", lambda *_, **__: Reply(200, exported, None, None))
    with pytest.raises(dn.MalformedSummary, match="the file names no spec"):
        read[1].estimate()


def test_a_report_that_arrives_changes_the_next_answer(read: tuple[Running, dn.Collection]) -> None:
    collector, reader = read
    before = reader.estimate().n
    body = batch(collector, ["a"] * 7, segments=b"\0").to_bytes()
    assert collector.ask("POST", "/v1/batches", body).status == 200
    collector.fold()
    assert reader.estimate().n == before + 7
