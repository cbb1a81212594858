"""What is asked: the signed form of a collection is fetched, checked, kept, and used until it expires.

A form is trusted if its key or its spec is the one that was pinned. Without a pin the first key is: a form that is
signed by another one later is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deniable.client.errors import Unreachable
from deniable.client.store import Store
from deniable.client.web import Web
from deniable.core.documents import read_json
from deniable.core.errors import InvalidArgument, SpecError
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import from_spec
from deniable.wire.buckets import Buckets
from deniable.wire.forms import Form, key_name, read_signed
from deniable.wire.payloads import Payloads, Question
from deniable.wire.refusals import Refused

_FOR_EVER = 2**53
_WINDOW = 7 * 24  # hours, of a collection whose form is not known
Spec = Question | str | bytes | Path | Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Asking:
    """A form, and the one of its specs that this device answers."""

    form: Form
    question: Question

    @property
    def fingerprint(self) -> str:
        """Of the spec."""
        return self.question.fingerprint

    @property
    def document(self) -> str:
        """Canonical JSON of the spec."""
        return document_of(self.question)

    @cached_property
    def epsilon(self) -> float:
        """What an answer spends: computed from the integers that run, and rounded up."""
        return self.question.guarantee().epsilon

    @cached_property
    def payloads(self) -> Payloads:
        """How reports lie in frames; every report has an id."""
        return Payloads(self.question, with_ids=True)

    def bucket(self, now: float) -> int:
        """The bucket of a report made now; a clock that is behind the form's own time is wrong."""
        return Buckets.of(self.form.bucket).at(max(now, self.form.issued))

    def expires(self, hour: int) -> float:
        """When the report of this bucket will be too old, in seconds since 1970."""
        return 3600.0 * (hour + Buckets.of(self.form.bucket).hours + self.form.window)

    def segments(self, given: Mapping[str, str]) -> bytes:
        """The places of the labels that were given for the form's segments."""
        names = [segment.name for segment in self.form.segments]
        if given.keys() != set(names):
            rule = f"name {', '.join(names)}" if names else "be empty for this collection"
            raise InvalidArgument("segments", rule, dict(given))
        places = []
        for segment in self.form.segments:
            if given[segment.name] not in segment.labels:
                raise InvalidArgument(f"segment {segment.name}", f"be one of {', '.join(segment.labels)}", dict(given))
            places.append(segment.labels.index(given[segment.name]))
        return bytes(places)


def question_of(document: Question | Mapping[str, Any]) -> Question:
    """Make the mechanism or the heavy-hitter protocol of a spec, under the limits for specs of strangers."""
    if isinstance(document, Mechanism | HeavyHitters):
        return document
    if "heavy_hitters" in document:
        return HeavyHitters.from_json(json.dumps(dict(document)))
    return from_spec(document)


def document_of(question: Question) -> str:
    """Canonical JSON of a spec."""
    return (question if isinstance(question, HeavyHitters) else question.spec).to_json()


@dataclass(frozen=True)
class Forms:
    """The forms of one collection: as it was given, as it is kept, as the collector tells it."""

    store: Store
    web: Web | None
    collection: str
    pinned: str | None

    def given(self, spec: Spec, bucket: str) -> Asking:
        """What is asked by a spec or a signed form that came with the program."""
        if isinstance(spec, str | bytes | Path):
            found = read_json(spec.read_bytes() if isinstance(spec, Path) else spec)
            if not isinstance(found, Mapping):
                raise SpecError("spec must be a JSON object")
            spec = found
        if isinstance(spec, Mapping) and "signature" in spec:
            return self._checked(json.dumps(dict(spec)).encode())[0]
        question = question_of(spec)
        if self.pinned is not None and question.fingerprint != self.pinned:
            raise SpecError(f"spec has fingerprint {question.fingerprint[:12]}..., pinned is {self.pinned[:12]}...")
        form = Form(self.collection, True, ({},), Buckets.of(bucket).unit, (), _WINDOW, False, 0, _FOR_EVER)
        return Asking(form, question)

    def current(self, now: float) -> Asking:
        """The kept form if it is valid, else a new one; Unreachable if there is neither."""
        kept = self.kept()
        return kept if kept is not None and now < kept.form.expires else self.fetch(now)

    def kept(self) -> Asking | None:
        """The form that was fetched last, even if it has expired."""
        row = self._row()
        return None if row is None else self._checked(row[0])[0]

    def fetch(self, now: float) -> Asking:
        """Ask the collector, check what it says, and keep it."""
        if self.web is None:
            raise InvalidArgument("url", "be given, or a spec=, to know what is asked", None)
        reply = self.web.request("GET", f"/v1/forms/{self.collection}")
        reply.raise_refusal(self.web.site)
        asking, signer = self._checked(reply.body)
        row = self._row()
        if row is not None:
            known = row[1]
            if known != signer and self.pinned is None:
                raise SpecError(
                    f"form is signed by another key than before: {signer}. If the collector has changed its key on "
                    "purpose, pin the new one: pinned=..."
                )
        if now >= asking.form.expires:
            raise Unreachable(self.web.site, "its form has expired. Is the clock of this device right?")
        with self.store.transaction() as database:
            kept = (self.web.site, self.collection, reply.body, signer)
            database.execute("INSERT OR REPLACE INTO forms VALUES (?, ?, ?, ?)", kept)
        return asking

    def _row(self) -> tuple[bytes, str] | None:
        site = "" if self.web is None else self.web.site
        query = "SELECT document, signer FROM forms WHERE (site, collection) = (?, ?)"
        with self.store.transaction() as database:
            row: tuple[bytes, str] | None = database.execute(query, (site, self.collection)).fetchone()
            return row

    def _checked(self, data: bytes) -> tuple[Asking, str]:
        """Read a signed form, check its pin and its name, and choose the spec: the newest that this release knows."""
        form = read_signed(data)
        signer = key_name(bytes.fromhex(json.loads(data)["key"]))
        if form.collection != self.collection:
            raise SpecError(f"form is of the collection {form.collection!r}, expected {self.collection!r}")
        problem: Exception | None = None
        for spec in form.specs:
            try:
                question = question_of(spec)
            except (SpecError, InvalidArgument) as error:
                problem = problem or error
                continue
            if self.pinned in (None, signer, question.fingerprint):
                return Asking(form, question), signer
        if problem is not None and self.pinned in (None, signer):
            raise problem
        raise SpecError(f"form has neither the key nor the spec that is pinned, {str(self.pinned)[:12]}...")

    @staticmethod
    def require_open(asking: Asking) -> None:
        """Refuse to answer a closed collection, before anything is spent."""
        if not asking.form.open:
            raise Refused("closed", "the collection is closed: it takes no more answers")
