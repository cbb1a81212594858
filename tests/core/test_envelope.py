"""The one envelope of summaries and documents: its bytes, its refusals, its fingerprint."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest

import deniable as dn
from deniable.core.documents import read_json
from deniable.core.summary import Envelope, exact_total

ENVELOPE = Envelope(b"TEST", 2, struct.Struct("<HB"), "a test")


def sealed(version: int, header: tuple[int, int], contents: bytes) -> bytes:
    body = b"TEST" + bytes([version]) + struct.pack("<HB", *header) + contents
    return body + hashlib.sha256(body).digest()


def test_the_bytes_are_magic_version_header_contents_and_checksum() -> None:
    data = ENVELOPE.seal((3, 7), b"abc")
    assert data == sealed(2, (3, 7), b"abc")
    assert ENVELOPE.unseal(data, promised=lambda length, _: length) == ((3, 7), b"abc")
    assert ENVELOPE.unseal(bytearray(data))[1] == b"abc"


def test_an_older_version_is_read() -> None:
    assert ENVELOPE.unseal(sealed(1, (0, 0), b""))[0] == (0, 0)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("text", "must be bytes, got str"),
        (b"else" + bytes(50), "these bytes are not a test: the magic number is missing"),
        (b"TEST" + bytes(10), "truncated: 14 bytes"),
        (sealed(2, (4, 7), b"abc"), "has 43 bytes, its header promises 44"),
        (sealed(2, (3, 7), b"abc")[:-1] + b"?", "summary is damaged"),
        (sealed(0, (3, 7), b"abc"), "unknown version 0"),
    ],
)
def test_what_is_not_one_whole_summary_is_refused(data: object, says: str) -> None:
    with pytest.raises(dn.MalformedSummary, match=says):
        ENVELOPE.unseal(data, promised=lambda length, _: length)


def test_without_a_promised_length_truncation_looks_like_damage() -> None:
    with pytest.raises(dn.MalformedSummary, match="truncated or damaged"):
        ENVELOPE.unseal(sealed(2, (3, 7), b"abc")[:-1])


def test_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(dn.UnsupportedVersion, match="version 3; this release reads up to version 2"):
        ENVELOPE.unseal(sealed(3, (3, 7), b"abc"))


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', "{", "[" * 100_000, 5, None])
def test_only_plain_json_text_is_a_document(text: object) -> None:
    with pytest.raises(dn.SpecError, match="a thing"):
        read_json(text, "a thing")


def test_a_fingerprint_is_the_hash_of_the_canonical_json() -> None:
    spec = dn.mechanism("grr", k=3, epsilon=1.0).spec
    protocol = dn.HeavyHitters.new(epsilon=4.0, alphabet="ab", max_bytes=3)
    for document in (spec, protocol):
        assert document.fingerprint == hashlib.sha256(document.to_json().encode()).hexdigest()
    assert spec != protocol


def test_a_total_beyond_64_bits_is_exact() -> None:
    assert exact_total(np.full(7, 2**62, np.int64)) == 7 * 2**62
    assert exact_total(np.array([2**62, 2**31 - 1, 5])) == 2**62 + 2**31 + 4
    assert exact_total(np.zeros(0, np.int64)) == 0
