"""What administrators do: collections, specs and keys are made, changed and revoked."""

from __future__ import annotations

from typing import Any, NamedTuple

from deniable.collector.service.clock import Clock
from deniable.collector.service.directory import Desk, Directory, key_id
from deniable.collector.service.questions import Asked, Workshop
from deniable.collector.service.settings import Settings, changed, check, check_name, read_settings, write_settings
from deniable.collector.store.protocol import AlreadyThere, Store
from deniable.collector.store.records import KeyRow, SpecRow
from deniable.core.errors import InvalidArgument
from deniable.wire.forms import MOST_SPECS, Signer
from deniable.wire.keys import ADMIN, READ, WRITE, Key
from deniable.wire.refusals import Refused

_ATTEMPTS = 8


class Made(NamedTuple):
    """A new key, with its secret for the last time."""

    key: Key
    label: str

    @property
    def id(self) -> str:
        """How people name it."""
        return key_id(self.key.digest)


class Office:
    """Changes collections; what they see afterwards is the next directory."""

    def __init__(self, store: Store, workshop: Workshop, clock: Clock) -> None:
        self._store, self._workshop, self._clock = store, workshop, clock

    def add_collection(self, name: str, spec: dict[str, Any], settings: Settings) -> list[Made]:
        """Make a collection, with a key to write and one to read."""
        check_name(name)
        check(settings)
        if settings.expired:
            rule = "be empty for a new collection, which has one spec and takes reports of it"
            raise InvalidArgument("expired", rule, list(settings.expired))
        asked = self._workshop.build(spec)
        row = SpecRow(0, asked.fingerprint, asked.document, int(self._clock.seconds()))
        made = [Made(Key.new(role), "") for role in (WRITE, READ)]
        own = [self._row(each.key, None, "") for each in made]
        try:
            self._store.add_collection(name, write_settings(settings), Signer.new().to_bytes(), row, own)
        except AlreadyThere:
            raise Refused("exists", "there is a collection of this name already") from None
        return made

    def change(self, desk: Desk, changes: dict[str, object]) -> None:
        """Change some settings."""
        known = {row.fingerprint for row in desk.rows}
        for _ in range(_ATTEMPTS):
            # as they are stored now, so that no change of a moment ago, by whatever process, is undone
            before = next(row.settings for row in self._store.collections() if row.number == desk.number)
            settings = changed(read_settings(before), changes)
            if unknown := sorted(set(settings.expired) - known):
                raise InvalidArgument("expired", "list specs of the collection", unknown)
            if self._store.change_collection(desk.number, write_settings(settings), before):
                return
        raise Refused("conflict", "others change the settings at the same time. Ask again.")

    def add_spec(self, desk: Desk, spec: dict[str, Any]) -> None:
        """Add a spec, which devices use from their next form on."""
        if len(desk.rows) >= MOST_SPECS:
            raise Refused("conflict", f"a collection has at most {MOST_SPECS} specs. Make another collection.")
        asked = self._workshop.build(spec)
        first = next(iter(desk.specs.values()))
        if asked.kind != first.kind:
            raise Refused("conflict", f"the specs of this collection are {first.kind}, this one is {asked.kind}")
        if not asked.same_labels(first):
            hint = "Ask a new question in a new collection."
            raise Refused("conflict", f"the specs of this collection have other labels than this one. {hint}")
        try:
            self._store.add_spec(SpecRow(desk.number, asked.fingerprint, asked.document, int(self._clock.seconds())))
        except AlreadyThere:
            raise Refused("exists", "the collection has this spec already") from None

    def add_key(self, role: str, collection: int | None, label: str) -> Made:
        """Make a key."""
        return self.keep_key(Key.new(role), collection, label)

    def keep_key(self, key: Key, collection: int | None, label: str) -> Made:
        """Take a key that was made elsewhere; an administrator's may be there already, unless it was revoked."""
        try:
            self._store.add_key(self._row(key, collection, label))
        except AlreadyThere:
            rows = self._store.keys()
            there = next(row for row in rows if row.digest == key.digest)
            if there.revoked is not None:
                raise Refused("conflict", "this key was revoked. Make another one.") from None
            if not key.role == there.role == ADMIN:
                raise Refused("exists", "there is this key already") from None
        return Made(key, label)

    def _row(self, key: Key, collection: int | None, label: str) -> KeyRow:
        return KeyRow(key.digest, key.role, collection, label, int(self._clock.seconds()), None)

    def revoke(self, directory: Directory, desk: Desk | None, name: str) -> None:
        """Revoke a key of a collection, or an administrator's where there is none; the last of these is kept."""
        number = None if desk is None else desk.number
        for row in directory.keys:
            if row.collection == number and key_id(row.digest) == name and row.revoked is None:
                done = self._store.revoke_key(row.digest, int(self._clock.seconds()), keep_one=desk is None)
                known = self._store.keys()
                if not done and row in known:  # and good still
                    raise Refused("conflict", "this is the last administrator's key. Make another: POST /v1/keys")
                return
        raise Refused("not-found", "there is no good key of this id here")

    def asked(self, spec: dict[str, Any]) -> Asked:
        """Build a spec that is not kept."""
        return self._workshop.build(spec)
