"""A running count of reports for a server that receives them bit by bit."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from deniable.core.errors import CountOverflow, DeniableError, InvalidArgument, kind_of
from deniable.core.forks import Guard, held_while_forking
from deniable.core.summary import MAX_COUNT, Summary
from deniable.mechanisms.layouts.levels import MAX_LEVELS

if TYPE_CHECKING:
    from deniable.mechanisms.base.mechanism import Mechanism


_known: set[ref[Any]] = set()  # all accumulators, as long as they live
held_while_forking(lambda: [each.guard() for known in list(_known) if (each := known()) is not None])


class _Torn:
    """The lock of an accumulator that was amid a change when its process was forked."""

    def __enter__(self) -> None:
        raise DeniableError(
            "this process was forked while another thread added to the accumulator, which is half changed here: "
            "make a new one, or fork while no thread adds"
        )

    def __exit__(self, *_: object) -> None: ...


class Accumulator:
    """Counts that grow in place: adding a report costs no more than the report, however many cells there are.

    Threads may share one: each call takes a lock, and either adds all its reports or, when it raises, none.
    """

    def __init__(self, mechanism: Mechanism, start: Summary | None = None) -> None:
        self.mechanism = mechanism
        self._lock: Any = threading.RLock()  # a fork takes it, even amid a call of the same thread
        _known.add(ref(self, _known.discard))
        self._counts = np.zeros(mechanism.layout.cells, np.int64)
        self._n = 0
        self._simulated = False
        self._room = MAX_COUNT  # by how much any count may still grow
        if start is not None:
            self.merge(start)

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        return f"Accumulator({self.mechanism.name}, n={self._n:,}, cells={len(self._counts):,})"

    def add(self, reports: Any) -> int:
        """Add reports as `summarize` takes them: a batch, a list of single reports, or a raw array. Return how many."""
        data, simulated = self.mechanism.checked(reports)
        most = (MAX_LEVELS - 1) * len(data)  # what one count can grow by
        with self._lock:
            if most > self._room:
                raise CountOverflow(f"counts must stay below {MAX_COUNT}; nothing was added")
            self.mechanism.layout.count(data, self._counts)
            self._room -= most
            self._n += len(data)
            self._simulated |= simulated
        return len(data)

    def add_encoded(self, data: bytes | Iterable[bytes]) -> int:
        """Decode, check and add encoded reports: several, or bytes in which they lie end to end. Return how many."""
        joined = isinstance(data, bytes | bytearray | memoryview)
        decoded = self.mechanism.decode_joined(data) if joined else self.mechanism.decode_many(data)  # type: ignore[arg-type]
        return self.add(decoded)

    def merge(self, other: Summary | Accumulator) -> None:
        """Add the counts of a summary, or of another accumulator, of the same spec."""
        summary = other.summary() if isinstance(other, Accumulator) else other
        if not isinstance(summary, Summary):
            raise InvalidArgument("summary", "be a Summary, or an Accumulator", kind_of(summary))
        self.mechanism.same_spec("a summary", summary.fingerprint)
        self.mechanism.layout.check_counts(summary)
        most = max(summary.n, int(summary.counts.max()))
        with self._lock:
            room = self._room - most
            if room < 0:  # it may fit all the same, since the largest counts may be in different cells
                room = min(MAX_COUNT - self._n - summary.n, int((MAX_COUNT - self._counts - summary.counts).min()))
            if room < 0:
                raise CountOverflow(f"counts must stay below {MAX_COUNT}; nothing was added")
            self._counts += summary.counts
            self._room = room
            self._n += summary.n
            self._simulated |= summary.simulated

    def summary(self) -> Summary:
        """Return a frozen copy of the counts so far."""
        with self._lock:
            return self._frozen()

    def guard(self) -> Guard:
        """Return the lock, and how a forked process is told that it never got it."""
        return Guard(self._lock, self._tear)

    def _tear(self) -> None:
        self._lock = _Torn()
        _known.discard(ref(self))

    def _frozen(self) -> Summary:
        return Summary(self._counts, self._n, self.mechanism.fingerprint, self._simulated)
