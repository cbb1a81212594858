"""Load is for one's own machine, bounded, and by the administrator alone."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from deniable.collector.load.address import Address
from deniable.collector.load.plan import Plan
from deniable.core.errors import InvalidArgument
from deniable.wire.keys import READ, Key
from tests.cli.command import check_refusal, run
from tests.collector.load.small_collector import SmallCollector


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "http://127.9.9.9", "http://localhost:80/", "http://[::1]:99"]
)
def test_addresses_of_this_machine_are_taken(url: str) -> None:
    assert Address.loopback(url).port in (80, 99, 8000)


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:8000",
        "http://[2001:db8::1]:8000",
        "http://0.0.0.0:8000",
        "https://127.0.0.1",
        "127.0.0.1:8000",
        "http://",
        "http://127.0.0.1:99999",
        "http://127.0.0.1/v1/reports",
        "http://127.0.0.1@192.0.2.1",
        "ftp://127.0.0.1",
    ],
)
def test_any_other_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match="be the address of a collector on this machine"):
        Address.loopback(url)


@pytest.mark.parametrize("found", [["192.0.2.7"], ["127.0.0.1", "192.0.2.7"], ["::1", "2001:db8::7"]])
def test_a_name_that_leads_elsewhere_is_refused_whatever_it_is(
    found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 80)) for ip in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: entries)
    with pytest.raises(InvalidArgument, match=f"It leads to {found[-1]}"):
        Address.loopback("http://localhost")


@pytest.mark.parametrize(
    "wrong",
    [{"users": 0}, {"users": 10**9}, {"connections": 1000}, {"seconds": 1e9}, {"batch": 0}, {"replays": 1.5},
     {"malformed": 0.95}, {"rate": 0.0}],
)  # fmt: skip
def test_a_plan_is_bounded(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        Plan(**wrong)  # type: ignore[arg-type]


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "admin.key"


@pytest.mark.parametrize(("fault", "code"), [("", 0), ("loses", 1), ("counts twice", 1)])
def test_the_exit_code_is_the_verdict(fault: str, code: int, key_file: Path) -> None:
    with SmallCollector(fault).serving() as collector:
        key_file.write_text(collector.admin.text)
        outcome = run("load", collector.url, "--users", 2000, "--batch", 20, "--key-file", key_file, "--json")
    assert outcome.code == code, outcome.err
    found = json.loads(outcome.out)
    assert found["good"] is (code == 0)
    assert found["acknowledged"] == 2000


def test_the_table_for_people_has_every_figure(key_file: Path) -> None:
    with SmallCollector().serving() as collector:
        key_file.write_text(f"{collector.admin.text}\n")
        outcome = run("load", collector.url, "--users", 500, "--malformed", "30%", "--key-file", key_file)
    assert outcome.code == 0, outcome.err
    for word in ("sent", "acknowledged", "counted", "refused: bad-payload", "0 acknowledged reports lost", "median"):
        assert word in outcome.out


def test_people_who_had_no_time_to_report_are_told(key_file: Path) -> None:
    with SmallCollector().serving() as collector:
        key_file.write_text(collector.admin.text)
        words = ("--users", 10_000, "--rate", 100, "--seconds", 0.3, "--key-file", key_file)
        outcome = run("load", collector.url, *words)
    assert outcome.code == 0, outcome.err
    assert "of 10,000 people did not report, because the time was up" in outcome.out


def test_the_key_is_never_an_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DENIABLE_ADMIN_KEY", raising=False)
    check_refusal(run("load", "http://127.0.0.1:9"), "the administrator's key must be given")
    monkeypatch.setenv("DENIABLE_ADMIN_KEY", Key.new(READ).text)
    check_refusal(run("load", "http://127.0.0.1:9"), "must be the administrator's")


def test_no_collector_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.load.run.PATIENCE", 0.2)
    monkeypatch.setenv("DENIABLE_ADMIN_KEY", Key.new("admin").text)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    check_refusal(run("load", f"http://127.0.0.1:{port}"), "no collector answers at 127.0.0.1")
