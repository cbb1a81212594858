"""Threads that count together: what they say does not depend on which of them is faster."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import deniable as dn
from deniable.engines.jobs import Job
from deniable.engines.sources import Work

M = dn.mechanism("grr", k=4, epsilon=1.0)


@dataclass(frozen=True)
class Failing:
    """Rows that cannot be read, which is found out when others cannot be either."""

    row: int
    together: threading.Barrier
    source: int = 0

    def batches(self) -> Iterator[tuple[str, Any]]:
        self.together.wait(60)
        raise dn.MalformedReport(f"row {self.row}: unreadable")
        yield

    def read(self, batch: Any) -> Any:
        return batch


@pytest.mark.parametrize("rows", [(1, 131_073), (9, 10), (131_073, 262_145), (2, 100, 1000)])
def test_the_first_of_several_bad_rows_is_named(rows: tuple[int, ...]) -> None:
    for rest in range(5):
        together = threading.Barrier(len(rows))
        units = [Failing(row, together, source=rest) for row in rows]
        with pytest.raises(dn.MalformedReport, match=f"^row {rows[0]}: unreadable"):
            Job(M, (), None).run(Work(units, None), len(rows), None)
