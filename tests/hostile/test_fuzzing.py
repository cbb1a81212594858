"""Only documented errors escape, and soon, whatever is mutated; and the fuzzer would notice if it were otherwise."""

from __future__ import annotations

import random
import time

import pytest

import deniable as dn
from tests.hostile import fuzzing, targets
from tests.hostile.mutations import changed, damaged
from tests.hostile.targets import TARGETS, Folder, Target
from tests.running.figures import Record


def test_a_few_thousand_mutated_inputs_raise_nothing_else() -> None:
    found = fuzzing.fuzz(4000)
    assert not found.faults, str(found)
    assert set(found.ran) == set(TARGETS)
    assert all(found.accepted[name] for name in TARGETS), str(found)  # mutations reach beyond the first check
    assert found.accepted["spec"] > found.ran["spec"] / 10  # many have thresholds that follow from what was changed


@pytest.mark.soak
def test_two_million_mutated_inputs_raise_nothing_else(seed: int, record_property: Record) -> None:
    found = fuzzing.fuzz(2_000_000, seed)
    record_property("figure", found.summary())
    assert not found.faults, str(found)


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
    monkeypatch.setattr(fuzzing, "afresh", lambda *_: 0.02)
    for fault, says in ((_escape, "KeyError"), (_dawdle, "0.0 s")):
        monkeypatch.setattr(fuzzing, "TARGETS", {"fault": Target(fault, 1)})
        assert [says in line for line in fuzzing.fuzz(2).faults] == [True, True]
    monkeypatch.setattr(fuzzing, "TARGETS", {"fault": Target(_babble, 1)})
    assert not fuzzing.fuzz(1).faults  # the error itself cuts its message


@pytest.mark.parametrize(("seconds", "faults"), [(0.0, []), (3.0, ["fault 0: 3.0 s"])])
def test_a_slow_input_is_judged_by_its_time_in_a_fresh_process(
    seconds: float, faults: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzing, "MOST_SECONDS", 0.01)
    monkeypatch.setattr(fuzzing, "TARGETS", {"fault": Target(_dawdle, 1)})
    monkeypatch.setattr(fuzzing, "afresh", lambda *_: seconds)
    assert fuzzing.fuzz(1).faults == faults


def test_any_input_can_be_tried_in_a_fresh_process() -> None:
    assert 0 < fuzzing.afresh("release table", 3) < 60


def test_an_edited_threshold_that_is_accepted_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    document = dn.mechanism("grr", k=5, epsilon=1.0).spec.to_dict()
    with pytest.raises(dn.SpecError, match="thresholds"):
        targets._weakened(document, random.Random(1))
    monkeypatch.setattr(dn, "from_spec", lambda _: None)
    with pytest.raises(AssertionError, match="the threshold truth was edited and accepted"):
        targets._weakened(document, random.Random(1))


def test_mutations_change_things_and_can_be_repeated() -> None:
    document = {"a": [1, 2, {"b": "c"}], "d": 0.5}
    once, again = ([changed(document, random.Random(n)) for n in range(50)] for _ in range(2))
    assert repr(once) == repr(again)
    assert sum(each != document for each in once) > 40
    assert document == {"a": [1, 2, {"b": "c"}], "d": 0.5}
    assert sum(damaged(b"some bytes", random.Random(n)) != b"some bytes" for n in range(50)) > 40
