"""Thirty faults in all are planted; here those that an exact audit must catch."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.auditing.exact.specs import audit_text
from tests.auditing.planted_texts import EXACT, of


@pytest.mark.parametrize("name", EXACT)
def test_an_exact_audit_catches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = EXACT[name](monkeypatch)
    assert not found.passed
    assert found.verdict in ("FAULTY", "EXCEEDS what was promised", "GIVES VALUES AWAY: no epsilon holds")


def test_the_sound_mechanisms_of_these_faults_pass() -> None:
    for name in ("blh", "grr", "hr", "olh", "orappor", "orr", "oue", "rhr", "she", "ss", "the"):
        assert audit_text(of(name).spec.to_json()).passed, name


def test_faults_of_the_ratio_are_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    by_ratio = ("thresholds +1", "E rounded up", "k-1 for k", "epsilon times 1.05")
    assert all(EXACT[name](monkeypatch).exceeds for name in by_ratio)
    assert EXACT["tail cut to zero"](monkeypatch).ratio is None
    assert "rejection_public must be 16" in EXACT["rejection dropped"](monkeypatch).faults[0]


def test_code_that_does_not_make_its_vectors_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = EXACT["one pair swapped"](monkeypatch)
    assert found.vectors == "not reproduced"
    assert "vector grr-labels.json: other reports from the same words" in found.faults
    assert dn.audit(of("oue")).passed
