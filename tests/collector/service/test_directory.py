"""A directory is read while others change the store: what is half there is left out until the next reading."""

from __future__ import annotations

import pytest

from deniable.collector.service.administering import Office
from deniable.collector.service.clock import Clock
from deniable.collector.service.directory import Directory
from deniable.collector.service.questions import Workshop
from deniable.collector.service.settings import Settings
from tests.collector.http.running import M
from tests.naive.store import MemoryStore


@pytest.mark.parametrize("reading", ["collections", "specs", "keys"])
def test_a_collection_that_is_made_while_the_store_is_read_is_whole_or_left_out(reading: str) -> None:
    store, workshop = MemoryStore(), Workshop()
    office = Office(store, workshop, Clock())
    office.add_collection("before", M.spec.to_dict(), Settings())
    read = getattr(store, reading)

    def meanwhile() -> object:
        setattr(store, reading, read)
        found = read()
        office.add_collection("meanwhile", M.spec.to_dict(), Settings())
        return found

    setattr(store, reading, meanwhile)
    found = Directory.read(store, workshop, Directory())
    for desk in found.desks.values():
        assert desk.specs
        assert desk.longest_payload == 1
    assert "before" in found.desks
    assert found.revision < store.revision()  # so that it is read again
    assert all(holder.desk is not None for holder in found.holders.values())
    assert set(Directory.read(store, workshop, found).desks) == {"before", "meanwhile"}
