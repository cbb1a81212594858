"""`deniable estimate` of a running collector: the same table as of a file, and one line for whatever goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.wire.keys import Key
from tests.cli.command import check_refusal, run, succeed
from tests.collector.http.asking import COUNTRIES, PATH, send
from tests.collector.http.running import DAY, M, Running, serving


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a collection; in the folder, its keys, its spec, and a summary of the same reports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DENIABLE_READ_KEY", raising=False)
    collector = Running()
    collector.make(**COUNTRIES)
    sent = send(collector, M, ["a"] * 500 + ["b"] * 200, segments=b"\0")
    send(collector, M, ["a"] * 100 + ["b"] * 200, hour=DAY - 24, segments=b"\1")
    collector.fold()
    Path("spec.json").write_text(M.spec.to_json())
    Path("here.summary").write_bytes(sent.to_bytes())
    Path("read.key").write_text(collector.key("read") + "\n")
    Path("themes.keys.json").write_text(json.dumps(collector.keys["themes"]))
    with serving(collector) as served:
        yield f"http://127.0.0.1:{served.port}/v1/collections/themes"
    collector.close()


WHERE = ("--from", "2026-03-30", "--to", "2026-03-30", "--segment", "country=de")


@pytest.mark.parametrize("options", [(), ("--method", "unbiased", "--top", "2"), ("--sum", "a,b", "--level", "99%")])
def test_it_prints_what_it_prints_of_a_file(address: str, options: tuple[str, ...]) -> None:
    there = succeed("estimate", address, "--key-file", "read.key", *WHERE, *options)
    assert there == succeed("estimate", "here.summary", *options)


def test_json_tables_and_pictures_are_those_of_a_file(address: str) -> None:
    found = json.loads(succeed("estimate", address, "--key-file", "themes.keys.json", *WHERE, "--json"))
    assert found["details"].pop("withheld") == 0
    assert found == json.loads(succeed("estimate", "here.summary", "--json"))
    written = ("-o", "there.csv", "--plot", "there.svg")
    succeed("estimate", address, "--key-file", "read.key", *WHERE, *written)
    succeed("estimate", "here.summary", "-o", "here.csv")
    assert Path("there.csv").read_text() == Path("here.csv").read_text()
    assert "<svg" in Path("there.svg").read_text()


def test_the_key_may_stand_in_a_variable(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_refusal(run("estimate", address), "give --key-file, or the variable DENIABLE_READ_KEY")
    monkeypatch.setenv("DENIABLE_READ_KEY", Path("read.key").read_text())
    assert "from 1,000 reports" in succeed("estimate", address)
    assert "from 300 reports" in " ".join(succeed("estimate", address, "--segment", "country=fr").split())


def test_of_what_is_withheld_a_reader_is_told_nothing(tmp_path: Path) -> None:
    collector = Running()
    collector.make(minimum=100, **COUNTRIES)
    (tmp_path / "read.key").write_text(collector.key("read"))
    for n, place in ((500, 0), (160, 1)):
        send(collector, M, ["a"] * n, segments=bytes([place]))
    collector.fold()
    assert collector.ask("PATCH", PATH, {"minimum": 200}, collector.admin).status == 200
    with serving(collector) as served:
        place = f"http://127.0.0.1:{served.port}/v1/collections/themes"
        out = succeed("estimate", place, "--key-file", tmp_path / "read.key")
    collector.close()
    assert "from 500 reports" in " ".join(out.split())
    assert "160" not in out


def test_errors_are_one_line_with_the_reason(address: str) -> None:
    def refused(*arguments: object, reason: str, key: str = "read.key") -> None:
        outcome = run("estimate", *arguments, "--key-file", key)
        check_refusal(outcome, reason)
        assert "dnr_" not in outcome.err.replace("dnr_...", "").replace("(dnr_ to read", "")

    refused(address + "x", reason="the collector refuses (wrong-key): ")
    refused(address, "--segment", "country=xx", reason="refuses (bad-argument): segment country must be one of")
    refused(address, "--from", "2026-04-01", reason="refuses (too-few-reports): fewer than 1 published reports")
    refused(address, "--segment", "country", reason="--segment must be NAME=LABEL, got 'country'")
    refused(address, "--spec", "spec.json", reason="--spec is for files, not for a collector's address")
    refused(address, "--group", "1,de", reason="--group is for files")
    refused(address, "here.summary", reason="a collector's address is given alone")
    refused(address.replace("127.0.0.1", "example.org"), reason="url must start with https://")
    refused(address.partition("/v1")[0], reason="url must be the address of a collection")
    refused("http://127.0.0.1:9/v1/collections/a", reason="127.0.0.1:9 cannot be reached: ")
    refused("here.summary", reason="--key-file is for a collector's address")
    refused(address, key="no.key", reason="no.key: No such file")
    Path("wrong.json").write_text('{"write": 1}')
    refused(address, key="wrong.json", reason="wrong.json: there is no read key in this file")
    Path("other.key").write_text(Key.new("read").text)
    refused(address, key="other.key", reason="refuses (unknown-key): ")
    check_refusal(run("estimate", "here.summary", "--insecure"), "--insecure is for a collector's address")


def test_errors_with_json_name_the_reason(address: str) -> None:
    outcome = run("estimate", address + "x", "--key-file", "read.key", "--json")
    assert outcome.code == 2
    assert json.loads(outcome.err)["kind"] == "Refused"
