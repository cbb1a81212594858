"""The JSON of answers about counts, and of a preview, as the OpenAPI document describes them.

Numbers that are infinite or no number at all are null in JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from deniable.collector.http.shapes import Hours, Shape
from deniable.collector.service.settings import Fingerprint

Target = Literal["users", "population"]
Label = str | int
Number = float | None


class About(Shape):
    """The counts behind an answer."""

    collection: str
    from_: Annotated[Hours, Meta(description="The first bucket.")] = msgspec.field(name="from")
    to: Annotated[Hours, Meta(description="The last bucket.")]
    segments: Annotated[dict[str, list[str]], Meta(description="The labels that were chosen.")]
    specs: list[Fingerprint]
    withheld: Annotated[int, Meta(description="Counted reports that no answer tells yet.")]


class Estimated(About):
    """What there is to say of an estimate beside its rows."""

    n: int
    method: str
    target: Target
    level: float
    unbiased: bool
    interval_note: str
    simulated: bool
    details: Annotated[dict[str, Any], Meta(description="What the method says of its work.")]
    fingerprint: Annotated[str, Meta(description="Of the spec; of several, with + between them.")]


class ValueRow(Shape):
    """The estimate of one value."""

    label: Label
    frequency: Number
    std_error: Number
    low: Number
    high: Number
    users: Number


class ValueColumns(Shape):
    """The estimates of all values, a list for each column."""

    label: list[str]
    frequency: list[Number]
    std_error: list[Number]
    low: list[Number]
    high: list[Number]
    users: list[Number]


class _Histogram(Estimated):
    simultaneous: bool
    visible_from: Annotated[Number, Meta(description="The frequency from which a value stands out from none.")]
    matches: Annotated[int, Meta(description="How many values there are without `top`.")]


class EstimateView(_Histogram):
    """Estimated frequencies, a row for each value."""

    values: list[ValueRow]


class ColumnsView(_Histogram):
    """Estimated frequencies in columns, and the methods there are: the answer for `format=columns`."""

    methods: list[str]
    columns: ValueColumns


class TrendRow(Shape):
    """The estimate of the value in one bucket; of a bucket that is not told, n is 0 and the rest null."""

    bucket: Hours
    time: str
    n: int
    withheld: int
    frequency: Number
    std_error: Number
    low: Number
    high: Number
    users: Number


class TrendView(About):
    """One value, bucket by bucket."""

    n: int
    label: str
    method: str
    target: Target
    level: float
    buckets: list[TrendRow]


class DifferenceRow(Shape):
    """One value in the first selection minus the same in the second."""

    name: str
    value: Number
    std_error: Number
    low: Number
    high: Number
    level: float
    target: Target
    note: str
    percent: bool


class AlikeView(Shape):
    """A test whether any value differs between the two."""

    groups: list[str]
    p_value: float
    differ: bool
    rate: float
    target: Target
    exact: bool
    label: Annotated[Label, Meta(description="The value that differs most.")]


class DifferenceView(Shape):
    """One selection minus another."""

    collection: str
    a: About
    b: About
    n: Annotated[list[int], Meta(min_length=2, max_length=2, description="Reports of the first and of the second.")]
    withheld: int
    target: Target
    level: float
    simultaneous: Literal[True]
    alike: AlikeView | None
    values: list[DifferenceRow]


class CandidatesView(Estimated):
    """Which candidates are present."""

    rate: float
    promise: str
    candidates: Annotated[int, Meta(description="How many were looked for.")]
    found: int
    present: list[ValueRow]
    unlisted: Annotated[ValueRow | None, Meta(description="All other strings; null where the list is complete.")]
    warnings: list[str]


class FoundRow(ValueRow):
    """The estimate of a string that was found; if it is not whole, of all strings that begin so."""

    whole: bool


class Share(Shape):
    """A share of users."""

    frequency: Number
    std_error: Number


class FoundFrom(Shape):
    """The frequency from which strings of at most so many bytes are found."""

    max_bytes: int
    frequency: Number


class LevelView(Shape):
    """What happened at one length of prefixes."""

    length: int
    n: int
    candidates: int
    extended: int
    kept: int
    threshold: Number
    mass: Number
    mass_error: Number


class HittersView(About):
    """Frequent strings that nobody listed."""

    n: int
    target: Target
    level: float
    rate: float
    found: int
    tested: int
    promise: str
    interval_note: str
    unlisted: Share
    found_from: list[FoundFrom]
    missed: str
    levels: list[LevelView]
    simulated: bool
    fingerprint: Fingerprint
    strings: list[FoundRow]


class Errors(Shape):
    """The standard error of a rare value, by what it refers to."""

    users: float
    population: float


class PreviewView(Shape):
    """What a spec costs, and the error to expect."""

    spec: dict[str, Any]
    fingerprint: Fingerprint
    kind: Literal["closed", "open", "heavy-hitters"]
    mechanism: str
    epsilon: float
    guarantee: float
    ratio: float
    values: int | None
    payload_bytes: int
    n: int
    std_error: Errors | None
    report_bits: Annotated[int, Meta(description="Of closed domains alone.")] = 0
