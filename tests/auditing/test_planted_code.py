"""Thirty faults in all are planted; here those that trials must catch, and what they say of sound mechanisms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.auditing.empirical import companions
from deniable.auditing.empirical.adapters import Adapter
from deniable.auditing.empirical.audit import EmpiricalAudit
from deniable.auditing.empirical.mechanisms import audit_mechanism
from deniable.auditing.empirical.search import audit_black_box
from deniable.auditing.empirical.tables import ids_against_values
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.keystream import Keystream
from tests.auditing import planted_code as planted
from tests.contract import cases

SEED = 20


def audited(m: Mechanism, trials: int = 300_000) -> EmpiricalAudit:
    return audit_mechanism(m, trials, 1e-9, generator=np.random.default_rng(SEED))


DEVICE = """
import numpy as np

import deniable as dn

VALUES, EPSILON, NAME = 8, 1.0, "a device with ids"
MECHANISM = dn.mechanism("grr", k=8, epsilon=1.0)
RANDOM = np.random.default_rng(20)


def sample(value, n):
    ids = RANDOM.integers(256, size=(n, 16))
    ids[:, 2] = ids[:, 2] & 0xF8 | value
    return np.column_stack([ids, MECHANISM.privatize(np.full(n, value)).data])
"""
EXCEEDING: dict[str, Mechanism] = {
    "epsilon doubled": planted.other_epsilon(dn.mechanism("grr", k=4, epsilon=1.0), 2.0),
    "k-1 for k": planted.FewerReplacements(4, 1.0),
    "truth bit kept": planted.Kept(8, 1.0),
    "ones never flipped": planted.NeverFlipped(8, 1.0),
    "last bit outside the coins": planted.LastBitBare(8, 1.0),
    "spare value is the last": planted.SpareIsLast(8, 1.0),
    "one value told": planted.OneTold(8, 1.0),
    "block sent bare": planted.BlockBare(14, 1.0, 2),
}
TELLING_LESS: dict[str, Mechanism] = {
    "p and q swapped": planted.Swapped(8, 1.0),
    "one pair swapped": planted.PairSwapped(8, 1.0),
    "level table off by one": planted.LevelsOff(8, 1.0, 3),
    "sign of row 0 used": planted.RowZero(8, 1.0, 1),
}
FAULTY: dict[str, tuple[Mechanism, str]] = {
    "seed from the value": (planted.SeedFromValue(30, 1.0), "depends on the value"),
    "cohort from the value": (planted.CohortFromValue(40, 1.0, 16, 8), "depends on the value"),
    "coin of the report before": (planted.CoinReused(4, 1.0), "randomness is used twice"),
    "coins of the first half": (planted.CoinsOfHalf(4, 1.0), "randomness is used twice"),
    "coins of 4,096 reports": (planted.CoinsOfChunk(4, 1.0), "depend on the report 4096 before them"),
    "y = x reveals": (planted.OwnNumberReveals(30, 1.0), "gives it away"),
    "subset w+1": (planted.LargerSubset(12, 1.0), "must mark"),
    "subset in drawing order": (planted.DrawingOrder(12, 1.0), "written in several ways"),
    "padding leaks": (planted.Padded(8, 1.0), "lengths from 1 to 2"),
    "seed in production": (planted.AlwaysSeeded(8, 1.0), "marked as simulated"),
    "fixed seed, unmarked": (planted.AlwaysSeededUnmarked(8, 1.0), "not fresh"),
}


@pytest.mark.parametrize("name", EXCEEDING)
def test_trials_prove_that_more_is_spent(name: str) -> None:
    found = audited(EXCEEDING[name])
    assert found.exceeds
    assert found.verdict == "EXCEEDS what was promised"


@pytest.mark.parametrize("factor", [1.1, 1.05])
def test_trials_prove_an_epsilon_that_is_a_little_too_large(factor: float) -> None:
    assert audited(planted.other_epsilon(dn.mechanism("grr", k=4, epsilon=1.0), factor), 1_000_000).exceeds


@pytest.mark.parametrize("name", TELLING_LESS)
def test_trials_see_reports_that_tell_less_than_they_should(name: str) -> None:
    found = audited(TELLING_LESS[name])
    assert found.below
    assert not found.exceeds
    assert found.verdict.startswith("TELLS LESS")


@pytest.mark.parametrize("name", FAULTY)
def test_companions_of_the_game_see(name: str) -> None:
    m, reason = FAULTY[name]
    assert any(reason in fault for fault in audited(m, 20_000).faults)


def test_a_subset_in_drawing_order_gives_its_sender_away() -> None:
    m = planted.DrawingOrder(12, 1.0)
    values = np.arange(2400) % 12
    codes = m.encode_many(m.privatize(values))
    first, held = (
        np.array([code[0] for code in codes]),
        [value in code for code, value in zip(codes, values, strict=True)],
    )
    assert (first[held] == values[held]).all()
    assert 1000 < sum(held) < 2400


def test_an_id_that_follows_from_the_value_is_found_where_it_is_sent_beside_the_report(tmp_path: Path) -> None:
    # what a device sends is its id and its report: an adapter has both, the id by its bytes
    path = tmp_path / "device.py"
    path.write_text(DEVICE)
    found = dn.audit(path, trials=40_000)
    assert found.exit_code == 1
    assert found.empirical is not None
    assert found.empirical.exceeds
    path.write_text(DEVICE.replace("ids[:, 2] = ids[:, 2] & 0xF8 | value", "pass"))
    assert dn.audit(path, trials=40_000).exit_code == 0


def test_one_told_value_is_named() -> None:
    assert "the guesses of value" in audited(planted.OneTold(64, 3.0), 100_000).where


def test_a_shared_overflow_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Keystream.overflow
    monkeypatch.setattr(Keystream, "overflow", lambda self, _: sound(self, 0))
    assert any("share random words" in fault for fault in audited(dn.mechanism("orr", k=40, epsilon=1.0), 2000).faults)


def test_a_tail_that_is_cut_to_zero_is_found_by_a_search() -> None:
    rng, k, reach = np.random.default_rng(SEED), 4, 1
    weights = np.array([0.15, 0.55, 0.3, 0.0])  # of an entry that is not the sender's; the top level never

    def sample(value: int, n: int) -> Any:
        levels = rng.choice(2 * reach + 2, (n, k), p=weights)
        levels[:, value] = 2 * reach + 1 - levels[:, value]
        return levels.astype(np.uint8)

    found = audit_black_box(Adapter(sample, k, epsilon=4.0), 200_000, generator=rng)
    assert found.exceeds


def test_ids_that_follow_from_the_value_are_seen() -> None:
    rng = np.random.default_rng(SEED)
    device, values = planted.Device(dn.mechanism("clh", k=8, epsilon=1.0)), rng.integers(8, size=5000)
    names = [device.send(int(value), rng)[0] for value in values]
    assert ids_against_values(names, values) == "byte 2 of the ids depends on the value"
    assert ids_against_values([rng.bytes(16) for _ in values], values) == ""
    assert "not new" in ids_against_values([bytes([value]) for value in values.tolist()], values)


@pytest.mark.parametrize("name", [name for name in dn.list_mechanisms() if name != "matrix"])
def test_no_sound_mechanism_is_accused(name: str) -> None:
    m = cases.of(name).one()
    found = audited(m, 100_000)
    assert not found.exceeds
    assert not found.faults
    assert not found.below
    assert found.bound > 0.6 * found.promised


def test_companions_are_many_and_silent_for_a_mechanism_with_everything() -> None:
    m = dn.mechanism("clh", k=30, epsilon=1.0)
    values = companions.Values(tuple(range(30)), np.arange(30))
    assert list(companions.companions(m, values, np.random.default_rng(SEED))) == []
