"""What a server keeps instead of reports: an integer array and n, mergeable by addition.

Summaries are stored in an envelope: little-endian, a magic number that names the kind, the version (1 byte), a header,
the contents, then the SHA-256 of everything before it.

Bytes of a `Summary`, version 1: magic `DNBLS`, version; the header is flags (bit 0: simulated), one zero byte, the 32
bytes of the fingerprint, n and the number of cells (8 bytes each); the contents are the counts (8 bytes each). Every
version ever written stays readable.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, is_masked
from deniable.core.display import brief
from deniable.core.errors import (
    CountOverflow,
    FingerprintMismatch,
    InvalidArgument,
    MalformedSummary,
    UnsupportedVersion,
)
from deniable.core.validate import whole

MAX_COUNT = 2**62  # the sum of two always fits in 64 bits, so overflow can be tested
_CHECKSUM = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Envelope:
    """The frame of one kind of summary; `what` names the kind in errors. Versions up to `version` are read."""

    magic: bytes
    version: int
    header: struct.Struct  # what follows the magic number and the version
    what: str

    def seal(self, fields: tuple[Any, ...], contents: bytes | memoryview) -> bytes:
        """Return magic number, version, header and contents, followed by their checksum."""
        start = self.magic + bytes([self.version]) + self.header.pack(*fields)
        digest = hashlib.sha256(start)
        digest.update(contents)
        return b"".join((start, contents, digest.digest()))  # copies the contents, which may be long, only here

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


MAGIC = b"DNBLS"
ENVELOPE = Envelope(MAGIC, 1, struct.Struct("<BB32sQQ"), "a summary")
_SIMULATED = 1


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts of n reports under one spec. Addition is exact, commutative and associative."""

    counts: Counts
    n: int
    fingerprint: str
    simulated: bool = False

    def __post_init__(self) -> None:
        if is_masked(self.counts):
            raise InvalidArgument("counts", "be whole numbers, none of them masked", "a masked array")
        try:
            counts = np.asarray(self.counts)
        except ValueError:  # rows of unequal length
            counts = np.empty((0, 0), np.int64)
        if counts.ndim != 1 or counts.dtype.kind not in "iu":
            raise InvalidArgument(
                "counts", "be a one-dimensional array of whole numbers", f"{counts.ndim}-d {counts.dtype}"
            )
        if counts.size and (counts.min() < 0 or counts.max() > MAX_COUNT):
            raise InvalidArgument(
                "counts", f"lie from 0 to {MAX_COUNT}", counts.min() if counts.min() < 0 else counts.max()
            )
        whole(0, MAX_COUNT, n=self.n)
        if not isinstance(self.fingerprint, str) or not re.fullmatch("[0-9a-f]{64}", self.fingerprint):
            raise InvalidArgument("fingerprint", "be 64 hexadecimal digits", self.fingerprint)
        if counts.dtype != np.int64 or counts.flags.writeable or not counts.flags.owndata:
            counts = np.array(counts, np.int64)  # else they are kept as they are
            counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "n", int(self.n))

    def __reduce__(self) -> tuple[object, ...]:
        return Summary, (self.counts, self.n, self.fingerprint, self.simulated)  # frozen again when unpickled

    def total(self) -> int:
        """The exact sum of all counts, which may exceed 64 bits in a damaged summary."""
        return exact_total(self.counts)

    def __add__(self, other: Summary) -> Summary:
        if not isinstance(other, Summary):
            return NotImplemented
        if other.fingerprint != self.fingerprint:
            raise FingerprintMismatch("a summary", self.fingerprint, other.fingerprint)
        if len(other.counts) != len(self.counts):
            raise MalformedSummary(f"summaries have {len(self.counts)} and {len(other.counts)} cells")
        if self.n + other.n > MAX_COUNT or (other.counts > MAX_COUNT - self.counts).any():
            raise CountOverflow(f"the sum of these summaries exceeds {MAX_COUNT} in a cell or in n")
        both = self.simulated or other.simulated
        return Summary(self.counts + other.counts, self.n + other.n, self.fingerprint, both)

    def __radd__(self, other: object) -> Summary:
        return self if other == 0 else NotImplemented  # sum() starts at 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Summary):
            return NotImplemented
        same_kind = (self.n, self.fingerprint, self.simulated) == (other.n, other.fingerprint, other.simulated)
        return same_kind and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        simulated = "simulated" if self.simulated else ""
        return brief(self, simulated, n=f"{self.n:,}", cells=f"{len(self.counts):,}", fingerprint=self.fingerprint)

    def _repr_html_(self) -> str:
        from deniable.cards.data import summary_card

        return summary_card(self)

    def to_bytes(self) -> bytes:
        """The summary as bytes, with a checksum."""
        flags = _SIMULATED if self.simulated else 0
        header = (flags, 0, bytes.fromhex(self.fingerprint), self.n, len(self.counts))
        return ENVELOPE.seal(header, self.counts.astype("<i8", copy=False).data.cast("B"))

    @staticmethod
    def from_bytes(data: Any) -> Summary:
        """Read a summary; foreign, truncated, damaged or newer bytes are refused."""
        (flags, zero, fingerprint, n, _), contents = ENVELOPE.unseal(data, promised=lambda *header: 8 * header[-1])
        if flags & ~_SIMULATED or zero:
            raise MalformedSummary(f"summary has unknown flags {flags}, {zero}")
        counts = np.frombuffer(contents, "<i8").astype(np.int64)
        try:
            return Summary(counts, n, fingerprint.hex(), bool(flags & _SIMULATED))
        except InvalidArgument as error:
            raise MalformedSummary(f"summary holds impossible numbers: {error}") from None


def exact_total(counts: Counts) -> int:
    """Return the exact sum of 64-bit counts, adding their upper and lower halves apart so that neither overflows."""
    return (int((counts >> 31).sum()) << 31) + int((counts & (2**31 - 1)).sum())
