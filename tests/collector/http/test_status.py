"""The status of a collection misses no report that is counted while it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector.http.showing import collection_view
from deniable.collector.running import opened
from tests.collector.spool.world import NAME, World


@pytest.mark.parametrize("first", ["waiting", "kept"])
def test_a_report_counted_in_between_is_waiting_or_counted_or_both(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "store") as collector:
        service = collector.service
        world = World.of(service, dn.mechanism("grr", k=20, epsilon=1.0), np.random.default_rng(1))
        service.store.commit([world.delivery(30, whole=True)])
        read = getattr(service.store, first)

        def and_then_count(*arguments: Any) -> Any:
            monkeypatch.undo()
            found = read(*arguments)
            service.keeper.fold()
            return found

        monkeypatch.setattr(service.store, first, and_then_count)
        view = collection_view(service, service.directory.desk(NAME), exact=True)
    assert view["counted"] + view["waiting"] >= 30
