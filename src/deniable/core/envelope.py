"""The envelope of what is stored or sent: a checked frame around bytes, canonical JSON and a fingerprint for documents.

Bytes, little-endian: a magic number that names the kind, the version (1 byte), a header, the contents, then the
SHA-256 of everything before it. Documents are canonical JSON (RFC 8785); the SHA-256 of that text, in hexadecimal, is
the fingerprint by which reports and summaries refer to a document.
"""

from __future__ import annotations

import hashlib
import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.core.errors import MalformedSummary, SpecError, UnsupportedVersion, shown

_CHECKSUM = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Envelope:
    """The frame of one kind of summary; `what` names the kind in errors. Versions up to `version` are read."""

    magic: bytes
    version: int
    header: struct.Struct  # what follows the magic number and the version
    what: str

    def seal(self, fields: tuple[Any, ...], contents: bytes) -> bytes:
        """Return magic number, version, header and contents, followed by their checksum."""
        body = self.magic + bytes([self.version]) + self.header.pack(*fields) + contents
        return body + hashlib.sha256(body).digest()

    def unseal(self, data: Any, promised: Callable[..., int] | None = None) -> tuple[tuple[Any, ...], memoryview]:
        """Return header fields and contents; refuse foreign, truncated, damaged or newer bytes.

        `promised(*fields)` is the length of the contents by the header, where the header tells it.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise MalformedSummary(f"a summary must be bytes, got {type(data).__name__}")
        data = memoryview(data).cast("B")
        if bytes(data[: len(self.magic)]) != self.magic:
            raise MalformedSummary(f"these bytes are not {self.what}: the magic number is missing")
        start = len(self.magic) + 1 + self.header.size
        if len(data) < start + _CHECKSUM:
            raise MalformedSummary(f"summary is truncated: {len(data)} bytes")
        version = data[len(self.magic)]
        if version > self.version:
            raise UnsupportedVersion("summary", version, self.version)
        fields = self.header.unpack_from(data, len(self.magic) + 1)
        if promised is not None and len(data) != (expected := start + promised(*fields) + _CHECKSUM):
            raise MalformedSummary(f"summary has {len(data)} bytes, its header promises {expected}")
        if hashlib.sha256(data[:-_CHECKSUM]).digest() != data[-_CHECKSUM:]:
            fault = "truncated or damaged" if promised is None else "damaged"
            raise MalformedSummary(f"summary is {fault}: its checksum does not match")
        if version < 1:
            raise MalformedSummary(f"summary has unknown version {version}")
        return fields, data[start:-_CHECKSUM]


class Document(ABC):
    """A document that client and server share. Two are equal when their fingerprints are."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The document as plain data."""

    def to_json(self) -> str:
        """Canonical JSON: the same bytes in every language."""
        import rfc8785

        try:
            return rfc8785.dumps(self.to_dict()).decode()
        except rfc8785.CanonicalizationError as error:
            raise SpecError(f"spec holds a value that canonical JSON cannot write: {error}") from None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def read_json(text: object, what: str = "spec") -> Any:
    """Read a document's JSON; spacing and order are free, repeated members and NaN are refused."""
    if not isinstance(text, (str, bytes, bytearray)):
        raise SpecError(f"{what} must be JSON text, got {shown(text)}")

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        if len(document) < len(pairs):
            raise SpecError(f"{what} has the same member twice")
        return document

    def no_constants(name: str) -> None:
        raise SpecError(f"{what} holds {name}, which JSON does not have")

    try:
        return json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constants)
    except (ValueError, RecursionError) as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(f"{what} is not JSON: {error}") from None
