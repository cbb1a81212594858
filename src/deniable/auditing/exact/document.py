"""Reading a spec as text: what an auditor needs from it, with none of the code that runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2s
from typing import Any

from deniable.auditing.exact.arithmetic import MOST_EPSILON
from deniable.core.domain import MAX_SIZE
from deniable.core.errors import SpecError, shown

WORDS = 2**64  # random words are uniform below this
_PRIME = 2**61 - 1  # digests of strings are numbers below this
MOST_MARKS = 2**24  # values or bits that a report may list
_MOST_GROUPS = 64  # of a heavy-hitter spec
_SAMPLE = 8  # strings that stand for all those of an open domain


@dataclass(frozen=True)
class Document:
    """A spec as it is written: nothing is derived from it, and nothing is believed but its numbers."""

    mechanism: str
    version: int
    domain: Mapping[str, Any]
    parameters: Mapping[str, Any]
    thresholds: Mapping[str, int]

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that the spec promises, as the exact number that is written."""
        promised = self.parameters.get("epsilon")
        if not isinstance(promised, int | float) or isinstance(promised, bool) or not 0 < promised < MOST_EPSILON:
            raise SpecError(f"spec must promise an epsilon, a positive number, got {shown(promised)}")
        return Fraction(promised)

    @property
    def open(self) -> bool:
        """Whether values may be any strings."""
        return self.domain.get("kind") == "open"

    @property
    def values(self) -> int:
        """The number of values; of an open domain, the number of strings that stand for all."""
        if self.open:
            return _SAMPLE
        count = self._listed + ("other" in self.domain) + ("no_answer" in self.domain)
        if not 2 <= count <= MAX_SIZE:
            raise SpecError(f"a domain must have two values or more, and at most {MAX_SIZE:,}, got {shown(count)}")
        return count

    @property
    def listed(self) -> int:
        """The number of values, of a mechanism whose reports list values."""
        if self.values > MOST_MARKS:
            raise SpecError(f"reports of {self.mechanism} must list at most {MOST_MARKS:,} values, got {self.values:,}")
        return self.values

    @property
    def _listed(self) -> int:
        if self.domain.get("kind") == "categories":
            return len(self.domain["labels"])
        return whole(self.domain, "high") - whole(self.domain, "low", None) + 1

    def label(self, index: int) -> str:
        """The value of an index, as a person knows it."""
        if self.open:
            return f"string {index}"
        if index >= self._listed:
            extras = [self.domain[name] for name in ("other", "no_answer") if name in self.domain]
            return str(extras[index - self._listed])
        if self.domain["kind"] == "categories":
            return str(self.domain["labels"][index])
        return str(self.domain["low"] + index)

    def number(self, index: int) -> int:
        """What hash functions see of a value: its index, or the digest of a string of an open domain."""
        if not self.open:
            return index
        key = str(self.domain.get("key", "")).encode()
        digest = blake2s(self.label(index).encode(), digest_size=8, key=key).digest()
        return int.from_bytes(digest, "little") % _PRIME

    def parameter(self, name: str, least: int = 0, most: int = MAX_SIZE) -> int:
        """A parameter that must be a whole number from `least` to `most`."""
        found = whole(self.parameters, name, least)
        if found > most:
            raise SpecError(f"spec must have {name!r} of at most {most:,}, got {shown(found)}")
        return found

    def threshold(self, name: str, most: int = WORDS) -> int:
        """A threshold: an integer from 0 to `most`."""
        if name not in self.thresholds:
            raise SpecError(f"spec must have the threshold {name!r}")
        if not 0 <= self.thresholds[name] <= most:
            raise SpecError(f"threshold {name!r} must lie from 0 to {most}, got {shown(self.thresholds[name])}")
        return self.thresholds[name]


def whole(members: Mapping[str, Any], name: str, least: int | None = 0) -> int:
    """A member that must be a whole number."""
    found = members.get(name)
    if type(found) is not int or (least is not None and found < least):
        raise SpecError(f"spec must have a whole number {name!r}, got {shown(found)}")
    return found


def numbers(members: Mapping[str, Any], name: str, least: int = 0) -> list[int]:
    """A member that must be a list of whole numbers."""
    found = members.get(name)
    if not isinstance(found, Sequence) or any(type(each) is not int or each < least for each in found):
        raise SpecError(f"spec must have a list of whole numbers {name!r}, got {shown(found)}")
    return list(found)


def specs_of(text: str | bytes) -> list[str | bytes]:
    """The specs in a text: its own, or of heavy hitters that of each group; a person is in one group."""
    document = _members(text)
    if "heavy_hitters" not in document:
        return [text]
    groups = document.get("levels")
    if not isinstance(groups, list) or not 1 <= len(groups) <= _MOST_GROUPS:
        raise SpecError(f"heavy-hitter spec must have a list of 1 to {_MOST_GROUPS} 'levels', got {shown(groups)}")
    return [json.dumps(group) for group in groups]


def read(text: str | bytes) -> Document:
    """Read the text of a spec; raise SpecError where it is not one."""
    document = _members(text)
    parts = {name: document.get(name) for name in ("domain", "parameters", "thresholds")}
    for name, part in parts.items():
        if not isinstance(part, dict):
            raise SpecError(f"spec must have an object {name!r}, got {shown(part)}")
    domain, parameters, thresholds = (dict(part or {}) for part in parts.values())
    if not isinstance(document.get("mechanism"), str):
        raise SpecError(f"spec must name its mechanism, got {shown(document.get('mechanism'))}")
    _check_domain(domain)
    integers = dict(_integers(thresholds))
    return Document(document["mechanism"], whole(document, "version"), domain, parameters, integers)


def _members(text: str | bytes) -> dict[str, Any]:
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"spec must be JSON: {error}") from None
    if not isinstance(document, dict) or document.get("deniable") != 1:
        raise SpecError('spec must be a JSON object with "deniable": 1')
    return document


def _check_domain(domain: Mapping[str, Any]) -> None:
    kind = domain.get("kind")
    if kind == "categories" and isinstance(domain.get("labels"), list):
        return
    if kind == "integers":
        whole(domain, "low", None), whole(domain, "high", None)
    elif kind != "open":
        raise SpecError(f"spec must have a domain of categories, integers or open strings, got {shown(kind)}")


def _integers(thresholds: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for name, written in thresholds.items():
        if not isinstance(written, str) or not written.isascii() or not written.isdigit() or len(written) > 20:
            raise SpecError(f"threshold {shown(name)} must be an integer in a string, got {shown(written)}")
        yield name, int(written)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise SpecError("spec must not have a member twice")
    return members


def _refused(constant: str) -> None:
    raise SpecError(f"spec must have finite numbers, got {constant}")
