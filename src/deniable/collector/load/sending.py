"""Sending the requests of a run over several connections, each again until it is answered or time is up."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from deniable.collector.load.connection import Connection, Lost
from deniable.collector.load.plan import Plan
from deniable.collector.load.tally import Expected, Tally
from deniable.collector.load.traffic import Target, Traffic, Unit
from deniable.wire.refusals import REASONS

_PAUSE = 0.05  # seconds before a lost connection is opened again
_LONGEST_WAIT = 1.0  # seconds, whatever Retry-After says: this is a test
GRACE = 20.0  # seconds after the end of a run for what is under way


@dataclass
class Run:
    """One run: its requests, and what came of them."""

    plan: Plan
    target: Target
    traffic: Traffic
    tally: Tally = field(default_factory=Tally)
    expected: Expected = field(init=False)
    watch: Callable[[Tally], None] = lambda _tally: None  # called after every chunk and now and then
    enough: Callable[[], bool] = lambda: False  # whether to send nothing new, before the time is up

    def __post_init__(self) -> None:
        self.expected = Expected(self.target.mechanism, self.traffic.with_ids)
        self._begin = self._end = 0.0
        self._due = 0.0  # when the next request is due, where there is a rate

    async def go(self) -> None:
        """Send everything, or as much as there is time for."""
        chunks = self.traffic.chunks()
        units = await asyncio.to_thread(next, chunks, None)
        self._begin = self._due = time.monotonic()
        self._end = self._begin + self.plan.seconds
        while units is not None and not self._over():
            following = asyncio.create_task(asyncio.to_thread(next, chunks, None))
            await self._send(units)
            self.tally.seconds = time.monotonic() - self._begin
            await asyncio.to_thread(self.expected.add, list(dict.fromkeys(units)))
            self.watch(self.tally)
            units = await following

    async def _send(self, units: list[Unit]) -> None:
        shared = iter(units)
        watching = asyncio.create_task(self._watch())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.plan.connections, len(units))):
                    group.create_task(self._drive(shared))
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(0.25)
            self.tally.seconds = time.monotonic() - self._begin
            self.watch(self.tally)

    def _over(self) -> bool:
        if self.enough():
            self._end = min(self._end, time.monotonic())
        return self._left() <= 0

    def _left(self) -> float:
        return self._end - time.monotonic()

    async def _drive(self, units: Iterator[Unit]) -> None:
        """One connection: the next request as soon as the last is answered, not before it is due."""
        line = _Line(self)
        try:
            for unit in units:
                if self.plan.rate is not None and not await self._wait_for_turn(unit):
                    return
                if self._over():
                    return
                await line.deliver(unit)
        finally:
            line.close()

    async def _wait_for_turn(self, unit: Unit) -> bool:
        assert self.plan.rate is not None
        due, self._due = self._due, self._due + max(unit.n, 1) / self.plan.rate
        wait = due - time.monotonic()
        if wait > self._left():
            return False
        if wait > 0:
            await asyncio.sleep(wait)
        return True

    def expired(self) -> bool:
        """Whether even what is under way is given up."""
        return self._over() and self._left() < -GRACE


class _Line:
    """A connection that is opened again when it breaks."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._connection: Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    async def deliver(self, unit: Unit) -> None:
        """Send a request until it is answered for good."""
        tally = self._run.tally
        while not self._run.expired():
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = await Connection.open(self._run.target.address)
                if not unit.sent:
                    unit.sent = True
                    tally.sent += unit.n
                start = time.perf_counter()
                status, body = await self._connection.ask(unit.data)
                tally.latencies.append(time.perf_counter() - start)
            except Lost:
                self.close()
                self._connection = None
                tally.unanswered += 1
                unit.doubtful = True
                await asyncio.sleep(_PAUSE)
                continue
            tally.requests += 1
            wait = _settle(tally, unit, status, body)
            if wait is None:
                return
            await asyncio.sleep(wait)


def _settle(tally: Tally, unit: Unit, status: int, body: bytes) -> float | None:
    """Note an answer; return the seconds after which to send the request again, or None if it is settled."""
    if 200 <= status < 300:
        tally.acknowledged_requests += 1
        if unit.reason is not None:
            tally.surprises[f"accepted, though {unit.reason}"] += 1
        elif unit.acknowledged:
            tally.again += 1
        else:
            unit.acknowledged = True
            tally.acknowledged += unit.n
        return None
    kind, after = _refusal(status, body)
    if kind in REASONS and REASONS[kind].again and kind != unit.reason:
        tally.waits[kind] += 1
        return min(after, _LONGEST_WAIT)
    tally.refusals[kind] += 1
    if unit.reason is None:
        unit.refused = not (unit.acknowledged or unit.doubtful)
        tally.surprises[f"refused: {kind}"] += 1
    elif kind != unit.reason:
        tally.surprises[f"{kind} instead of {unit.reason}"] += 1
    return None


def _refusal(status: int, body: bytes) -> tuple[str, float]:
    """The reason that an answer gives, and the seconds it asks to wait."""
    try:
        found = json.loads(body)
        return str(found["kind"]), float(found.get("retry_after", _PAUSE))
    except (ValueError, KeyError, TypeError):
        return f"status {status}", _PAUSE
