"""Which counts a question is about: buckets from one to another, labels of segments, one spec or all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from deniable.collector.service.directory import Desk
from deniable.collector.store.records import Cell, Kept
from deniable.core.errors import listed, shown
from deniable.core.suggest import did_you_mean
from deniable.wire.buckets import MAX_HOUR
from deniable.wire.refusals import Refused

_HOUR = 3600
_LIKE_DATES = (4, 8)  # digits of hours that nobody asks for: of 1970 and 1971, and of the year 3110 and later
_EXAMPLE = "a date such as 2026-01-31, a time such as 2026-01-31T13:00Z, or hours since 1970"


@dataclass(frozen=True)
class Selection:
    """Cells of a collection; None stands for all."""

    first: int | None
    last: int | None
    segments: tuple[frozenset[int] | None, ...]
    spec: str | None

    def takes(self, cell: Cell) -> bool:
        """Whether a cell is selected."""
        return (
            (self.first is None or cell.bucket >= self.first)
            and (self.last is None or cell.bucket <= self.last)
            and (self.spec is None or cell.fingerprint == self.spec)
            and all(
                places is None or place in places for place, places in zip(cell.segments, self.segments, strict=True)
            )
        )

    def of(self, kept: Sequence[Kept]) -> list[Kept]:
        """The selected ones."""
        return [each for each in kept if self.takes(each.cell)]


def selection_of(
    desk: Desk,
    first: int | str | None = None,
    last: int | str | None = None,
    segments: Mapping[str, Sequence[str]] | None = None,
    spec: str | None = None,
) -> Selection:
    """A selection by the words that people use, or refuse it."""
    if spec is not None:
        desk.spec(spec)
    start, end = (None if each is None else bucket_of(desk, each) for each in (first, last))
    if start is not None and end is not None and start > end:
        raise Refused("bad-argument", f"from must not be after to, got {shown(first)} and {shown(last)}")
    if desk.settings.bucket == "none" and (start is not None or end is not None):
        raise Refused("bad-argument", "this collection has no buckets of time: leave out from and to")
    return Selection(start, end, _places(desk, segments or {}), spec)


def _places(desk: Desk, wanted: Mapping[str, Sequence[str]]) -> tuple[frozenset[int] | None, ...]:
    known = {each.name: each.labels for each in desk.settings.segments}
    for name, labels in wanted.items():
        if name not in known:
            hint = did_you_mean(name, known) or f"It has {listed(known)}." if known else "It has none."
            raise Refused("bad-argument", f"the collection has no segment {shown(name)}. {hint}")
        for label in labels:
            if label not in known[name]:
                raise Refused(
                    "bad-argument", f"segment {name} must be one of {listed(known[name])}, got {shown(label)}"
                )
    found = ((each, wanted.get(each.name)) for each in desk.settings.segments)
    return tuple(
        None if labels is None else frozenset(each.labels.index(label) for label in labels) for each, labels in found
    )


def bucket_of(desk: Desk, when: int | str) -> int:
    """The start of the bucket that contains a time."""
    hour = hour_of(when)
    return desk.settings.buckets.containing(hour)


def hour_of(when: int | str) -> int:
    """Hours since 1970 of a time that is written in one of three ways."""
    text = str(when)
    if text.isascii() and text.isdigit() and len(text) < 12:
        if len(text) in _LIKE_DATES:
            hint = (
                "A number of 4 or 8 digits could be a year or a date: write 2026 as 2026-01-01, 20260131 as 2026-01-31."
            )
            raise Refused("bad-argument", f"a time must be {_EXAMPLE}, got {shown(when)}. {hint}")
        hour = int(text)
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise Refused("bad-argument", f"a time must be {_EXAMPLE}, got {shown(when)}") from None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        hour = int(moment.timestamp()) // _HOUR
    if not 0 <= hour <= MAX_HOUR:
        raise Refused("bad-argument", f"a time must be {_EXAMPLE}, got {shown(when)}")
    return hour
