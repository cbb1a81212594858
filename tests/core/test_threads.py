"""Threads share the pieces of one call, and none outlives it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable

import numpy as np
import pytest

import deniable as dn
from deniable.core import extremes as scan
from deniable.core.threads import PARTS, VARIABLE, share, share_rows, workers


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
def test_every_piece_is_taken_once(threads: int) -> None:
    made = share(list, range(20), threads)
    assert sorted(piece for pieces in made for piece in pieces) == list(range(20))
    assert len(made) <= min(threads, 20)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("in_helper", [True, False])
def test_an_error_stops_all_threads_and_is_raised(error: type[BaseException], in_helper: bool) -> None:
    caller, both, before = threading.current_thread(), threading.Barrier(2), threading.enumerate()
    taken: list[int] = []

    def work(pieces: Iterable[int]) -> None:
        for place, piece in enumerate(pieces):
            taken.append(piece)
            if place == 0:
                both.wait()  # until each thread has a piece
            if (threading.current_thread() is not caller) == in_helper:
                raise error("this one")
            time.sleep(0.001)

    with pytest.raises(error, match="this one"):
        share(work, range(10_000), 2)
    assert len(taken) < 10_000
    assert threading.enumerate() == before


@pytest.mark.parametrize(("rows", "large", "parts"), [(9, False, 1), (9, True, 3), (10**6, True, PARTS), (0, True, 0)])
def test_rows_are_divided_alike_for_any_number_of_threads(
    rows: int, large: bool, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for threads in ("1", "2", "7"):
        monkeypatch.setenv(VARIABLE, threads)
        found: dict[int, slice] = {}
        share_rows(found.__setitem__, rows, large=large)
        made = sorted(found.items(), key=lambda each: each[0])
        assert [number for number, _ in made] == list(range(parts))
        assert [row for _, part in made for row in (part.start, part.stop)][1:-1:2] == [p.start for _, p in made[1:]]
        assert not parts or (made[0][1].start, made[-1][1].stop) == (0, rows)


def test_a_system_that_allows_no_more_threads_does_the_work_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert share(list, range(3), 4) == [[0, 1, 2]]


def test_a_call_uses_the_cores_of_the_process_unless_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if hasattr(os, "sched_getaffinity"):
        assert workers() == len(os.sched_getaffinity(0))
    monkeypatch.setenv(VARIABLE, "3")
    assert workers() == 3
    monkeypatch.setenv(VARIABLE, "")
    assert workers() >= 1


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5", "²", " 2"])
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(dn.InvalidArgument, match="DENIABLE_THREADS must be a whole number, at least 1"):
        workers()


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.uint64])
def test_extremes_are_those_of_the_whole_array(monkeypatch: pytest.MonkeyPatch, threads: str, kind: type) -> None:
    monkeypatch.setattr(scan, "LARGE", 100)
    monkeypatch.setattr(scan, "_PIECE", 7)
    monkeypatch.setenv(VARIABLE, threads)
    for seed in range(20):
        array = np.random.default_rng(seed).integers(0, 200, 1 + 30 * seed).astype(kind)
        assert scan.extremes(array) == (array.min(), array.max())


def test_threads_share_the_search_for_extremes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "LARGE", 1)
    monkeypatch.setattr(scan, "_PIECE", 1)
    monkeypatch.setenv(VARIABLE, "2")
    both, seen = threading.Barrier(2, timeout=60), set()

    class Slow(np.ndarray):
        def min(self, *_: object, **__: object) -> object:
            if threading.get_ident() not in seen:
                seen.add(threading.get_ident())
                both.wait()  # until the other thread has a piece too
            return np.asarray(self).min()

    assert scan.extremes(np.arange(10).view(Slow)) == (0, 9)
    assert len(seen) == 2
