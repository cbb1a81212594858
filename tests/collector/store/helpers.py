"""Small deliveries, and a way of counting whose sums can be checked by eye."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.collector.store.protocol import Store
from deniable.collector.store.records import Cell, CollectionRow, Counted, Delivery, SpecRow, Waiting

FINGERPRINT = "f" * 64
HOUR = 500_000


def identifier(number: int) -> bytes:
    """The id of report `number`; neighbours share most bytes, so that a search at the wrong place would find some."""
    return number.to_bytes(16, "big")


def a_collection(store: Store, name: str = "colours") -> CollectionRow:
    """A new collection with one spec."""
    return store.add_collection(name, "{}", b"signer", SpecRow(0, FINGERPRINT, "{}", 1))


def a_cell(collection: int = 1, bucket: int = HOUR, segments: bytes = b"") -> Cell:
    """A cell of the spec that all collections here have."""
    return Cell(collection, FINGERPRINT, bucket, segments)


def reports(cell: Cell, numbers: Sequence[int], hour: int = HOUR, width: int = 2) -> Delivery:
    """Reports of a cell, each with its own id; a payload is the report's number."""
    payloads = b"".join(number.to_bytes(width, "big") for number in numbers)
    return Delivery(cell, hour, tuple(identifier(number) for number in numbers), payloads, len(numbers))


def batch(cell: Cell, number: int, n: int, hour: int = HOUR) -> Delivery:
    """A batch of n equal reports with one id."""
    return Delivery(cell, hour, (identifier(number),), number.to_bytes(2, "big") * n, n, whole=True)


def total(summary: bytes | None) -> tuple[int, int]:
    """The sum of all payloads counted, and how many."""
    return (int.from_bytes(summary[:16], "big"), int.from_bytes(summary[16:], "big")) if summary else (0, 0)


def as_bytes(payloads: int, n: int) -> bytes:
    """A summary of these totals."""
    return payloads.to_bytes(16, "big") + n.to_bytes(16, "big")


class Sums:
    """Counts by adding up payloads; publishes when at least `minimum` reports are new."""

    def __init__(self, minimum: int = 1) -> None:
        self.minimum = minimum

    def __call__(
        self, _: Cell, summary: bytes | None, published: bytes | None, rows: Sequence[Waiting] | bytes
    ) -> Counted:
        added, more = total(rows) if isinstance(rows, bytes) else sums_of(rows)
        before, n = total(summary)
        told = total(published)[1]
        return Counted(as_bytes(before + added, n + more), n + more, n + more - told >= self.minimum)


def sums_of(rows: Sequence[Waiting]) -> tuple[int, int]:
    """The sum of the payloads of rows, and how many there are."""
    added = more = 0
    for row in rows:
        width = len(row.payloads) // row.n
        assert len(row.payloads) == width * row.n
        assert len(row.ids) in (0, 16 * row.n)
        more += row.n
        added += sum(int.from_bytes(row.payloads[i * width : (i + 1) * width], "big") for i in range(row.n))
    return added, more


def fold_all(store: Store, sums: Sums | None = None, *, keep: bool = False, most: int = 10**6) -> int:
    """Fold until nothing waits; return how many reports."""
    done = 0
    while waiting := store.waiting():
        done += sum(store.fold(cell, sums or Sums(), keep=keep, most=most) for cell, _ in waiting)
    return done
