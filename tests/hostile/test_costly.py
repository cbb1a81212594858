"""Specs drawn to be costly stay below half a second and 256 MiB with the default limits."""

from __future__ import annotations

import sys
import time

import pytest

from tests.hostile import costly
from tests.running.figures import Record, pace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read as Linux shows it")


def test_some_costly_specs_are_made_and_some_refused() -> None:
    costly.warm_up()
    found = [costly.measured(seed) for seed in range(60)]
    assert {each.made for each in found} == {True, False}
    # half a second on a calm machine; here others may be at work
    assert max(each.seconds for each in found) < 4 * costly.MOST_SECONDS
    assert max(each.bytes for each in found) < costly.MOST_BYTES


@pytest.mark.soak
def test_ten_thousand_costly_specs(seed: int, record_property: Record) -> None:
    start = time.monotonic()
    assert costly.main(10_000, seed % 2**32) == 0
    record_property("figure", f"costly specs: {pace(10_000, start)}, none beyond the limits of time and memory")
