"""Buckets of time: all that is kept of when a report was made.

A bucket is named by its start, in hours since 1970-01-01T00:00Z. Weeks begin on Monday.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from deniable.core.validate import choice

HOUR, DAY, WEEK, NONE = "hour", "day", "week", "none"
UNITS = (HOUR, DAY, WEEK, NONE)
ALL_TIME = 0  # the one bucket of counts in a collection without buckets
MAX_HOUR = 2**32 - 1
_SECONDS = 3600
_LENGTHS = {HOUR: 1, DAY: 24, WEEK: 168}
_MONDAY = 4 * 24  # the first one, 1970-01-05
_LAST_OF_CALENDAR = 70_389_527  # the last hour of the year 9999


class Buckets(NamedTuple):
    """The buckets of a collection.

    Without buckets all reports are counted together; devices then send the day, by which ids are remembered and
    nothing is counted.
    """

    unit: str

    @staticmethod
    def of(unit: str) -> Buckets:
        """The buckets of this unit."""
        return Buckets(choice(UNITS, bucket=unit))

    @property
    def hours(self) -> int:
        """The length of a bucket, as devices send it."""
        return _LENGTHS.get(self.unit, _LENGTHS[DAY])

    def at(self, seconds: float) -> int:
        """The bucket that a device sends at this time, given in seconds since 1970."""
        return self.containing(int(seconds // _SECONDS))

    def containing(self, hour: int) -> int:
        """The start of the bucket that contains this hour."""
        first = _MONDAY if self.unit == WEEK else 0
        return hour - (hour - first) % self.hours

    def is_start(self, hour: int) -> bool:
        """Whether a bucket starts at this hour."""
        return self.containing(hour) == hour

    def counted(self, hour: int) -> int:
        """The bucket in which a report of this bucket is counted."""
        return ALL_TIME if self.unit == NONE else hour


def hour_text(hour: int) -> str:
    """An hour as people write it: the date alone at midnight."""
    if hour > _LAST_OF_CALENDAR:
        return f"hour {hour:,}"
    moment = datetime.fromtimestamp(hour * _SECONDS, UTC)
    return moment.strftime("%Y-%m-%d" if moment.hour == 0 else "%Y-%m-%dT%H:00Z")
