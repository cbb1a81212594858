"""Collections, specs, keys, counters and the clock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from deniable.collector.store.opening import open_store
from deniable.collector.store.protocol import AlreadyThere
from deniable.collector.store.records import CollectionRow, KeyRow, SpecRow
from deniable.collector.store.sql import SqlStore
from deniable.core.errors import InvalidArgument
from tests.collector.store.helpers import FINGERPRINT, a_collection


def test_a_new_store_is_empty(store: SqlStore) -> None:
    assert store.collections() == store.specs() == store.keys() == store.waiting() == []
    assert store.revision() == 0


def test_collections_and_specs_are_kept_in_their_order(store: SqlStore, address: str) -> None:
    first = store.add_collection("colours", '{"a": 1}', b"one", SpecRow(0, "a", "{}", 5))
    second = store.add_collection("flavours", "{}", b"two", SpecRow(0, "b", "{}", 3))
    store.add_spec(SpecRow(first.number, "c", '{"c": 1}', 1))
    assert store.change_collection(first.number, '{"a": 2}', '{"a": 1}')
    assert not store.change_collection(first.number, '{"a": 3}', '{"a": 1}')
    store.close()
    again = open_store(address)
    assert again.collections() == [CollectionRow(first.number, "colours", '{"a": 2}', b"one", 0), second]
    assert again.specs() == [
        SpecRow(first.number, "a", "{}", 5),
        SpecRow(second.number, "b", "{}", 3),
        SpecRow(first.number, "c", '{"c": 1}', 1),
    ]
    again.close()


def test_names_fingerprints_and_keys_are_taken_once(store: SqlStore) -> None:
    collection = a_collection(store)
    key = KeyRow(b"digest", "write", collection.number, "phones", 1, None)
    store.add_key(key)
    before = store.revision()
    with pytest.raises(AlreadyThere, match="'colours'"):
        a_collection(store)
    with pytest.raises(AlreadyThere, match="fffff"):
        store.add_spec(SpecRow(collection.number, FINGERPRINT, "{}", 1))
    with pytest.raises(AlreadyThere, match="key"):
        store.add_key(key)
    assert store.revision() == before
    assert len(store.collections()) == len(store.specs()) == len(store.keys()) == 1


def test_what_belongs_to_no_collection_is_refused(store: SqlStore) -> None:
    with pytest.raises(InvalidArgument, match="collection"):
        store.change_collection(4, "{}", "{}")
    with pytest.raises(InvalidArgument, match="collection"):
        store.add_spec(SpecRow(4, FINGERPRINT, "{}", 1))
    assert store.revision() == 0


def test_keys_are_listed_with_those_that_were_revoked(store: SqlStore) -> None:
    administrator = KeyRow(b"a", "admin", None, "", 2, None)
    phones = KeyRow(b"b", "write", 1, "phones", 1, None)
    store.add_key(administrator)
    store.add_key(phones)
    assert store.keys() == [phones, administrator]
    assert store.revoke_key(b"b", 7)
    assert not store.revoke_key(b"b", 8)
    assert not store.revoke_key(b"c", 8)
    assert store.keys() == [phones._replace(revoked=7), administrator]


def test_of_keys_that_are_revoked_at_the_same_time_one_is_kept_where_one_must_be(store: SqlStore) -> None:
    names = [bytes([number]) for number in range(4)]
    for name in names:
        store.add_key(KeyRow(name, "admin", None, "", 1, None))
    store.add_key(KeyRow(b"w", "write", 1, "", 1, None))
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda name: store.revoke_key(name, 2, keep_one=True), names)) == 3
    every = store.keys()
    (left,) = [key.digest for key in every if key.role == "admin" and key.revoked is None]
    assert not store.revoke_key(left, 3, keep_one=True)
    assert store.revoke_key(left, 3)


def test_a_collection_is_made_with_its_keys_or_not_at_all(store: SqlStore) -> None:
    keys = [KeyRow(digest, role, None, "", 1, None) for digest, role in ((b"a", "write"), (b"b", "read"))]
    spec = SpecRow(0, FINGERPRINT, "{}", 1)
    store.add_key(keys[1])
    with pytest.raises(AlreadyThere):
        store.add_collection("colours", "{}", b"signer", spec, keys)
    assert store.collections() == store.specs() == []
    assert store.keys() == [keys[1]]
    more = [key._replace(digest=key.digest * 2) for key in keys]
    made = store.add_collection("colours", "{}", b"signer", spec, more)
    every = store.keys()
    assert [key for key in every if key.collection] == [key._replace(collection=made.number) for key in more]


def test_the_revision_grows_with_every_change_that_others_must_see(store: SqlStore) -> None:
    seen = [store.revision()]

    def grew() -> bool:
        seen.append(store.revision())
        return seen[-1] > seen[-2]

    a_collection(store)
    assert grew()
    store.add_spec(SpecRow(1, "b", "{}", 1))
    assert grew()
    before = store.collections()[0].settings
    assert store.change_collection(1, '{"a": 1}', before)
    assert grew()
    assert not store.change_collection(1, "{}", before)
    assert not grew()
    store.add_key(KeyRow(b"a", "read", 1, "", 1, None))
    assert grew()
    store.revoke_key(b"a", 2)
    assert grew()
    store.forget(1, 100)
    assert grew()
    store.forget(1, 100)
    store.revoke_key(b"a", 3)
    store.latest(5)
    store.add_refusals({(0, 0, "auth"): 1})
    assert not grew()


def test_a_clock_that_jumps_back_is_noticed_also_after_a_restart(store: SqlStore, address: str) -> None:
    assert [store.latest(seconds) for seconds in (100, 50, 150, 149, 150)] == [100, 100, 150, 150, 150]
    store.close()
    again = open_store(address)
    assert again.latest(20) == 150
    again.close()


def test_refusals_are_added_up_by_collection_day_and_reason(store: SqlStore) -> None:
    store.add_refusals({})
    store.add_refusals({(1, 24, "too-old"): 3, (1, 24, "replay"): 1, (0, 24, "auth"): 2})
    store.add_refusals({(1, 24, "too-old"): 4, (1, 48, "too-old"): 1})
    assert store.refusals(1) == {(24, "replay"): 1, (24, "too-old"): 7, (48, "too-old"): 1}
    assert store.refusals(0) == {(24, "auth"): 2}
    assert store.refusals(2) == {}
