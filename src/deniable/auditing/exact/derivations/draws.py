"""What several derivations share: checks of draws and coins, and bitmaps written as words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deniable.auditing.exact.arithmetic import uneven
from deniable.auditing.exact.document import WORDS, Document

MOST_BITS = 14  # of reports that are rows of bits and may be enumerated
COIN_UNIT = 2**32  # coins tossed 64 at once have 32 bits


def draw_faults(document: Document, draws: Iterable[tuple[str, int]]) -> Iterator[str]:
    """What is wrong with the rejection bounds of draws, each given by the name of its threshold and its bound."""
    for name, bound in draws:
        rejection = document.threshold(name)
        if rejection != WORDS % bound and uneven(bound, rejection) != 1:
            yield (
                f"{name} must be {WORDS % bound} for a uniform draw among {bound}, got {rejection}: some outcomes are "
                f"{float(uneven(bound, rejection)):.17g} times as likely as others"
            )


def coin(document: Document, name: str) -> tuple[int, list[str]]:
    """The threshold of a coin of 32 bits as it runs, and what is wrong with it: bits that no coin compares."""
    threshold = document.threshold(name)
    beyond = threshold % COIN_UNIT
    fault = f"{name} must be a multiple of 2^32, since its coins have 32 bits; {beyond} more are ignored"
    return threshold - beyond, [fault] if beyond else []


def words_of(bits: int, count: int) -> tuple[int, ...]:
    """The bits of a number as words of 64, the least significant first."""
    data = (bits & (1 << 64 * count) - 1).to_bytes(8 * count, "little")  # shifts would take the square of the time
    return tuple(int.from_bytes(data[start : start + 8], "little") for start in range(0, 8 * count, 8))


def bits_of(words: Iterable[int]) -> int:
    """Words of 64 bits as one number."""
    return int.from_bytes(b"".join(int(word).to_bytes(8, "little") for word in words), "little")


def marked(bits: int) -> list[int]:
    """The places of the bits that are set."""
    data = bits.to_bytes(-(-bits.bit_length() // 8), "little")
    return [8 * at + place for at, byte in enumerate(data) if byte for place in range(8) if byte >> place & 1]


def described_bits(bits: int, what: str = "bits") -> str:
    """A row of bits in words."""
    places = marked(bits)
    listed = ", ".join(map(str, places[:8])) + (f" and {len(places) - 8} more" if len(places) > 8 else "")
    return f"{what} set: {listed}" if places else f"no {what} set"
