"""Only documented errors escape, and soon, whatever is mutated; and the fuzzer would notice if it were otherwise."""

from __future__ import annotations

import random
import time

import pytest

import deniable as dn
from tests.hostile import fuzzing
from tests.hostile.mutations import changed, damaged
from tests.hostile.targets import TARGETS, Folder, Target
from tests.running.figures import Record, pace


def test_a_few_thousand_mutated_inputs_raise_nothing_else() -> None:
    found = fuzzing.fuzz(4000)
    assert not found.faults, str(found)
    assert set(found.ran) == set(TARGETS)
    assert all(found.accepted[name] for name in TARGETS), str(found)  # mutations reach beyond the first check


@pytest.mark.soak
def test_two_million_mutated_inputs_raise_nothing_else(seed: int, record_property: Record) -> None:
    start = time.monotonic()
    found = fuzzing.fuzz(2_000_000, seed)
    assert not found.faults, str(found)
    told = f"{pace(2_000_000, start)}, only documented errors, the slowest {found.slowest[0]:.2f} s"
    record_property("figure", f"mutated inputs: {told}")


def _escape(_source: random.Random, _files: Folder) -> None:
    raise KeyError("escaped")


def _babble(_source: random.Random, _files: Folder) -> None:
    raise dn.InvalidArgument("x" * 10**6, "be short", 1)


def _dawdle(_source: random.Random, _files: Folder) -> None:
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass


def test_the_fuzzer_notices_escapes_and_waste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "MOST_SECONDS", 0.01)
    for fault, says in ((_escape, "KeyError"), (_dawdle, "0.0 s")):
        monkeypatch.setattr(fuzzing, "TARGETS", {"fault": Target(fault, 1)})
        assert [says in line for line in fuzzing.fuzz(2).faults] == [True, True]
    monkeypatch.setattr(fuzzing, "TARGETS", {"fault": Target(_babble, 1)})
    assert not fuzzing.fuzz(1).faults  # the error itself cuts its message


def test_mutations_change_things_and_can_be_repeated() -> None:
    document = {"a": [1, 2, {"b": "c"}], "d": 0.5}
    once, again = ([changed(document, random.Random(n)) for n in range(50)] for _ in range(2))
    assert repr(once) == repr(again)
    assert sum(each != document for each in once) > 40
    assert document == {"a": [1, 2, {"b": "c"}], "d": 0.5}
    assert sum(damaged(b"some bytes", random.Random(n)) != b"some bytes" for n in range(50)) > 40
