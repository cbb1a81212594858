"""What an administrator decides about a collection: buckets, segments, minimum, retention and limits.

The types say all rules but some of `check`, so that JSON is checked, and described in the OpenAPI document, by them.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from deniable.core.errors import InvalidArgument
from deniable.wire.buckets import Buckets
from deniable.wire.forms import MOST_LABELS, Segment
from deniable.wire.frames import MAX_SEGMENTS
from deniable.wire.refusals import Refused

COLUMN = "bucket"  # of an exported table, beside one for each segment
_RESERVED = (COLUMN, "n", "summary", "label", "from", "to")
_ORIGIN = re.compile(r"https?://[a-z0-9._-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:.]+\](:[0-9]{1,5})?")
_DEFAULT_PORT = re.compile("http://.*:80|https://.*:443")  # which browsers leave out
MOST_BODY = 2**26
MOST_COMBINATIONS = 10_000  # of labels: whoever may send can fill a summary for each, in every bucket


def whole(pattern: str) -> str:
    """What a whole text must look like: for Python, `$` alone would let a line end follow."""
    return rf"^{pattern}$(?!\n)"


_NAME = whole("[a-z0-9][a-z0-9._-]{0,63}")
CollectionName = Annotated[  # checked by `check_name`, which says in words what it must be
    str,
    Meta(description="Lower-case letters, digits, dots, dashes, underscores.", extra_json_schema={"pattern": _NAME}),
]
SegmentName = Annotated[str, Meta(pattern=whole("[A-Za-z0-9][A-Za-z0-9_-]{0,63}"))]
SegmentLabel = Annotated[str, Meta(min_length=1, max_length=100)]
Fingerprint = Annotated[str, Meta(pattern=whole("[0-9a-f]{64}"), description="The SHA-256 of a spec, hexadecimal.")]


class SegmentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A small public set of labels by which reports are counted apart."""

    name: SegmentName
    labels: Annotated[tuple[SegmentLabel, ...], Meta(min_length=1, max_length=MOST_LABELS)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of a collection, each with its default. Buckets and segments cannot be changed later."""

    open: Annotated[bool, Meta(description="Whether reports are taken.")] = True
    bucket: Annotated[
        Literal["hour", "day", "week", "none"], Meta(description="The length of a bucket: hour, day, week or none.")
    ] = "day"
    segments: Annotated[
        tuple[SegmentSettings, ...],
        Meta(max_length=MAX_SEGMENTS, description="Up to three lists of labels by which reports are counted apart."),
    ] = ()
    minimum: Annotated[
        int, Meta(ge=1, le=10**9, description="Nothing is told about fewer reports, and answers advance by so many.")
    ] = 100
    retention_days: Annotated[
        Annotated[int, Meta(ge=1, le=36_500)] | None,
        Meta(description="How long counts are kept; null for ever, as always without buckets."),
    ] = None
    keep_reports: Annotated[
        bool,
        Meta(description="Keep reports and their ids after they are counted; once it is off, they are deleted."),
    ] = False
    window_hours: Annotated[
        int, Meta(ge=2, le=24 * 366, description="How long ids are remembered; later reports are refused.")
    ] = 168
    form_seconds: Annotated[int, Meta(ge=60, le=30 * 86_400, description="How long devices may keep a form.")] = 86_400
    body_bytes: Annotated[int, Meta(ge=256, le=MOST_BODY, description="Bytes of a body, at most.")] = 2**22
    reports_per_batch: Annotated[int, Meta(ge=1, le=10**6)] = 100_000
    requests_per_second: Annotated[float, Meta(ge=1e-3, le=1e6, description="Per key and process.")] = 5_000.0
    reports_per_second: Annotated[float, Meta(ge=1e-3, le=1e9, description="Per key and process.")] = 5e6
    origins: Annotated[
        tuple[Annotated[str, Meta(max_length=300)], ...],
        Meta(max_length=50, description='Origins of the pages that may use the collection; "*" for all.'),
    ] = ()
    issued_ids: Annotated[bool, Meta(description="Take only ids that GET /v1/ids issued.")] = False
    expired: Annotated[
        tuple[Fingerprint, ...], Meta(max_length=100, description="Specs that take no more reports.")
    ] = ()

    @property
    def buckets(self) -> Buckets:
        """The buckets of time."""
        return Buckets(self.bucket)

    @property
    def window(self) -> int:
        """Hours for which a report may arrive, at least two buckets."""
        return max(self.window_hours, 2 * self.buckets.hours)

    @property
    def labelled(self) -> tuple[Segment, ...]:
        """The segments as forms list them."""
        return tuple(Segment(each.name, each.labels) for each in self.segments)


def check_name(name: str) -> None:
    """Refuse what does not name a collection, whoever gives it: names stand in addresses and in paths of files."""
    if not re.match(_NAME, name):
        rule = (
            "be at most 64 lower-case letters, digits, dots, dashes and underscores, and begin with a letter or digit"
        )
        raise InvalidArgument("the name of a collection", rule, name)


def check(settings: Settings) -> Settings:
    """Refuse settings that break a rule of their types, or that cannot be kept: segments, retention and origins."""
    try:
        msgspec.convert(msgspec.to_builtins(settings), Settings)
    except msgspec.ValidationError as error:
        raise Refused("bad-argument", f"settings: {error}") from None
    if settings.bucket == "none" and settings.retention_days is not None:
        hint = "Only buckets of an hour, a day or a week say how old counts are."
        raise InvalidArgument("retention_days", "be null without buckets of time", settings.retention_days, hint)
    names = [each.name for each in settings.segments]
    if len(set(names)) < len(names) or set(names) & set(_RESERVED):
        raise InvalidArgument("segments", f"have different names, none of {', '.join(_RESERVED)}", names)
    for each in settings.segments:
        if len(set(each.labels)) < len(each.labels):
            raise InvalidArgument(f"labels of segment {each.name}", "be different", list(each.labels))
    combinations = math.prod(len(each.labels) for each in settings.segments)
    if combinations > MOST_COMBINATIONS:
        rule = f"have at most {MOST_COMBINATIONS:,} combinations of labels, each of which is counted apart"
        raise InvalidArgument("segments", rule, combinations, "Use coarser labels, or another collection.")
    for origin in settings.origins:
        usual = _DEFAULT_PORT.fullmatch(origin) is not None
        if origin != "*" and (usual or not _ORIGIN.fullmatch(origin)):
            rule = "be * or as browsers write it, such as https://example.org: in lower case, without a path"
            raise InvalidArgument("origin", rule, origin, "Leave out the port, as browsers do." if usual else "")
    return settings


def read_settings(text: str) -> Settings:
    """Settings as the store keeps them."""
    return msgspec.json.decode(text, type=Settings)


def write_settings(settings: Settings) -> str:
    """Settings as JSON, for the store."""
    return msgspec.json.encode(settings).decode()


def changed(settings: Settings, changes: dict[str, object]) -> Settings:
    """The settings with some changed; what reports were counted by stays as it is."""
    merged = {**msgspec.to_builtins(settings), **changes}
    try:
        new = msgspec.convert(merged, Settings, strict=True)
    except msgspec.ValidationError as error:
        raise Refused("bad-argument", f"settings: {error}") from None
    check(new)
    if (new.bucket, new.segments) != (settings.bucket, settings.segments):
        hint = "Make another collection instead."
        raise Refused("conflict", f"bucket and segments cannot change once there is a collection. {hint}")
    return new
