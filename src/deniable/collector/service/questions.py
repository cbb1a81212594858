"""Specs from the network: built under limits, in one thread, and kept ready for decoding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import rfc8785

from deniable.core.domain.open import Open
from deniable.core.errors import DeniableError
from deniable.core.limits import Limits
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.registry import from_spec
from deniable.wire.payloads import Payloads, Question
from deniable.wire.refusals import Refused

LIMITS = Limits()
CLOSED, OPEN, HITTERS = "closed", "open", "heavy-hitters"


@dataclass(frozen=True, eq=False)
class Asked:
    """A spec and all that the collector does with it."""

    question: Question

    @property
    def fingerprint(self) -> str:
        """Of the spec, in hexadecimal."""
        return self.question.fingerprint

    @cached_property
    def with_ids(self) -> Payloads:
        """How payloads of reports with ids lie in frames."""
        return Payloads(self.question, True)

    @cached_property
    def without_ids(self) -> Payloads:
        """How payloads of reports without ids lie in frames."""
        return Payloads(self.question, False)

    def payloads(self, has_ids: bool) -> Payloads:
        """How payloads lie in frames."""
        return self.with_ids if has_ids else self.without_ids

    @property
    def kind(self) -> str:
        """Whether the domain is closed or open, or strings are searched for."""
        if isinstance(self.question, HeavyHitters):
            return HITTERS
        return OPEN if isinstance(self.question.domain, Open) else CLOSED

    @property
    def mechanism(self) -> str:
        """The name of the mechanism."""
        first = self.question.levels[0] if isinstance(self.question, HeavyHitters) else self.question
        return first.name

    @property
    def values(self) -> int | None:
        """The number of values of a closed domain."""
        return self.question.domain.k if self.kind == CLOSED else None  # type: ignore[union-attr]

    def same_labels(self, other: Asked) -> bool:
        """Whether two closed domains have the same labels, in whatever order: only then can estimates be combined."""
        if not self.kind == other.kind == CLOSED:
            return True
        own, theirs = self.question.domain, other.question.domain  # type: ignore[union-attr]
        return own == theirs or (own.k == theirs.k and set(own.all_labels()) == set(theirs.all_labels()))

    @property
    def document(self) -> str:
        """Canonical JSON of the spec."""
        document = self.question if isinstance(self.question, HeavyHitters) else self.question.spec
        return document.to_json()


class Workshop:
    """Builds the mechanisms of specs, one at a time, and knows those that somebody still holds."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self._lock = Lock()
        self._made_before: WeakValueDictionary[str, Asked] = WeakValueDictionary()

    def build(self, document: str | dict[str, Any]) -> Asked:
        """Make the mechanism of a spec; one that is wrong, or costs more than the limits, is refused."""
        text = document if isinstance(document, str) else _canonical(document)
        with self._lock:  # so that specs cost the memory of one at a time
            made = self._made_before.get(text)
            if made is None:
                try:
                    made = Asked(self._made(text))
                except DeniableError as error:
                    raise Refused("bad-spec", str(error)) from None
                self._made_before[text] = made
            return made

    def _made(self, text: str) -> Question:
        if '"heavy_hitters"' in text and '"mechanism"' not in text.partition('"levels"')[0]:
            return HeavyHitters.from_json(text, limits=self.limits)
        return from_spec(text, limits=self.limits)


def _canonical(document: dict[str, Any]) -> str:
    try:
        return rfc8785.dumps(document).decode()
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError):
        raise Refused("bad-spec", "spec holds a value that canonical JSON cannot write") from None
