"""Reports from given keys over random specs: TypeScript makes them, Python makes the same and reads them back."""

from __future__ import annotations

import random
import time
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.randomness.choices import Choices, scaled
from deniable.randomness.keystream import MODULUS, Keystream
from tests.clients.settings import mechanisms, values_of
from tests.clients.typescript import TWINS, Client
from tests.running.figures import Record, pace

SPECS, REPORTS = 10, 30  # of each mechanism; a batch of so few takes the path of a device
HASHING = ("blh", "clh", "flh", "olh", "rhr")


def agree(client: Client, made: list[Mechanism], reports: int, source: random.Random) -> int:
    """Check that both make the same reports of random values from random keys; return how many were compared."""
    tasks = [
        {
            "do": "reports",
            "spec": m.spec.to_json(),
            "fingerprint": m.fingerprint,
            "values": values_of(m, reports, source),
            "key": source.randbytes(32).hex(),
        }
        for m in made
    ]
    compared = 0
    for m, task, found in zip(made, tasks, client.ask(tasks), strict=True):
        payloads = m.payloads(m.domain.indices(task["values"]), Keystream(bytes.fromhex(task["key"])))
        sent = [bytes.fromhex(each) for each in found]
        assert sent == m.encode_many(dn.Reports(payloads, m.fingerprint)), m.spec.to_json()
        assert m.decode_many(sent).data.tolist() == payloads.tolist()
        compared += len(sent)
    return compared


@pytest.mark.parametrize("name", TWINS)
def test_both_make_the_same_reports_of_random_specs(name: str, client: Client, seed: int) -> None:
    source = random.Random(f"{name} {seed}")
    assert agree(client, list(mechanisms(name, SPECS, source)), REPORTS, source) == SPECS * REPORTS


@pytest.mark.soak
@pytest.mark.parametrize("name", TWINS)
def test_both_make_ten_thousand_reports_of_random_specs(
    name: str, client: Client, seed: int, record_property: Record
) -> None:
    source, start = random.Random(f"{name} {seed}"), time.monotonic()
    compared = agree(client, list(mechanisms(name, 160, source)), 64, source)
    assert compared >= 10_000
    record_property("figure", f"reports of {name} by TypeScript and by Python: {pace(compared, start)}, all the same")


@pytest.mark.parametrize("name", HASHING)
def test_both_make_the_same_reports_under_an_id(name: str, client: Client, seed: int) -> None:
    source = random.Random(f"{name} {seed}")
    made = [m for m in mechanisms(name, 5, source) if isinstance(m, PublicCoin)]
    tasks: list[dict[str, Any]] = [
        {
            "do": "under",
            "spec": m.spec.to_json(),
            "values": values_of(m, 20, source),
            "keys": [source.randbytes(32).hex() for _ in range(20)],
            "ids": [source.randbytes(16).hex() for _ in range(20)],
        }
        for m in made
    ]
    for m, task, found in zip(made, tasks, client.ask(tasks), strict=True):
        for value, key, id_, sent in zip(task["values"], task["keys"], task["ids"], found, strict=True):
            keystream = Keystream(bytes.fromhex(key))
            choices = Choices(keystream.stream(0).words(2), keystream.overflow(0))
            truthful = choices.coin(m.thresholds["truth"])
            public = m.public_coin(bytes.fromhex(id_))
            payload = m._payload_of(m.domain.index(value), truthful, choices.below(m.classes), public)
            report = dn.Report(payload, m.fingerprint)
            assert bytes.fromhex(sent) == m.encode_class(report, bytes.fromhex(id_))
            assert m.decode_class(bytes.fromhex(sent), bytes.fromhex(id_)) == report


def test_a_rejected_public_number_is_replaced_by_that_of_the_next_counter(client: Client, seed: int) -> None:
    source = random.Random(seed)
    m = dn.mechanism("olh", k=100, epsilon=1.0, salt="é")
    assert isinstance(m, PublicCoin)
    ids = [source.randbytes(16) for _ in range(10)]
    salted = sha256("é".encode()).digest()
    words = [int.from_bytes(sha256(salted + each + (1).to_bytes(4, "big")).digest()[:8], "big") for each in ids]
    task = {"do": "rejected", "spec": m.spec.to_json(), "ids": [each.hex() for each in ids]}
    assert client.ask([task]) == [[scaled(word, m.publics)[0] for word in words]]


def extreme_words(m: Mechanism, count: int, source: random.Random) -> list[int]:
    """Words at the edges of every choice: beside the thresholds, and those that a product rejects."""
    starts = list(m.thresholds.values())
    if m.name == "grr":  # a word is divided by the share of a value
        truth = m.thresholds["truth"]
        starts += [truth + source.randrange(m.k) * ((MODULUS - truth) // m.k) for _ in range(9)]
    edges = [0, MODULUS - 1, *(start + step for start in starts for step in (-1, 0, 1))]
    return [source.choice([*edges, source.randrange(MODULUS)]) % MODULUS for _ in range(count)]


@pytest.mark.parametrize("name", TWINS)
def test_both_agree_beside_thresholds_and_where_words_are_rejected(name: str, client: Client, seed: int) -> None:
    source = random.Random(f"{name} {seed}")
    made = [m for m in mechanisms(name, 4, source) if m.domain.kind != "open"]
    tasks: list[dict[str, Any]] = []
    for m in made:
        rows = [extreme_words(m, m.stride, source) for _ in range(20)]
        spare = [source.choice([0, source.randrange(MODULUS)]) for _ in range(4 * m.stride + 40)]
        joined = [np.array(words, np.uint64).astype("<u8").tobytes().hex() for words in (*rows, spare)]
        spec, index = m.spec.to_json(), source.randrange(m.k)
        tasks.append({"do": "words", "spec": spec, "index": index, "words": joined[:-1], "overflow": joined[-1]})
    for m, task, found in zip(made, tasks, client.ask(tasks), strict=True):
        for words, sent in zip(task["words"], found, strict=True):
            own, spare = (np.frombuffer(bytes.fromhex(text), "<u8") for text in (words, task["overflow"]))
            payload = m.randomize_one(task["index"], Choices(own, iter(spare.tolist())))
            assert bytes.fromhex(sent) == m.layout.pack(payload), (m.spec.to_json(), words)


def test_a_difference_of_one_bit_would_be_noticed(client: Client, seed: int) -> None:
    source = random.Random(seed)
    (m,) = mechanisms("grr", 1, source)
    task = {"do": "reports", "spec": m.spec.to_json(), "values": values_of(m, 60, source), "key": "00" * 32}
    (found,) = client.ask([task])
    payloads = m.payloads(m.domain.indices(task["values"]), Keystream(bytes([1, *bytes(31)])))
    assert [bytes.fromhex(each) for each in found] != m.encode_many(dn.Reports(payloads, m.fingerprint))
