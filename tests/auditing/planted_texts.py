"""Faults in the text of a spec, or in the code that its vectors run: what an exact audit must catch."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.auditing.exact.arithmetic import exponential_below
from deniable.auditing.exact.audit import ExactAudit
from deniable.auditing.exact.specs import audit_text
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters
from deniable.mechanisms.cohorts.hashed_response import HashedResponse
from deniable.mechanisms.hadamard.recursive_hadamard import RecursiveHadamardResponse
from deniable.mechanisms.subsets import subset_selection
from deniable.mechanisms.unary import unary_encoding

M = 2**64
Patch = pytest.MonkeyPatch
Planted = Callable[[Patch], ExactAudit]


def of(name: str, **setting: Any) -> Mechanism:
    return dn.mechanism(name, **{"k": 8, "epsilon": 1.0, **setting})


def edited(m: Mechanism, **thresholds: int) -> ExactAudit:
    """The audit of a spec with other thresholds, of its text alone: its promise stays."""
    document = json.loads(m.spec.to_json())
    document["thresholds"] |= {name: str(number) for name, number in thresholds.items()}
    return audit_text(json.dumps(document), code=False)


def thresholds_one_more(_: Patch) -> ExactAudit:
    m = of("ss")
    return edited(m, truth=m.thresholds["truth"] + 1)


def rejection_dropped(_: Patch) -> ExactAudit:
    return edited(of("olh", k=30), rejection_public=0)


def with_epsilon_of(factor: float) -> Planted:
    def plant(_: Patch) -> ExactAudit:
        return edited(of("blh"), truth=of("blh", epsilon=factor).thresholds["truth"])

    return plant


def e_rounded_up(_: Patch) -> ExactAudit:
    # with E one unit of 2^-64 larger, the threshold is another one at some epsilons, and then the ratio exceeds E
    for percent in range(1, 200):
        bound = exponential_below(Fraction(percent / 100)) + Fraction(1, M)
        m = of("blh", epsilon=percent / 100)
        truth = int(M * (bound - 1) / (bound - 1 + 2))
        if truth > m.thresholds["truth"]:
            return edited(m, truth=truth)
    raise LookupError("no epsilon for which rounding up changes the threshold")


def k_less_one(_: Patch) -> ExactAudit:
    share = (M - of("grr", k=7).thresholds["truth"]) // 8
    return edited(of("grr"), truth=M - 8 * share)


def own_coin_33_bits(_: Patch) -> ExactAudit:
    m = of("oue")
    return edited(m, other=m.thresholds["other"] - 2**31)


def tail_cut_to_zero(_: Patch) -> ExactAudit:
    return edited(of("she"), level_1=0)


def theta_rounded_up(monkeypatch: Patch) -> ExactAudit:
    # the coin of the value's own bit is rounded up, not down: the integers no longer follow from the spec
    text, coins = of("the").spec.to_json(), dn.ThresholdingHistogramEncoding._coins
    planted = lambda *given: (coins(*given)[0] + 1, coins(*given)[1])  # noqa: E731
    monkeypatch.setattr(dn.ThresholdingHistogramEncoding, "_coins", planted)
    return audit_text(text)


def code_of(name: str, cls: type, method: str, faulty: Callable[..., Any]) -> Planted:
    """The audit of a sound spec whose code, for one report, is another one."""

    def plant(monkeypatch: Patch) -> ExactAudit:
        text = of(name).spec.to_json()
        monkeypatch.setattr(cls, method, faulty)
        return audit_text(text)

    return plant


def truth_bit_kept(self: Any, index: int, choices: Any) -> tuple[int, ...]:
    others = choices.coins(self.thresholds["other"], self.layout.slices, 32)
    own = choices.coin(self.thresholds["own"])
    row = others | unary_encoding.one_bit(index, self.layout.slices) * np.uint64(own)
    row[-1] &= self.layout.last_word
    return tuple(row.tolist())


def ones_never_flipped(self: Any, index: int, choices: Any) -> tuple[int, ...]:
    cohort = choices.below(self.cohorts, self.thresholds["rejection_cohort"])
    flips = choices.coins(self.thresholds["flip"], self.layout.slices, 32)
    row = flips | unary_encoding.one_bit(self.functions.bucket(index, cohort), self.layout.slices)
    row[-1] &= np.uint64(self.layout.last_word)
    return (cohort, *row.tolist())


def last_bit_outside(self: Any, index: int, choices: Any) -> tuple[int, ...]:
    row = np.array(SOUND_UNARY(self, index, choices), np.uint64)
    last = np.uint64(1 << (self.k - 1) % 64)
    row[-1] = row[-1] & ~last | last * np.uint64(index == self.k - 1)
    return tuple(row.tolist())


SOUND_UNARY = unary_encoding.UnaryEncoding.randomize_one
SOUND_SS = subset_selection.SubsetSelection.randomize_one
SOUND_GRR = dn.RandomizedResponse.randomize_one
SOUND_SHE = dn.SummationHistogramEncoding.randomize_one


def subset_one_larger(self: Any, index: int, choices: Any) -> tuple[int, ...]:
    row = list(SOUND_SS(self, index, choices))
    free = next(bit for bit in range(self.k) if not row[0] >> bit & 1)
    return (row[0] | 1 << free, *row[1:])


def spare_is_last(self: Any, index: int, choices: Any) -> tuple[int, ...]:
    choices._words = choices._words.copy()
    choices._words[1] = M - 1  # of which the draw below any number is the last
    return SOUND_SS(self, index, choices)


def one_value_told(self: Any, index: int, choices: Any) -> int:
    made = SOUND_GRR(self, index, choices)
    return index if index == 1 else made


def one_pair_swapped(self: Any, index: int, choices: Any) -> int:
    return SOUND_GRR(self, {0: 1, 1: 0}.get(index, index), choices)


def cohort_from_value(self: Any, index: int, choices: Any) -> int:
    payload = SOUND_ORR(self, index, choices)
    cohort = index % self.cohorts
    return cohort * self.buckets + payload % self.buckets


SOUND_ORR = HashedResponse.randomize_one


def levels_off_by_one(self: Any, index: int, choices: Any) -> tuple[int, ...]:
    return tuple(min(level + 1, self.levels - 1) for level in SOUND_SHE(self, index, choices))


def row_zero_used(self: Any, index: int, public: int) -> int:
    number, block = divmod(index, self.blocks)
    return 2 * block + (number & public).bit_count() % 2


def block_sent_bare(self: Any, index: int, choices: Any) -> int:
    sent = SOUND_HR(self, index, choices) % (self.block_size - 1)
    return int(index % self.blocks * (self.block_size - 1) + sent)


SOUND_HR = dn.HadamardResponse.randomize_one

EXACT: dict[str, Planted] = {
    "thresholds +1": thresholds_one_more,
    "rejection dropped": rejection_dropped,
    "epsilon doubled": with_epsilon_of(2.0),
    "epsilon times 1.1": with_epsilon_of(1.1),
    "epsilon times 1.05": with_epsilon_of(1.05),
    "E rounded up": e_rounded_up,
    "k-1 for k": k_less_one,
    "truth bit kept": code_of("oue", unary_encoding.UnaryEncoding, "randomize_one", truth_bit_kept),
    "ones never flipped": code_of("orappor", FlippedFilters, "randomize_one", ones_never_flipped),
    "own coin 33 bits": own_coin_33_bits,
    "last bit outside the coins": code_of("oue", unary_encoding.UnaryEncoding, "randomize_one", last_bit_outside),
    "subset w+1": code_of("ss", subset_selection.SubsetSelection, "randomize_one", subset_one_larger),
    "spare value is the last": code_of("ss", subset_selection.SubsetSelection, "randomize_one", spare_is_last),
    "one value told": code_of("grr", dn.RandomizedResponse, "randomize_one", one_value_told),
    "one pair swapped": code_of("grr", dn.RandomizedResponse, "randomize_one", one_pair_swapped),
    "cohort from the value": code_of("orr", HashedResponse, "randomize_one", cohort_from_value),
    "level table off by one": code_of("she", dn.SummationHistogramEncoding, "randomize_one", levels_off_by_one),
    "theta rounded up": theta_rounded_up,
    "tail cut to zero": tail_cut_to_zero,
    "sign of row 0 used": code_of("rhr", RecursiveHadamardResponse, "_class_under", row_zero_used),
    "block sent bare": code_of("hr", dn.HadamardResponse, "randomize_one", block_sent_bare),
}
