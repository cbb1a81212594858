"""The TypeScript client makes what the published vectors say, and takes each step of the public hash functions."""

from __future__ import annotations

import json
from math import lgamma, log, log2
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.layouts.subset_code import code_bits_of
from deniable.randomness.bounds import exponential_below
from tests import ROOT
from tests.clients.typescript import Client

VECTORS = sorted((ROOT / "vectors").glob("*.json"))


def vector(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def task(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "do": "reports",
        "spec": found["canonical"],
        **{name: found[name] for name in ("fingerprint", "key", "values")},
    }


def test_every_vector_is_reproduced_byte_for_byte(client: Client) -> None:
    found = [vector(path) for path in VECTORS]
    answers = client.ask([task(each) for each in found])
    assert {each["spec"]["mechanism"] for each in found} == set(dn.list_mechanisms())
    for path, each, answer in zip(VECTORS, found, answers, strict=True):
        assert answer == each["encoded"], path.name


def test_a_spec_is_read_from_text_bytes_and_plain_data_alike(client: Client) -> None:
    found = vector(VECTORS[0])
    text: str = found["canonical"]
    sources = [
        text,
        json.dumps(found["spec"], indent=3),
        found["spec"],
        {"hex": (b"\xef\xbb\xbf" + text.encode()).hex()},
    ]
    answers = client.ask([{"do": "read", "spec": source} for source in sources])
    assert {answer["fingerprint"] for answer in answers} == {found["fingerprint"]}


def test_a_changed_key_word_or_value_changes_the_reports(client: Client) -> None:
    found = vector(ROOT / "vectors" / "oue-labels.json")
    same = task(found)
    others = [{**same, "key": "01" + same["key"][2:]}, {**same, "values": same["values"][::-1]}]
    for answer in client.ask(others):
        assert answer != found["encoded"]


def test_the_hash_functions_take_the_steps_that_the_vectors_say(client: Client) -> None:
    found = vector(ROOT / "vectors" / "hashing" / "functions.json")
    asked = {
        "do": "hashes",
        "digests": [[each["bytes"], each["key"].encode().hex()] for each in found["digests"]],
        "buckets": [[each[name] for name in ("seed", "number", "value", "buckets")] for each in found["buckets"]],
        "permutations": [
            [each["seed"], each["number"], index, each["size"]]
            for each in found["permutations"]
            for index in range(len(each["images"]))
        ],
    }
    (answer,) = client.ask([asked])
    assert answer["digests"] == [each["digest"] for each in found["digests"]]
    assert answer["buckets"] == [each["bucket"] for each in found["buckets"]]
    assert answer["permutations"] == [image for each in found["permutations"] for image in each["images"]]


def near_whole_bits() -> list[tuple[int, int]]:
    """Sets of some thousand values whose number is so near a power of two that a logarithm does not decide."""

    def bits(k: int, w: int) -> float:
        return (lgamma(k + 1) - lgamma(w + 1) - lgamma(k - w + 1)) / log(2) + log2(129 / 128)

    pairs = ((k, w) for k in range(3000, 3010) for w in range(1, k))
    return [(k, w) for k, w in pairs if abs(bits(k, w) - round(bits(k, w))) < 1e-4]


def test_codes_of_sets_have_as_many_bits_as_in_python(client: Client) -> None:
    pairs = [(k, w) for k in range(2, 60) for w in range(1, k)] + near_whole_bits()
    assert len(pairs) > 1711
    (found,) = client.ask([{"do": "codes", "pairs": pairs}])
    assert found == [code_bits_of(k, w) for k, w in pairs]


@pytest.mark.parametrize(
    "epsilons", [[1e-300, 1e-12, 0.1, 1.0, 1.5, 2.302585092994046, 31.999999999999996, 32.0, 50.0]]
)
def test_the_integer_series_gives_the_same_bound(epsilons: list[float], client: Client) -> None:
    (found,) = client.ask([{"do": "bounds", "epsilons": epsilons}])
    assert [int(each) for each in found] == [exponential_below(epsilon) * 2**64 for epsilon in epsilons]
