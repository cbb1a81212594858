"""Two collectors on one PostgreSQL, asked over HTTP: both take and count, and each soon knows what the other did."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.collector.store.opening import open_store
from deniable.wire.frames import Frame
from tests.collector.http.asking import PATH
from tests.collector.http.running import DAY, LABELS, NOW, M, Running, Served, batch, frame, serving
from tests.collector.servers import Server

PATIENCE = 30.0  # seconds: each looks for changes once a second
THREADS, ROUNDS, PER_BATCH = 4, 12, 50


@pytest.fixture
def two(postgresql: Server) -> Iterator[tuple[Served, Served]]:
    """Two collectors that count in the background, with one administrator's key."""
    address = postgresql.new_database()
    with ExitStack() as stack:
        both = []
        for _ in range(2):
            collector = Running(open_store(address))
            stack.callback(collector.close)
            both.append(collector)
        first, second = both
        second.admin = first.admin
        for collector in both:
            collector.service.start()
        servers = [stack.enter_context(serving(collector)) for collector in both]
        first.make()
        second.keys = first.keys
        eventually(lambda: servers[1].ask("GET", PATH, None, second.admin).status == 200)
        yield servers[0], servers[1]
        assert [collector.faults for collector in both] == [[], []]


def eventually(true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def sent_by_one(two: tuple[Served, Served], number: int) -> np.ndarray:
    """Send single reports and batches to both in turn, each also to the other; return the reports."""
    found, rng = [], np.random.default_rng(number)
    for turn in range(ROUNDS):
        here, there = two if (number + turn) % 2 else two[::-1]
        single = frame(here.collector, LABELS[rng.integers(len(LABELS))])
        several = batch(here.collector, [LABELS[each] for each in rng.integers(len(LABELS), size=PER_BATCH)])
        several = several._replace(ids=rng.bytes(16 * PER_BATCH))
        for server in (here, there):  # as a device does that had no answer
            assert server.ask("POST", "/v1/reports", single.to_bytes()).status == 200
        news = [server.ask("POST", "/v1/batches", several.to_bytes()).json["new"] for server in (here, there)]
        assert news == [PER_BATCH, 0]
        found.append(np.frombuffer(single.payloads + several.payloads, np.uint8))
    return np.concatenate(found)


def test_what_either_takes_is_counted_once_whoever_counts_it(two: tuple[Served, Served]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        reports = np.concatenate(list(pool.map(lambda number: sent_by_one(two, number), range(THREADS))))
    assert len(reports) == THREADS * ROUNDS * (1 + PER_BATCH)
    answers = []
    for server in two:
        admin = server.collector.admin
        eventually(lambda: server.ask("GET", PATH, None, admin).json["counted"] == len(reports))  # noqa: B023
        assert server.ask("GET", PATH, None, admin).json["waiting"] == 0
        answers.append(server.ask("GET", f"{PATH}/estimate", None, admin).json)
        data = server.ask("GET", f"{PATH}/summaries", None, admin).body
        table = dn.SummaryTable.from_arrow(pyarrow.parquet.read_table(io.BytesIO(data)))
        assert table[DAY] == M.summarize(reports.astype(np.int64))
    assert answers[0] == answers[1]
    assert sum(server.collector.service.keeper.folded for server in two) == len(reports)


def test_a_key_that_one_revokes_opens_nothing_at_the_other_a_moment_later(two: tuple[Served, Served]) -> None:
    here, there = two
    admin, old = here.collector.admin, here.collector.key("write")

    def status(server: Served, key: str) -> int:
        body = frame(here.collector, key=bytes(16)).to_bytes()
        return server.ask("POST", "/v1/reports", body, key).status

    made = here.ask("POST", f"{PATH}/keys", {"role": "write"}, admin).json
    eventually(lambda: status(there, made["key"]) == 200)
    assert status(there, old) == 200  # both are good meanwhile
    listed = there.ask("GET", f"{PATH}/keys", None, admin).json["keys"]
    first = next(each["id"] for each in listed if each["role"] == "write" and each["id"] != made["id"])
    assert there.ask("DELETE", f"{PATH}/keys/{first}", None, admin).status == 200
    assert status(there, old) == 401
    eventually(lambda: status(here, old) == 401)
    assert [status(server, made["key"]) for server in two] == [200, 200]


def test_what_one_forgets_the_other_takes_no_more(two: tuple[Served, Served]) -> None:
    here, there = two
    old: Frame = frame(here.collector)
    assert here.ask("POST", "/v1/reports", old.to_bytes()).status == 200
    eventually(lambda: there.ask("GET", PATH, None, here.collector.admin).json["counted"] == 1)
    service = here.collector.service
    here.collector.now[0] = NOW + 3600 * (service.directory.desk("themes").settings.window + 48)
    service.keeper.round()  # as it does every few seconds; the other's clock stays behind
    assert [server.ask("POST", "/v1/reports", old.to_bytes()).kind for server in two] == ["too-old", "too-old"]
    whole = batch(here.collector, ["a"] * 3)
    assert [server.ask("POST", "/v1/batches", whole.to_bytes()).kind for server in two] == ["too-old", "too-old"]
    assert there.ask("GET", PATH, None, here.collector.admin).json["counted"] == 1
