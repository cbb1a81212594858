"""Caches bounded in bytes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import deniable as dn
from deniable.core.arrays import Symbols
from deniable.core.caches import kept
from deniable.mechanisms.designs import cyclotomy, singer


def test_results_are_kept_until_they_have_too_many_bytes() -> None:
    made: list[int] = []

    @kept(size=len, most=10)
    def text(length: int) -> str:
        made.append(length)
        return "x" * length

    assert [len(text(length)) for length in (4, 5, 4, 5)] == [4, 5, 4, 5]
    assert made == [4, 5]
    assert (text(11), made.pop()) == ("x" * 11, 11)  # too long to keep, and nothing is dropped for it
    text(5)
    assert made == [4, 5]
    text(3)  # drops 4, which was used least lately
    text(5)
    assert made == [4, 5, 3]
    text(4)
    assert made == [4, 5, 3, 4]


def test_an_error_is_not_kept() -> None:
    calls: list[int] = []

    @kept(size=len)
    def text(length: int) -> str:
        calls.append(length)
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            text(1)
    assert calls == [1, 1]


@pytest.mark.parametrize("function", [singer.elements, cyclotomy._powers])
def test_tables_of_designs_are_kept_within_a_limit_in_bytes(function: object) -> None:
    for k in (1000, 2000, 100_000):
        for name in ("pgr", "csr"):
            dn.mechanism(name, k=k, epsilon=1.0).privatize(np.arange(100))
    results = function.results  # type: ignore[attr-defined]
    assert results
    assert all(
        cost == made.nbytes and (made.base is None or made.base.nbytes == cost) for made, cost in results.values()
    )


@pytest.mark.parametrize("name", ["pgr", "hpgr"])
def test_a_mechanism_holds_its_table_however_large_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []
    with_table = singer.elements.__wrapped__  # type: ignore[attr-defined]

    @kept(size=lambda listed: listed.nbytes, most=0)  # as if every table were too large
    def elements(q: int, t: int) -> Symbols:
        made.append((q, t))
        return with_table(q, t)  # type: ignore[no-any-return]

    monkeypatch.setattr(singer, "elements", elements)
    m = dn.mechanism(name, k=1000, epsilon=1.0)
    for _ in range(2):
        m.privatize_one(0)
        reports = m.privatize(np.arange(100))
        m.estimate(m.summarize(reports))
    assert len(made) == 1
    pickle.loads(pickle.dumps(m)).privatize_one(0)  # the table does not travel
    assert len(made) == 2
