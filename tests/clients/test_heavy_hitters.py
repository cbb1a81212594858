"""Heavy hitters in TypeScript: the same group and the same report from the same keys, and the same refusals."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import deniable as dn
from deniable.heavy_hitters.strings import sequences
from deniable.mechanisms.registry import open_mechanisms
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests.clients.typescript import Client

SETTINGS: list[dict[str, Any]] = [
    {"epsilon": 4.0, "alphabet": "abcdefghij", "max_bytes": 6, "lengths": (3, 5, 7), "cohorts": 64},
    {"epsilon": 1.0, "max_bytes": 12, "lengths": (2, 4, 6, 8, 10, 13), "key": "home", "mechanism": "hcms"},
    {"epsilon": 2.0, "max_bytes": 9, "mechanism": "orappor", "lengths": (4, 10), "cohorts": 16, "buckets": 70},
    {"epsilon": 3.0, "max_bytes": 8, "mechanism": "cms", "lengths": (3, 6, 9), "cohorts": 32, "buckets": 40},
]
TEXTS = ["", "a", "example.org", "naïve", "漢字漢字漢字", "🦜🦜🦜🦜", "x" * 12, "x" * 13, "é" * 200]


def of(setting: dict[str, Any]) -> dn.HeavyHitters:
    return dn.HeavyHitters.new(**setting)


def test_the_settings_have_every_mechanism_of_open_strings() -> None:
    assert {level.name for setting in SETTINGS for level in of(setting).levels} == set(open_mechanisms())


@pytest.mark.parametrize("setting", SETTINGS, ids=range(len(SETTINGS)))
def test_both_draw_the_same_group_and_make_the_same_report(setting: dict[str, Any], client: Client, seed: int) -> None:
    hh, source = of(setting), random.Random(seed)
    values = [source.choice(TEXTS) for _ in range(100)]
    keys = [[source.randbytes(32).hex(), source.randbytes(32).hex()] for _ in values]
    task = {"do": "levels", "spec": hh.to_json(), "fingerprint": hh.fingerprint, "values": values, "keys": keys}
    (found,) = client.ask([task])
    assert {level for level, _ in found} == set(range(len(hh.levels)))
    for value, (group, own), (level, sent) in zip(values, keys, found, strict=True):
        keystream = Keystream(bytes.fromhex(group))
        assert level == Choices(keystream.stream(0).words(1), keystream.overflow(0)).below(len(hh.levels))
        made = hh.levels[level]
        (sequence,) = sequences([value], hh.max_bytes)
        payloads = made.payloads(made.domain.indices([sequence[: hh.lengths[level]]]), Keystream(bytes.fromhex(own)))
        (report,) = dn.Reports(payloads, made.fingerprint)
        assert bytes.fromhex(sent) == made.encode(report)
        assert made.decode(bytes.fromhex(sent)).payload == report.payload


def test_wrong_documents_and_answers_are_refused(client: Client) -> None:
    document = of(SETTINGS[0]).to_dict()
    grr = dn.mechanism("grr", k=3, epsilon=1.0).spec.to_dict()
    wrong = {
        'a heavy-hitter spec must have the member "heavy_hitters": 1': grr,
        "a heavy-hitter spec has a missing or unknown member: more": {**document, "more": 1},
        "the lengths of prefixes must rise, up to one more than max_bytes": {
            **document,
            "levels": document["levels"][::-1],
        },
        "the levels must take open strings": {**document, "levels": [grr]},
        "alphabet must not be empty": {**document, "alphabet": ""},
        "max_bytes must be a number from 1 to 255": {**document, "max_bytes": 0},
    }
    tasks = [{"do": "levels", "spec": json.dumps(each), "values": [], "keys": []} for each in wrong.values()]
    assert client.refusals(tasks) == [("spec", message) for message in wrong]
    for each in wrong.values():
        with pytest.raises(dn.DeniableError):
            dn.HeavyHitters.from_json(json.dumps(each))
    values: list[Any] = [1, None, {"bytes": "ff"}]
    keys = [["00" * 32, "00" * 32]]
    tasks = [{"do": "levels", "spec": json.dumps(document), "values": [value], "keys": keys} for value in values]
    assert client.refusals(tasks) == [("value", "the answer must be text")] * 3
