"""Rows that are no reports: found all at once where their fault can be seen, and by halving where it cannot."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.engines import arrow, malformed
from tests.engines.samples import counted_of

N = 20_000


def spoilt(name: str) -> tuple[Any, Any, Counter[str]]:
    """A table in which many rows are bad, each in one of several ways; and how many there are of each."""
    counted = counted_of(name)
    reports = counted.privatize(["abba"] * N if name == "heavy hitters" else np.arange(N) % 70, seed=1)
    plain = reports if isinstance(reports, dn.Reports) else reports.reports
    numbers = plain.data.astype(np.int64)
    place = np.arange(N)
    numbers[place % 10 == 1] = 2**31
    report = pa.array(numbers.astype(np.uint32), mask=place % 10 == 2)
    columns = {"report": report, "day": pa.array(np.arange(N) % 3, mask=place % 5 == 3)}
    if name == "heavy hitters":
        levels = reports.levels.astype(np.uint16)
        levels[place % 10 == 4] = 999
        columns["level"] = pa.array(levels)
    table = pa.table(columns).replace_schema_metadata(reports.to_arrow().schema.metadata)
    wrong = Counter({"report must lie": N // 10, "holds 1 nulls": N // 10, "column 'day' has no value": N // 5})
    return counted, table, wrong + Counter({"level must": N // 10} if name == "heavy hitters" else {})


@pytest.mark.parametrize("name", ["grr", "clh", "heavy hitters"])
def test_many_bad_rows_are_found_without_looking_at_each(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted, table, wrong = spoilt(name)
    calls, check = [0], malformed.bad_rows

    def noticed(*arguments: Any) -> Any:
        calls[0] += 1
        return check(*arguments)

    monkeypatch.setattr(malformed, "bad_rows", noticed)
    skipped: Counter[str] = Counter()
    found = dn.summarize_by(counted, table, "day", skipped=skipped, threads=1)
    assert found.n == N - wrong.total() == N - skipped.total()
    for words, count in wrong.items():
        assert [number for reason, number in skipped.items() if words in reason] == [count], (words, skipped)
    assert calls[0] <= 6  # one row of each fault, and the others together


@pytest.mark.parametrize("name", ["grr", "oue", "heavy hitters"])
def test_what_is_left_out_is_what_halving_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = counted_of(name)
    if name == "oue":
        data = counted.privatize(np.arange(500) % 70, seed=1).data.copy()
        data[::9, -1] |= np.uint64(1 << 40)
        days = pa.array(np.arange(500) % 3, mask=np.arange(500) % 7 == 3)
        table = dn.Reports(data, counted.fingerprint).to_arrow().append_column("day", days)
    else:
        table = spoilt(name)[1][:700]
    quick, slow = Counter[str](), Counter[str]()
    first = dn.summarize_by(counted, table, "day", skipped=quick)
    monkeypatch.setattr(malformed, "faults", lambda *_: iter(()))
    assert dn.summarize_by(counted, table, "day", skipped=slow) == first
    assert quick == slow
    assert quick


def test_signed_numbers_below_zero_are_left_out_too() -> None:
    m = counted_of("grr")
    skipped: Counter[str] = Counter()
    table = pa.table({"report": pa.array([1, -1, -5, 70, 3, None], pa.int64())})
    assert arrow.summarize(m, table, unlabelled=True, skipped=skipped).n == 2
    assert sorted(skipped.values()) == [1, 1, 2]
