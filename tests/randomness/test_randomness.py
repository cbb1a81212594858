"""Words, coins, integers and subsets: exact, and the same byte for byte in any language."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import deniable as dn
from deniable.randomness import bounds
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests import ROOT

KEY = bytes(range(32))
VECTORS = ROOT / "vectors"


def test_words_are_the_documented_keystream() -> None:
    block_cipher = Cipher(algorithms.AES256(KEY), modes.ECB()).encryptor()
    for stream in (0, 1, 2**40):
        wanted = []
        for block in range(3):
            output = block_cipher.update(stream.to_bytes(8, "big") + block.to_bytes(8, "big"))
            wanted += [int.from_bytes(output[:8], "little"), int.from_bytes(output[8:], "little")]
        assert Keystream(KEY).stream(stream).words(6).tolist() == wanted


def test_filling_and_reading_give_the_same_words() -> None:
    buffer = np.empty(12, np.uint64)
    Keystream(KEY).stream(0).fill(memoryview(bytes(80)), buffer)
    assert buffer[:10].tolist() == Keystream(KEY).stream(0).words(10).tolist()


def test_the_overflow_of_a_report_is_a_stream_of_its_own() -> None:
    overflow = Keystream(KEY).overflow(3)
    assert [next(overflow) for _ in range(5)] == Keystream(KEY).stream(4).words(5).tolist()


def test_fresh_keys_differ_and_a_failing_system_generator_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Keystream.fresh().key != Keystream.fresh().key

    def broken(_: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr("os.urandom", broken)
    with pytest.raises(OSError, match="no entropy"):
        dn.mechanism("grr", k=3, epsilon=1.0).privatize([0])


def test_a_key_is_never_printed() -> None:
    assert "key" not in repr(Keystream(KEY))


def test_seeds_are_checked() -> None:
    for seed in (-1, 2**63, 1.5, "7"):
        with pytest.raises(dn.InvalidArgument):
            Keystream.seeded(seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 7, 11, 16])
def test_every_integer_below_the_bound_is_equally_likely(bound: int) -> None:
    # all six-bit words, at the top of 64-bit ones; a rejected word is not replaced here
    rejection = rejection_bound(bound, 64) << 58
    drawn: Counter[int] = Counter()
    for word in range(64):
        try:
            drawn[Choices([word << 58], iter(())).below(bound, rejection)] += 1
        except StopIteration:
            continue
    assert set(drawn) == set(range(bound))
    assert len(set(drawn.values())) == 1


def test_rejected_words_are_replaced_in_order() -> None:
    assert Choices([0], iter([0, 2**63])).below(3) == 1  # 0 is rejected twice


@pytest.mark.parametrize(("k", "size"), [(4, 0), (4, 1), (4, 2), (5, 3), (4, 4)])
def test_every_subset_is_equally_likely(k: int, size: int) -> None:
    # one word for every outcome of a draw, j+1 for the j-th one, in all combinations
    seen: Counter[tuple[int, ...]] = Counter()
    outcomes = [[(drawn * 2**64 + 2**63) // bound for drawn in range(bound)] for bound in range(k - size + 1, k + 1)]
    for words in itertools.product(*outcomes):
        seen[Choices(words, iter(())).subset(k, size)] += 1
    assert len(seen) == math.comb(k, size)
    assert len(set(seen.values())) == 1
    assert all(list(subset) == sorted(set(subset)) and len(subset) == size for subset in seen)


def test_a_subset_reads_one_word_an_element() -> None:
    words = Keystream(KEY).stream(0).words(5).tolist()
    assert len(Choices(words, iter(())).subset(10, 5)) == 5
    with pytest.raises(IndexError):
        Choices(words[:4], iter(())).subset(10, 5)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 0.1, 1.0, math.log(2), 2.0, 30.0, 50.0])
def test_the_exponential_is_bounded_from_below_and_tightly(epsilon: float) -> None:
    import mpmath

    with mpmath.workdps(80):
        exact = mpmath.exp(mpmath.mpf(epsilon)) * 2**64
        assert bounds.exponential_below(epsilon) == Fraction(int(mpmath.floor(exact)), 2**64)


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(10**30 + 1, 10**30), Fraction(2**90, 7)])
def test_logarithms_are_rounded_to_the_safe_side(ratio: Fraction) -> None:
    import mpmath

    above = bounds.logarithm_above(ratio)
    with mpmath.workdps(80):
        exact = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        assert mpmath.mpf(above) >= exact > mpmath.mpf(math.nextafter(above, -math.inf))
        slack = bounds.logarithm_slack(70.0, ratio)
        assert mpmath.mpf(slack) <= 70 - exact


def whole_numbers(payloads: list[Any]) -> list[Any]:
    """Payloads as numbers; 64-bit words are written as decimal strings, which every language reads exactly."""
    return [whole_numbers(entry) if isinstance(entry, list) else int(entry) for entry in payloads]


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*.json")), ids=lambda path: path.stem)
def test_the_published_vectors_are_reproduced(path: Path) -> None:
    vector = json.loads(path.read_text())
    m = dn.from_spec(json.dumps(vector["spec"]))
    assert m.fingerprint == vector["fingerprint"]
    assert m.spec.to_json() == vector["canonical"]
    keystream = Keystream(bytes.fromhex(vector["key"]))
    assert [str(word) for word in keystream.stream(0).words(4).tolist()] == vector["first_words"]
    indices = m.domain.indices(vector["values"])
    payloads = m.payloads(indices, keystream)
    assert payloads.tolist() == whole_numbers(vector["payloads"])
    encoded = [
        m.encode(report).hex() for report in map(dn.Reports(payloads, m.fingerprint).__getitem__, range(len(payloads)))
    ]
    assert encoded == vector["encoded"]
    assert m.summarize(payloads).to_bytes().hex() == vector["summary"]


def test_there_is_a_vector_for_every_mechanism() -> None:
    assert {path.stem.split("-")[0] for path in VECTORS.glob("*.json")} == set(dn.list_mechanisms())


@pytest.mark.parametrize("first", [0, 1, 2, 7, 2**20 + 1])
def test_a_stream_can_be_read_from_any_word(first: int) -> None:
    wanted = Keystream(KEY).stream(5).words(first + 9)[first:]
    assert Keystream(KEY).stream(5, first).words(9).tolist() == wanted.tolist()


def test_words_beyond_the_32nd_bit_of_the_counter_are_the_documented_ones() -> None:
    block_cipher = Cipher(algorithms.AES256(KEY), modes.ECB()).encryptor()
    output = block_cipher.update((1).to_bytes(8, "big") + (2**40).to_bytes(8, "big"))
    assert Keystream(KEY).stream(1, 2**41 + 1).words(1).tolist() == [int.from_bytes(output[8:], "little")]
