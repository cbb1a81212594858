"""Reports on their way into a spool, and what must be counted of them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.collector.service.service import Service
from deniable.collector.service.settings import SegmentSettings, Settings
from deniable.collector.spool.counting import Question
from deniable.collector.store.records import Cell, Delivery
from deniable.wire.buckets import Buckets
from deniable.wire.frames import ID_BYTES
from deniable.wire.payloads import Payloads

NAME, RELEASES = "themes", ("old", "new")
HOURS = (495_000, 495_024)  # days
BY = ("bucket", "release")


@dataclass
class World:
    """A collection in a store, people who send to it, and the summaries of what they sent."""

    service: Service
    mechanism: Any
    rng: np.random.Generator
    expected: dict[tuple[int, str], Any] = field(default_factory=dict)

    @staticmethod
    def of(service: Service, mechanism: Any, rng: np.random.Generator) -> World:
        """Make the collection."""
        import json

        settings = Settings(minimum=1, segments=(SegmentSettings("release", RELEASES),))
        service.office.add_collection(NAME, json.loads(mechanism.spec.to_json()), settings)
        service.refresh()
        return World(service, mechanism, rng)

    def delivery(self, n: int, whole: bool) -> Delivery:
        """New reports of one place, in a batch as a whole or with ids of their own."""
        hour, release = int(self.rng.choice(HOURS)), int(self.rng.integers(2))
        ids = tuple(secrets.token_bytes(ID_BYTES) for _ in range(1 if whole else n))
        payloads = Payloads(self.mechanism, not whole)
        values = self.rng.integers(self.mechanism.k, size=n)
        if whole:
            data = payloads.joined(self.mechanism.privatize(values))
        else:
            data = b"".join(payloads.made(int(value), own) for value, own in zip(values, ids, strict=True))
        summary = self.mechanism.summarize(payloads.read(data, () if whole else ids))
        group = (hour, RELEASES[release])
        self.expected[group] = self.expected[group] + summary if group in self.expected else summary
        number = self.service.directory.desk(NAME).number
        cell = Cell(number, self.mechanism.fingerprint, hour, bytes([release]))
        return Delivery(cell, hour, ids, data, n, whole)

    def table(self) -> dn.SummaryTable:
        """What must be counted."""
        return dn.SummaryTable(BY, self.expected, self.mechanism.fingerprint)

    def question(self, _partition: object) -> Question:
        """What counting must know."""
        return Question(self.mechanism, Buckets.of("day"), ("release",), 168)


def parts_of(delivery: Delivery, size: int) -> list[Delivery]:
    """Reports with ids again, in other groups than before: a gateway that retries."""
    each = len(delivery.payloads) // delivery.n
    return [
        Delivery(
            delivery.cell,
            delivery.hour,
            delivery.ids[start : start + size],
            delivery.payloads[each * start : each * (start + size)],
            len(delivery.ids[start : start + size]),
        )
        for start in range(0, delivery.n, size)
    ]


def files(spool: Path) -> list[Path]:
    """All files of reports."""
    return sorted(spool.rglob("*.parquet"))
