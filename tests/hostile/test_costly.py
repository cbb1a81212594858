"""Specs drawn to be costly stay below half a second and 256 MiB with the default limits."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from tests.hostile import costly
from tests.running.figures import Record

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux shows it")


def test_some_costly_specs_are_made_and_some_refused() -> None:
    found = list(costly.readings(60))
    assert {each.made for each in found} == {True, False}
    # half a second on a calm machine; here others may be at work
    assert max(each.seconds for each in found) < 4 * costly.MOST_SECONDS
    assert max(each.bytes for each in found) < costly.MOST_BYTES


def test_matrices_are_drawn_tall_wide_and_for_another_number_of_values() -> None:
    shapes = set()
    for seed in range(100):
        k, parameters = costly._matrix(random.Random(seed))
        rows, reports = np.shape(parameters["matrix"])
        shapes.add("other" if k != rows else "tall" if rows > 2 * reports else "wide" if reports > 2 * rows else "")
    assert shapes == {"other", "tall", "wide", ""}


def test_memory_that_earlier_work_freed_does_not_hide_what_later_work_takes() -> None:
    def work() -> list[np.ndarray]:
        return [np.ones(2**12) for _ in range(2**10)]  # 32 MiB in pieces that the allocator keeps when they are freed

    last = work()[-1]
    assert costly.growth(work) > 2**24
    assert last.all()


def test_every_block_has_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costly, "BLOCK", 2)
    found = list(costly.readings(3, 40))
    assert [each.seed for each in found] == [40, 41, 42]
    assert "3 costly specs" in costly.summary(found)
    assert not costly.too_costly([each._replace(seconds=0.4, bytes=0) for each in found])
    assert costly.too_costly([found[0]._replace(seconds=0.6), found[0]._replace(bytes=2**29)])


@pytest.mark.soak
def test_ten_thousand_costly_specs(seed: int, record_property: Record) -> None:
    found = list(costly.readings(10_000, seed % 2**32))
    record_property("figure", costly.summary(found))
    assert not costly.too_costly(found)
