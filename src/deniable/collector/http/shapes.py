"""The JSON of requests and answers: types that check what comes in and describe both in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deniable.collector.service.settings import CollectionName, Fingerprint, Settings, whole

Hexadecimal = Annotated[str, Meta(pattern=whole("[0-9a-f]*"))]
Id = Annotated[str, Meta(pattern=whole("[0-9a-f]{32}"), description="16 bytes, hexadecimal.")]
KeyLabel = Annotated[
    str, Meta(max_length=100, pattern=whole(r"[^\x00-\x1f]*"), description="A note, without control characters.")
]
Hours = Annotated[int, Meta(ge=0, le=2**32 - 1, description="Hours since 1970-01-01T00:00Z.")]


class Shape(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """JSON with exactly these members."""


class Failure(Shape):
    """Why a request was refused; `kind` is the name of the reason."""

    error: str
    kind: str
    code: int
    retry_after: float | None = None


class OneReport(Shape):
    """A report as JSON; the binary frame is smaller."""

    fingerprint: Fingerprint
    bucket: Hours
    id: Id
    payload: Hexadecimal
    segments: list[str] = []
    key: str = ""


class ManyReports(Shape):
    """A batch as JSON."""

    fingerprint: Fingerprint
    bucket: Hours
    id: Id
    payloads: Annotated[list[Hexadecimal], Meta(min_length=1)]
    ids: Annotated[list[Id], Meta(min_length=1, description="One for each report, or none at all.")] | UnsetType = UNSET
    segments: list[str] = []
    key: str = ""


class Accepted(Shape):
    """The report is stored, now or before."""

    accepted: Literal[1]


class BatchAccepted(Shape):
    """The reports are stored; `new` of them were not remembered already."""

    accepted: int
    new: int


class Deleted(Shape):
    """What became of a report: "deleted" before it was counted, or "counted", which cannot be undone."""

    outcome: Literal["deleted", "counted"]


class IssuedIds(Shape):
    """Ids for reports of this bucket."""

    bucket: Hours
    ids: list[Id]


class SignedForm(Shape):
    """A form (wire/forms.py) with its signature: ECDSA on P-256 with SHA-256 over the bytes of `form`."""

    form: str
    key: Hexadecimal
    signature: Hexadecimal


class NewCollection(Shape):
    """A collection to be made."""

    name: CollectionName
    spec: dict[str, Any]
    settings: Settings = msgspec.field(default_factory=Settings)


class SpecView(Shape):
    """A spec of a collection."""

    fingerprint: Fingerprint
    added: Annotated[int, Meta(description="Seconds since 1970.")]
    kind: Literal["closed", "open", "heavy-hitters"]
    mechanism: str
    epsilon: float
    ratio: Annotated[float, Meta(description="How much likelier a report can be made by one value than another.")]
    values: int | None
    expired: bool


class BucketView(Shape):
    """How many reports a bucket has."""

    bucket: Hours
    time: str
    counted: int
    published: int


class CollectionView(Shape):
    """A collection as its readers see it."""

    name: str
    settings: Settings
    specs: list[SpecView]
    signed_by: Annotated[str, Meta(description="SHA-256 of the public key that signs the form.")]
    form: Annotated[str, Meta(description="The address of the form.")]
    counted: Annotated[int, Meta(description="Reports in the counts.")]
    published: Annotated[int, Meta(description="Reports that answers are made of.")]
    waiting: Annotated[int, Meta(description="Stored reports that are not counted yet.")]
    buckets: list[BucketView]


class Collections(Shape):
    """The collections that the key may read."""

    collections: list[CollectionView]


class NewKey(Shape):
    """A key to be made."""

    role: Literal["write", "read"]
    label: KeyLabel = ""


class NewAdminKey(Shape):
    """An administrator's key to be made."""

    label: KeyLabel = ""


class MadeKey(Shape):
    """A new key. It is shown once; only its digest is kept."""

    id: str
    role: Literal["write", "read", "admin"]
    label: str
    key: str


class MadeCollection(Shape):
    """A new collection, with a key to write and one to read."""

    collection: CollectionView
    keys: list[MadeKey]


class KeyView(Shape):
    """A key as it is kept: by its digest, of which `id` is the start."""

    id: str
    role: str
    label: str
    made: int
    revoked: int | None


class Keys(Shape):
    """Keys of a collection, or of administrators."""

    keys: list[KeyView]


class Revoked(Shape):
    """The key no longer opens anything."""

    revoked: Literal[True]


class Specs(Shape):
    """The specs of a collection, in the order in which they were added."""

    specs: list[dict[str, Any]]


class NewSpec(Shape):
    """A spec to be added to a collection."""

    spec: dict[str, Any]


class CandidatesAsked(Shape):
    """Candidates to look for in an open domain, and where."""

    candidates: Annotated[list[str], Meta(min_length=1, max_length=100_000)]
    from_: str | int | None = msgspec.field(default=None, name="from")
    to: str | int | None = None
    segments: dict[str, list[str]] = {}
    spec: Fingerprint | None = None
    method: str | None = None
    target: Literal["users", "population"] = "users"
    level: Annotated[float, Meta(gt=0, lt=1)] = 0.95
    rate: Annotated[float, Meta(gt=0, lt=1)] = 0.05
    complete: bool = False
    top: Annotated[int, Meta(ge=1)] | None = None


class RefusalCount(Shape):
    """How many requests were refused for a reason on a day."""

    day: str
    kind: str
    count: int


class Refusals(Shape):
    """The counters of a collection."""

    refusals: list[RefusalCount]


class Imported(Shape):
    """The summaries were added, or had been before."""

    new: bool
    reports: int


class PreviewAsked(Shape):
    """A spec, or what one would be made from, and a number of reports."""

    spec: dict[str, Any] | None = None
    labels: Annotated[list[str], Meta(min_length=2, max_length=65_536)] | None = None
    k: Annotated[int, Meta(ge=2, le=65_536)] | None = None
    other: Annotated[bool, Meta(description="Add a category for all other values.")] = False
    epsilon: Annotated[float, Meta(gt=0, le=50)] | None = None
    mechanism: str = "auto"
    n: Annotated[int, Meta(ge=1, le=10**12)] = 10_000


class Health(Shape):
    """The process answers."""

    status: Literal["ok"]
