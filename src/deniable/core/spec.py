"""The document that client and server share: domain, mechanism, parameters, integer thresholds, version.

Written as canonical JSON (RFC 8785); its SHA-256 is the fingerprint that ties reports and summaries
to it. Rules of evolution:

- A mechanism's name and version never change meaning. A new rule for thresholds or for the use of
  random words is a new version of that mechanism; old versions stay in the registry and remain readable.
- `FORMAT` is the version of this document's layout. A reader refuses a newer one.
- A member added later is optional and is omitted at its default, so that old fingerprints stay valid.
- Thresholds are decimal strings, since they may exceed 2^53.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from deniable.core.caches import FieldsOnly
from deniable.core.display import brief
from deniable.core.documents import read_json
from deniable.core.domain import Domain
from deniable.core.errors import SpecError, UnsupportedVersion, cut, listed, shown
from deniable.core.limits import DEFAULT, Limits, length

FORMAT = 1
_MEMBERS = {"deniable", "domain", "mechanism", "parameters", "thresholds", "version"}


class Frozen(dict[str, Any]):
    """The parameters of a spec or mechanism: reads like a dictionary, refuses every change."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping is frozen; make a new mechanism instead")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return Frozen, (dict(self),)


class Document(FieldsOnly, ABC):
    """A document that client and server share. Two are equal when their fingerprints are."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The document as plain data."""

    def to_json(self) -> str:
        """Canonical JSON: the same bytes in every language."""
        import rfc8785

        try:
            return rfc8785.dumps(self.to_dict()).decode()
        except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
            raise SpecError(f"spec holds a value that canonical JSON cannot write: {cut(str(error), 200)}") from None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


@dataclass(frozen=True, eq=False)
class Spec(Document):
    """The agreement of client and server on a question. Two specs are equal when their fingerprints are.

    >>> import deniable as dn
    >>> spec = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0).spec
    >>> dn.Spec.from_json(spec.to_json()) == spec
    True
    """

    mechanism: str
    version: int
    domain: Domain
    parameters: Mapping[str, float | int | str]
    thresholds: Mapping[str, int]

    def __post_init__(self) -> None:
        for name in ("parameters", "thresholds"):
            object.__setattr__(self, name, Frozen(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data."""
        return {
            "deniable": FORMAT,
            "mechanism": self.mechanism,
            "version": self.version,
            "domain": self.domain.to_dict(),
            "parameters": dict(self.parameters),
            "thresholds": {name: str(number) for name, number in self.thresholds.items()},
        }

    def __repr__(self) -> str:
        return brief(self, mechanism=self.mechanism, version=self.version, fingerprint=self.fingerprint)

    def _repr_html_(self) -> str:
        from deniable.cards.data import spec_card

        return spec_card(self)

    @staticmethod
    def from_json(text: str | bytes, *, limits: Limits | None = DEFAULT) -> Spec:
        """Read a spec; spacing and order are free, everything else is checked."""
        return Spec.from_dict(read_json(text, limits=limits), limits=limits)

    @staticmethod
    def from_dict(document: object, *, limits: Limits | None = DEFAULT) -> Spec:
        """Read a spec from plain data."""
        if not isinstance(document, dict):
            raise SpecError(f"spec must be a JSON object, got {shown(document)}")
        layout = document.get("deniable")
        if isinstance(layout, int) and layout > FORMAT:
            raise UnsupportedVersion("spec", layout, FORMAT)
        if type(layout) is not int or layout != FORMAT:
            raise SpecError(f'spec must have the member "deniable": {FORMAT}, got {shown(layout)}')
        if "heavy_hitters" in document:
            raise SpecError("this is a heavy-hitter spec, not that of one question: give one of its list 'levels'")
        if unknown := sorted(document.keys() ^ _MEMBERS, key=str):
            raise SpecError(f"spec has a missing or unknown member: {listed(unknown)}")
        _expect(document, "mechanism", str)
        _expect(document, "version", int)
        for name in ("domain", "parameters", "thresholds"):
            _expect(document, name, dict)
        if limits is not None:
            limits.require("thresholds", len(document["thresholds"]))
            limits.require("labels", length(document["domain"], "labels"))
        return Spec(
            document["mechanism"],
            document["version"],
            Domain.from_dict(document["domain"]),
            document["parameters"],
            {name: _threshold(name, text) for name, text in document["thresholds"].items()},
        )


def _expect(document: dict[str, Any], name: str, kind: type) -> None:
    value = document[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise SpecError(f"spec member {name} must be a JSON {_JSON_NAMES[kind]}, got {shown(value)}")


_JSON_NAMES = {str: "string", int: "whole number", dict: "object"}


def _threshold(name: str, text: object) -> int:
    if not isinstance(text, str) or not re.fullmatch("0|[1-9][0-9]{0,99}", text):
        raise SpecError(f"threshold {cut(name)} must be a decimal string, got {shown(text)}")
    return int(text)
