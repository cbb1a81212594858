"""The requests of a run, made in bulk: real reports by secure randomness; only the people are simulated."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable.collector.load.address import Address
from deniable.collector.load.connection import request, request_head
from deniable.collector.load.malformed import spoiled
from deniable.collector.load.plan import Plan
from deniable.core.arrays import Indices
from deniable.core.reports import Reports
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.randomness.keystream import Keystream
from deniable.randomness.simulated import generator
from deniable.wire.frames import ID_BYTES, Frame
from deniable.wire.payloads import Payloads

REPORTS_PATH, BATCHES_PATH = "/v1/reports", "/v1/batches"
_SINGLES, _BATCHED = 20_000, 200_000  # reports that are made at once
Place = tuple[int, bytes]  # the bucket and segments that reports are counted in


@dataclass(eq=False)
class Unit:
    """One request, sent until it is answered, and what is to be said of its reports afterwards."""

    data: bytes
    place: Place
    payloads: bytes
    ids: bytes  # of the reports, as their payloads need them
    n: int
    reason: str | None = None  # why it must be refused
    acknowledged: bool = False
    sent: bool = False
    doubtful: bool = False  # sent at least once without an answer
    refused: bool = False  # for good, and never sent without an answer


@dataclass(frozen=True)
class Target:
    """A collection that reports are made for."""

    address: Address
    mechanism: Mechanism
    key: bytes
    places: Sequence[Place]


@dataclass
class Traffic:
    """Chunks of units, in the order in which they are sent; a unit that is replayed stands there several times."""

    plan: Plan
    target: Target
    values: Indices | None = None  # those of the people; by default they are drawn
    _rng: np.random.Generator = field(init=False)
    _made: int = 0
    _wrong: int = 0

    def __post_init__(self) -> None:
        self._rng = generator(self.plan.seed)
        self.payloads = Payloads(self.target.mechanism, self.with_ids)
        k = self.target.mechanism.k
        shares = (np.arange(k) + 2.5) ** -1.2  # like Zipf's law
        self._cumulative = np.cumsum(shares) / shares.sum()

    @property
    def with_ids(self) -> bool:
        """Whether every report has an id of its own."""
        return self.plan.batch == 1 or self.plan.ids

    def chunks(self) -> Iterator[list[Unit]]:
        """Make all requests, chunk by chunk."""
        size = _SINGLES if self.plan.batch == 1 else max(self.plan.batch, _BATCHED // self.plan.batch * self.plan.batch)
        for start in range(0, self.plan.users, size):
            yield self._in_order(self._good(start, min(size, self.plan.users - start)))

    def _in_order(self, good: list[Unit]) -> list[Unit]:
        """The units with spoiled ones and replays among them: a replay comes at any time after, or with, the first."""
        made = int(self._rng.binomial(len(good), self.plan.malformed / (1 - self.plan.malformed)))
        wrong = [self._spoiled(good[place]) for place in self._rng.integers(len(good), size=made)]
        again = [unit for unit in good if self._rng.random() < self.plan.replays] if self.plan.replays else []
        units = [*good, *wrong, *again]
        if not (wrong or again):
            return units
        return [units[place] for place in self._rng.permutation(len(units))]

    def _good(self, start: int, n: int) -> list[Unit]:
        if self.values is None:
            values: Indices = np.searchsorted(self._cumulative, self._rng.random(n), side="right").astype(np.int64)
        else:
            values = self.values[start : start + n]
        values = np.minimum(values, self.target.mechanism.k - 1)  # a sum of shares may be rounded below 1
        ids = os.urandom(ID_BYTES * n) if self.with_ids else b""
        payloads = self._encoded(values, ids)
        size, batch = self.payloads.size, self.plan.batch
        units = []
        for first in range(0, n, batch):
            last = min(first + batch, n)
            self._made += 1
            place = self.target.places[self._made % len(self.target.places)]
            own = ids[ID_BYTES * first : ID_BYTES * last]
            units.append(self._unit(place, own, payloads[size * first : size * last], last - first))
        return units

    def _encoded(self, values: Indices, ids: bytes) -> bytes:
        mechanism = self.target.mechanism
        if ids and isinstance(mechanism, PublicCoin):  # the coin is the id, so these are made one by one
            both = zip(values.tolist(), cut_ids(ids), strict=True)
            return b"".join(self.payloads.made(mechanism.domain.label(value), own) for value, own in both)
        return self.payloads.joined(Reports(mechanism.payloads(values, Keystream.fresh()), mechanism.fingerprint))

    def _unit(self, place: Place, ids: bytes, payloads: bytes, n: int) -> Unit:
        frame = Frame(self.target.key, bytes.fromhex(self.target.mechanism.fingerprint), *place, ids, payloads)
        path = REPORTS_PATH
        if self.plan.batch > 1:
            path, frame = BATCHES_PATH, frame._replace(n=n, batch=os.urandom(ID_BYTES))
        return Unit(request(self.target.address, path, frame.to_bytes()), place, payloads, ids, n)

    def _spoiled(self, like: Unit) -> Unit:
        """A request that must be refused; its ids are new, so that it would be counted if it were not."""
        fresh = self._unit(like.place, os.urandom(len(like.ids)), like.payloads, like.n)
        head, _, body = fresh.data.partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode()
        self._wrong += 1
        body, reason = spoiled(body, self._wrong)
        data = request_head(self.target.address, path, len(body)) + body
        return Unit(data, like.place, b"", b"", 0, reason)


def cut_ids(ids: bytes) -> list[bytes]:
    """Ids that lie end to end, one by one."""
    return [ids[start : start + ID_BYTES] for start in range(0, len(ids), ID_BYTES)]
