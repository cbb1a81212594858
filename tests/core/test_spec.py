"""The document client and server share: canonical, checked, versioned."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.registry import registered

SPEC = dn.mechanism("grr", labels=["yes", "no", "ünknown"], epsilon=0.5).spec


def test_the_fingerprint_is_the_hash_of_canonical_json() -> None:
    text = SPEC.to_json()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert SPEC.fingerprint == hashlib.sha256(text.encode()).hexdigest()


def test_spacing_and_order_do_not_matter_but_content_does() -> None:
    document = json.loads(SPEC.to_json())
    assert dn.Spec.from_json(json.dumps(dict(reversed(document.items())), indent=3)) == SPEC
    assert hash(dn.Spec.from_json(SPEC.to_json())) == hash(SPEC)
    document["parameters"]["epsilon"] = 0.6
    assert dn.Spec.from_dict(document) != SPEC


def test_thresholds_that_do_not_follow_from_the_rest_are_refused() -> None:
    document = json.loads(SPEC.to_json())
    document["thresholds"]["truth"] = str(int(document["thresholds"]["truth"]) + 1)
    with pytest.raises(dn.SpecError, match="thresholds"):
        dn.from_spec(dn.Spec.from_dict(document))


def changed(**members: object) -> str:
    document = {**SPEC.to_dict(), **members}
    return json.dumps({name: value for name, value in document.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1]", "must be a JSON object"),
        ("{}", '"deniable": 1'),
        (changed(deniable=2), "version 2; this release reads up to version 1"),
        (changed(deniable=True), '"deniable": 1'),
        (changed(extra=1), "unknown member: extra"),
        (changed(domain=None), "unknown member: domain"),
        (changed(mechanism=5), "mechanism must be a JSON string"),
        (changed(mechanism="xyz"), "unknown mechanism"),
        (changed(version=9), "version 9"),
        (changed(version="1"), "version must be a JSON whole number"),
        (changed(domain=[]), "domain must be a JSON object"),
        (changed(thresholds={"truth": 5}), "threshold truth must be a decimal string"),
        (changed(thresholds={"truth": "007"}), "threshold truth must be a decimal string"),
        (changed(thresholds={}), "thresholds"),
        (changed(parameters={}), "parameters"),
        (changed(parameters={"epsilon": 1, "delta": 2}), "parameters"),
        (changed(parameters={"epsilon": -1}), "epsilon must be positive"),
        ('{"deniable":1,"deniable":1}', "twice"),
        ('{"deniable":NaN}', "NaN"),
        ("[" * 100_000, "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
    ],
)
def test_a_damaged_spec_is_refused_in_one_line(text: str | bytes, says: str) -> None:
    with pytest.raises(dn.DeniableError, match=says) as caught:
        dn.from_spec(text)
    assert "\n" not in str(caught.value)


@dataclass(frozen=True)
class ShortWords(dn.RandomizedResponse):
    """A version 2 of randomised response with 32-bit thresholds, to show how a collection moves on."""

    version: ClassVar[int] = 2

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        thresholds = super()._thresholds(bound, modulus)
        return {**thresholds, "truth": thresholds["truth"] >> 32 << 32}


def test_moving_to_a_new_version_keeps_old_specs_and_never_mixes_summaries() -> None:
    known = (*registered(), ShortWords)
    old, new = dn.RandomizedResponse(4, 1.0), ShortWords(4, 1.0)
    assert old.fingerprint != new.fingerprint
    assert type(dn.from_spec(old.spec, known)) is dn.RandomizedResponse
    assert type(dn.from_spec(new.spec, known)) is ShortWords
    with pytest.raises(dn.UnsupportedVersion):
        dn.from_spec(new.spec)
    before, after = dn.simulate(old, [4000, 3000, 2000, 1000]), dn.simulate(new, [4000, 3000, 2000, 1000], seed=1)
    with pytest.raises(dn.FingerprintMismatch):
        _ = before + after
    first, second = old.estimate(before, "unbiased"), new.estimate(after, "unbiased")
    weight = second.std_error**2 / (first.std_error**2 + second.std_error**2)
    joint = weight * first.frequencies + (1 - weight) * second.frequencies
    assert np.abs(joint - [0.4, 0.3, 0.2, 0.1]).max() < 0.05
