"""A string as a sequence: whole characters, and what ends it."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable.heavy_hitters.strings import CUT, END, Alphabet, pending, sequence


def is_whole(beginning: bytes) -> bool:
    return beginning[-1] in (CUT, END)


@given(st.text(), st.integers(1, 20))
def test_a_sequence_is_whole_characters_and_one_last_byte(text: str, max_bytes: int) -> None:
    found = sequence(text.encode(), max_bytes)
    assert len(found) <= max_bytes + 1
    assert text.startswith(found[:-1].decode())
    assert (found[-1] == END) == (len(text.encode()) <= max_bytes)
    assert found[-1] in (END, CUT)
    if found[-1] == CUT:  # one more character would not have fitted
        assert len(text[: len(found[:-1].decode()) + 1].encode()) > max_bytes


@given(st.lists(st.text(max_size=6), min_size=2, max_size=6, unique=True), st.integers(1, 8))
def test_no_sequence_begins_another(texts: list[str], max_bytes: int) -> None:
    found = sorted({sequence(text.encode(), max_bytes) for text in texts})
    assert not any(later.startswith(earlier) for earlier, later in itertools.pairwise(found))


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs")), max_size=8), st.integers(1, 6))
def test_every_text_is_among_the_extensions_of_its_beginnings(text: str, max_bytes: int) -> None:
    found, alphabet = sequence(text.encode(), max_bytes), Alphabet("".join(sorted(set(text))) or "x")
    for start, stop in itertools.pairwise((0, 1, 2, 4, max_bytes + 1) if max_bytes > 4 else (0, max_bytes + 1)):
        beginning = found[:start]
        if beginning and is_whole(beginning):
            return
        ended, going = alphabet.extensions(start, pending(beginning), stop, max_bytes)
        assert found[start:stop] in (ended if is_whole(found[:stop]) else going)


def test_extensions_are_distinct_counted_and_of_valid_text() -> None:
    for alphabet in (Alphabet("ab"), Alphabet("aé€😀"), Alphabet()):
        ended, going = alphabet.extensions(0, b"", 2, 5)
        both = ended + going
        assert len(set(both)) == len(both) == alphabet.count(0, 2, 5)
        assert all(is_whole(text) and text[:-1].decode().isprintable() for text in ended)
        assert not any(map(is_whole, going))
    both = Alphabet().extensions(0, b"", 2, 5)[1]
    assert {text[:2] for text in (character.encode() for character in "aé€😀߿ࠀ퟿") if len(text) > 1} <= set(both)


def test_default_lengths_are_few_and_fit_the_budget() -> None:
    assert dn.HeavyHitters.new(epsilon=1.0).lengths == (3, 5, 7, 9, 11, 13)
    letters = dn.HeavyHitters.new(epsilon=1.0, alphabet="abcdefghijklmnopqrstuvwxyz", max_bytes=12)
    assert letters.lengths == (4, 7, 10, 13)
    assert Alphabet("01").default_lengths(16, 2**20) == (17,)
    assert Alphabet().default_lengths(1, 10) == (1, 2)
