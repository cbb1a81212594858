"""What a collector knows of its collections, specs and keys: a snapshot of the store, replaced as a whole."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from deniable.collector.service.issued import secret_of
from deniable.collector.service.questions import Asked, Workshop
from deniable.collector.service.rates import Allowance
from deniable.collector.service.settings import Settings, read_settings
from deniable.collector.store.protocol import Store
from deniable.collector.store.records import CollectionRow, KeyRow, SpecRow
from deniable.wire.buckets import Buckets
from deniable.wire.forms import Signer, key_name
from deniable.wire.keys import ADMIN, READ, WRITE, Key, digest
from deniable.wire.refusals import Refused

_ID_DIGITS = 32
_DAY = 24  # hours
_NO_BODY = 2**16  # bytes, where there is no collection


@dataclass(frozen=True, eq=False)
class Desk:
    """A collection as it is used: its settings read, its specs built."""

    row: CollectionRow
    settings: Settings
    rows: tuple[SpecRow, ...]  # in the order in which they were added
    specs: Mapping[bytes, Asked]  # by fingerprint
    _span: list[int] = field(default_factory=lambda: [-1, 0, 0])  # the last answer of `span`, with its hour

    def span(self, now: int) -> tuple[int, int]:
        """The first and the last bucket whose reports are taken at this hour.

        The last is the next one, since devices may have clocks that are ahead.
        """
        hour, first, last = self._span
        if hour != now:
            buckets, window = self.settings.buckets, self.settings.window
            first = max(self.row.remembered_from, buckets.containing(max(0, now - window)), self.oldest(now) or 0)
            last = buckets.containing(now) + buckets.hours
            self._span[:] = now, first, last
        return first, last

    def oldest(self, now: int) -> int | None:
        """The first bucket whose counts are kept at this hour, None if all are."""
        days = self.settings.retention_days
        if days is None or self.settings.bucket == "none":
            return None
        return self.settings.buckets.containing(max(0, now - _DAY * days))

    @property
    def number(self) -> int:
        """How the store names the collection."""
        return self.row.number

    @property
    def name(self) -> str:
        """How people name it."""
        return self.row.name

    @cached_property
    def signer(self) -> Signer:
        """The key that signs its forms."""
        return Signer.from_bytes(self.row.signer)

    @cached_property
    def signed_by(self) -> str:
        """How devices know the key."""
        return key_name(self.signer.public)

    @cached_property
    def id_secret(self) -> bytes:
        """The secret of the ids that it issues."""
        return secret_of(self.row.signer)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of labels of each segment."""
        return tuple(len(each.labels) for each in self.settings.segments)

    @cached_property
    def expired(self) -> frozenset[bytes]:
        """The fingerprints of specs that take no more reports."""
        return frozenset(map(bytes.fromhex, self.settings.expired))

    @cached_property
    def calendar(self) -> Buckets:
        """Its buckets of time."""
        return self.settings.buckets

    @cached_property
    def buckets(self) -> tuple[int, bool]:
        """The hours of a bucket, and whether counts have none."""
        return self.settings.buckets.hours, self.settings.bucket == "none"

    @cached_property
    def longest_payload(self) -> int:
        """The bytes of the longest payload of one report."""
        return max((asked.with_ids.size for asked in self.specs.values()), default=0)

    def spec(self, fingerprint: str) -> Asked:
        """A spec of the collection by its fingerprint, or refuse it."""
        for asked in self.specs.values():
            if asked.fingerprint == fingerprint:
                return asked
        raise Refused("unknown-spec", f"collection {self.name} has no spec of the fingerprint {fingerprint[:12]}...")


@dataclass(frozen=True, eq=False)
class Holder:
    """A key that is good, and what it opens; an administrator's has no desk."""

    row: KeyRow
    desk: Desk | None
    allowance: Allowance

    @property
    def role(self) -> str:
        """What the key may do."""
        return self.row.role

    @property
    def id(self) -> str:
        """How people name the key."""
        return key_id(self.row.digest)

    def may(self, role: str, name: str | None) -> bool:
        """Whether the key opens routes of this role, of this collection if the route has one."""
        if self.role == ADMIN:
            return role in (READ, ADMIN)
        return self.role == role and (name is None or (self.desk is not None and self.desk.name == name))


def key_id(key_digest: bytes) -> str:
    """The start of a key's digest."""
    return key_digest.hex()[:_ID_DIGITS]


@dataclass(frozen=True, eq=False)
class Directory:
    """All collections and keys at one revision of the store."""

    revision: int = -1
    desks: Mapping[str, Desk] = field(default_factory=dict)
    numbers: Mapping[int, Desk] = field(default_factory=dict)
    holders: Mapping[bytes, Holder] = field(default_factory=dict)
    keys: tuple[KeyRow, ...] = ()

    @cached_property
    def most_bytes(self) -> int:
        """The largest body that any collection takes."""
        return max((desk.settings.body_bytes for desk in self.desks.values()), default=_NO_BODY)

    @staticmethod
    def read(store: Store, workshop: Workshop, before: Directory) -> Directory:
        """Read the store; what keys have spent is carried over from the directory before."""
        revision = store.revision()  # before the rest, so that a change meanwhile is read again
        rows = store.collections()  # before their specs, so that each has its own
        specs: dict[int, list[SpecRow]] = {}
        for spec in store.specs():
            specs.setdefault(spec.collection, []).append(spec)
        desks: dict[str, Desk] = {}
        for row in rows:
            own = specs.get(row.number, [])
            built = {bytes.fromhex(each.fingerprint): workshop.build(each.document) for each in own}
            desks[row.name] = Desk(row, read_settings(row.settings), tuple(own), built)
        numbers = {desk.number: desk for desk in desks.values()}
        keys = tuple(store.keys())
        holders = {}
        for key in keys:
            desk = numbers.get(key.collection) if key.collection is not None else None
            if key.revoked is None and (desk is not None or key.collection is None):
                holders[key.digest] = Holder(key, desk, _allowance(desk, before.holders.get(key.digest)))
        return Directory(revision, desks, numbers, holders, keys)

    def desk(self, name: str) -> Desk:
        """A collection by its name, or refuse it."""
        desk = self.desks.get(name)
        if desk is None:
            raise Refused("not-found", "there is no collection of this name")
        return desk

    def holder(self, secret: bytes, role: str) -> Holder:
        """The holder of this secret, or refuse it. What is compared are digests, in constant time."""
        known = digest(secret)
        holder = self.holders.get(known)
        if holder is None or not hmac.compare_digest(holder.row.digest, known):
            raise Refused("unknown-key")
        if holder.role != role:
            raise Refused("wrong-key")
        return holder

    def holder_of(self, key: Key) -> Holder:
        """The holder of this key, whatever it opens."""
        return self.holder(key.secret, key.role)

    def writer(self, secret: bytes) -> tuple[Holder, Desk]:
        """The holder of this write key and its collection."""
        holder = self.holder(secret, WRITE)
        assert holder.desk is not None, "a write key has a collection"
        return holder, holder.desk


def _allowance(desk: Desk | None, before: Holder | None) -> Allowance:
    settings = Settings() if desk is None else desk.settings
    if before is None:
        return Allowance(settings.requests_per_second, settings.reports_per_second)
    before.allowance.requests = settings.requests_per_second
    before.allowance.reports = settings.reports_per_second
    return before.allowance
