"""What goes into a store and comes out of it: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

TOO_OLD = -1  # in place of how many reports were new: the ids of their hour are forgotten, so nothing was stored


class Cell(NamedTuple):
    """Where reports are counted together: one spec, one bucket, one combination of segments."""

    collection: int
    fingerprint: str
    bucket: int  # hours since 1970; 0 in a collection without buckets
    segments: bytes  # for each segment the place of its label


@dataclass(frozen=True)
class Delivery:
    """Checked reports on their way into the store, under the ids that keep them from being counted twice.

    `ids` are those of the reports, or the one id of a batch whose reports have none (`whole`); they are remembered
    under `hour`, the bucket that the device sent. `payloads` lie end to end.
    """

    cell: Cell
    hour: int
    ids: tuple[bytes, ...]
    payloads: bytes
    n: int
    whole: bool = False


class Waiting(NamedTuple):
    """Stored reports of one cell that are not counted yet: `ids` end to end, or empty for a whole batch."""

    number: int  # of the row
    ids: bytes
    payloads: bytes
    n: int


class Kept(NamedTuple):
    """What a store says of a cell: reports counted, and how many of them may be told."""

    cell: Cell
    n: int
    published: int
    version: int  # grows whenever what is published changes


@dataclass(frozen=True)
class Counted:
    """The outcome of counting: the summary of a cell, and what of it is published, as bytes."""

    summary: bytes
    n: int
    publish: bool  # whether what is told about the cell advances to this summary


class KeyRow(NamedTuple):
    """A key as it is kept: by its digest. `collection` is None for an administrator's."""

    digest: bytes
    role: str
    collection: int | None
    label: str
    made: int  # seconds since 1970
    revoked: int | None


class CollectionRow(NamedTuple):
    """A collection as it is kept: its settings as JSON, its signing key, and from when on ids are remembered."""

    number: int
    name: str
    settings: str
    signer: bytes
    remembered_from: int  # hours since 1970: reports of earlier buckets are refused


class SpecRow(NamedTuple):
    """A spec of a collection, in the order in which they were added."""

    collection: int
    fingerprint: str
    document: str
    added: int  # seconds since 1970
