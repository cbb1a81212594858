"""Strings as byte sequences with an end marker, their prefixes, and the possible extensions of a prefix.

A string is encoded as its UTF-8 bytes followed by END. A string of more than `max_bytes` bytes is cut to as many whole
characters as fit, and ends in CUT instead of END. Neither byte occurs in UTF-8. So the sequences form a prefix-free
code, and a prefix that has its last byte is the string itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from deniable.core.caches import FieldsOnly, kept
from deniable.core.domain import check_text
from deniable.core.errors import InvalidArgument, ValueOutsideDomain

END, CUT = 0xFF, 0xFE
LONGEST_CHARACTER = 4
_SURVIVORS = 48  # prefixes per level that the default lengths leave room for
_FIRST = [*range(0x20, 0x7F), *range(0xC2, 0xF5)]  # bytes that begin a character, without control characters
_SECOND = {0xE0: range(0xA0, 0xC0), 0xED: range(0x80, 0xA0), 0xF0: range(0x90, 0xC0), 0xF4: range(0x80, 0x90)}


def sequence(data: bytes, max_bytes: int) -> bytes:
    """Return the bytes of a string followed by END, or cut and followed by CUT if it is too long."""
    if len(data) <= max_bytes:
        return data + bytes([END])
    stop = max_bytes
    while data[stop] & 0xC0 == 0x80:  # inside a character
        stop -= 1
    return data[:stop] + bytes([CUT])


def sequences(values: list[Any], max_bytes: int) -> list[bytes]:
    """Encode a batch of strings, or of their UTF-8 bytes; each distinct string is encoded once."""
    found: dict[Any, bytes] = {}
    for position, value in enumerate(values):
        if not isinstance(value, (str, bytes)):
            raise ValueOutsideDomain(value, "be text", position)
        if value not in found:
            try:
                data = value.encode() if isinstance(value, str) else value.decode().encode()
            except UnicodeError:
                raise ValueOutsideDomain(value, "be text", position) from None
            found[value] = sequence(data, max_bytes)
    return [found[value] for value in values]


def pending(prefix: bytes) -> bytes:
    """Return the bytes of an unfinished last character, if any."""
    for count in range(1, min(LONGEST_CHARACTER, len(prefix) + 1)):
        byte = prefix[-count]
        if byte >= 0xC0:
            return prefix[-count:] if count < _size(byte) else b""
        if byte < 0x80:
            break
    return b""


def _size(first: int) -> int:
    """The number of bytes of a character that begins with this byte."""
    return 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


@dataclass(frozen=True)
class Alphabet(FieldsOnly):
    """The characters to look for: those listed, or all but control characters."""

    characters: str | None = None

    def __post_init__(self) -> None:
        if self.characters is not None:
            check_text("alphabet", self.characters)
            if not self.characters:
                raise InvalidArgument("alphabet", "not be empty", self.characters)

    @cached_property
    def _following(self) -> dict[bytes, list[int]] | None:
        if self.characters is None:
            return None
        found: dict[bytes, set[int]] = defaultdict(set)
        for character in self.characters:
            data = character.encode()
            for place in range(len(data)):
                found[data[:place]].add(data[place])
        return {start: sorted(following) for start, following in found.items()}

    def following(self, unfinished: bytes) -> Any:
        """The bytes that may follow an unfinished character, or a complete one."""
        if self._following is not None:
            return self._following.get(unfinished, [])
        if not unfinished:
            return _FIRST
        return _SECOND.get(unfinished[0], range(0x80, 0xC0)) if len(unfinished) == 1 else range(0x80, 0xC0)

    def alike(self, unfinished: bytes) -> bytes:
        """A representative of the unfinished characters with the same continuations.

        Unless the alphabet is listed, these depend only on the first byte and the length.
        """
        return unfinished if self._following is not None else unfinished[:1] + b"\x80" * (len(unfinished) - 1)

    def extensions(self, length: int, unfinished: bytes, to: int, max_bytes: int) -> tuple[list[bytes], list[bytes]]:
        """The extensions of a prefix of `length` bytes up to `to` bytes: those that end, and those that do not."""
        return _extensions(self, length, unfinished, to, max_bytes)

    def count(self, length: int, to: int, max_bytes: int, unfinished: bytes = b"") -> int:
        """The number of extensions."""
        return _count(self, length, to, max_bytes, unfinished)

    def default_lengths(self, max_bytes: int, budget: int) -> tuple[int, ...]:
        """The fewest lengths that the budget of candidates allows: each length costs users, candidates only time."""
        lengths = [self._furthest(0, max_bytes, budget)]
        while lengths[-1] <= max_bytes:
            lengths.append(self._furthest(lengths[-1], max_bytes, budget // _SURVIVORS))
        return tuple(lengths)

    def _furthest(self, length: int, max_bytes: int, room: int) -> int:
        """The longest length, at least one byte more, whose extensions fit."""
        to = length + 1
        while to <= max_bytes and self.count(length, to + 1, max_bytes) <= room:
            to += 1
        return to


def _walk(alphabet: Alphabet, length: int, unfinished: bytes, to: int, max_bytes: int, grow: Callable[..., Any]) -> Any:
    """Walk all extensions: completed strings, and open prefixes grouped by their unfinished UTF-8 character.

    `grow` appends a byte to the accumulator of a state.
    """
    ended: Any = grow(None, None)
    states = {unfinished: grow(None, b"")}
    for place in range(length, to):
        following: dict[bytes, Any] = {}
        for state, there in states.items():
            if not state and place <= max_bytes:
                ended += grow(there, bytes([END]))
                if place > max_bytes - LONGEST_CHARACTER:
                    ended += grow(there, bytes([CUT]))
            if place < max_bytes:
                for byte in alphabet.following(state):
                    after = state + bytes([byte])
                    after = b"" if len(after) == _size(after[0]) else alphabet.alike(after)
                    if after not in following:
                        following[after] = grow(None, None)
                    following[after] += grow(there, bytes([byte]))  # lists grow in place
        states = following
    return ended, list(states.values())


@kept(size=lambda lists: sum(64 + len(text) for texts in lists for text in texts))
def _extensions(
    alphabet: Alphabet, length: int, unfinished: bytes, to: int, max_bytes: int
) -> tuple[list[bytes], list[bytes]]:
    def grow(there: list[bytes] | None, more: bytes | None) -> list[bytes]:
        if there is None:
            return [] if more is None else [b""]
        return [text + more for text in there]  # type: ignore[operator]

    ended, going = _walk(alphabet, length, unfinished, to, max_bytes, grow)
    return ended, [text for part in going for text in part]


@lru_cache(maxsize=4096)
def _count(alphabet: Alphabet, length: int, to: int, max_bytes: int, unfinished: bytes) -> int:
    def grow(there: int | None, more: bytes | None) -> int:
        return (0 if more is None else 1) if there is None else there

    ended, going = _walk(alphabet, length, unfinished, to, max_bytes, grow)
    return int(ended + sum(going))
