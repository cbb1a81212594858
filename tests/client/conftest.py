"""A collector, a store, and clients of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable.client import Backoff, Client
from deniable.client import store as store_module
from tests.client.collector import NAME, Collector, serving

QUICK = Backoff(first=0.001, longest=0.002)


DURABLE = store_module._DURABLE
QUICKLY = ("PRAGMA synchronous = OFF",)  # what was written survives a kill as it is, and tests cut no power


@pytest.fixture(autouse=True)
def _stores_that_do_not_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_DURABLE", QUICKLY)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with serving(Collector()) as started:
        yield started


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "answers.sqlite"


@pytest.fixture
def device(collector: Collector, store: Path) -> Callable[..., Client]:
    """Make a client of the collector that sends at once; a new one is what a restarted program has."""

    def made(*, consent: bool = True, **options: Any) -> Client:
        chosen: dict[str, Any] = {"store": store, "delay": 0.0, "timeout": 5.0, "backoff": QUICK, **options}
        url, key = chosen.pop("url", collector.url), chosen.pop("key", collector.key.text)
        client = Client(url, key, chosen.pop("collection", NAME), **chosen)
        if consent:
            client.consent(True)
        return client

    return made
