"""The channel of code that takes its random words as an argument, found by trying all words of few bits.

The code is a function of a value (an index from 0 to k - 1) and a tuple of words, each uniform below 2^bits. It
returns a report: a whole number, a string, bytes, a truth value, or a tuple of these; or None to reject the words, as
a draw with rejection does.

Code may remember what it did. So values take turns, and all is done twice, the second time in the opposite order; code
of a file also runs in a process of its own, where it remembers nothing of the first run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from deniable.auditing.exact.channel import Channel, Witness, of_column, ordered
from deniable.auditing.exact.replay import FileCode, digest
from deniable.auditing.foreign import foreign
from deniable.core.errors import InvalidArgument, shown

MOST_CALLS = 2**22

Code = Callable[[int, tuple[int, ...]], Hashable]


def channel_of(code: Code, values: int, words: int, bits: int) -> Channel:
    """Run the code on all words for every value; the reports' frequencies are the channel."""
    if not callable(code):
        raise InvalidArgument("code", "be a function of a value and its words", code)
    calls = 2 * values * 2 ** (words * bits)
    if min(values - 1, words, bits) < 1 or calls > MOST_CALLS:
        rule = f"be at least 2, 1 and 1, and take at most {MOST_CALLS:,} calls"
        raise InvalidArgument("values, words and bits", rule, (values, words, bits), "Fewer bits show the same faults.")
    tried = list(product(range(2**bits), repeat=words))
    counts: list[Counter[Any]] = [Counter() for _ in range(values)]
    shapes: dict[Any, Hashable] = {}
    for place, report in enumerate(_made(code, values, tried)):
        if report is not None:
            key = _key(report)
            counts[place % values][key] += 1
            shapes.setdefault(key, report)
    method = f"all {len(tried):,} words of {words} x {bits} bits"
    if isinstance(code, FileCode):
        method += ", again in a process of its own"
    else:
        method += "; what it remembers from value to value is looked for by order only"
    accepted = [seen.total() for seen in counts]
    if not all(accepted):
        raise InvalidArgument("code", "accept some words for every value", f"none for value {accepted.index(0)}")
    faults = []
    if len(set(accepted)) > 1:
        odd = next(value for value, number in enumerate(accepted) if number != accepted[0])
        rejected = [len(tried) - accepted[value] for value in (0, odd)]
        faults.append(
            f"how often words are rejected depends on the value: {rejected[0]} of {len(tried)} for value 0, "
            f"{rejected[1]} for value {odd}; whoever sees the time or the draws learns from it"
        )
    found: dict[Fraction | None, Witness] = {}
    best = Fraction(0)
    for key, report in shapes.items():
        column = [Fraction(seen[key], total) for seen, total in zip(counts, accepted, strict=True)]
        best += max(column)
        ratio, witness = of_column(column, report)
        found.setdefault(ratio, witness)
    return Channel(values, ordered(found), best / values, False, len(shapes), method, tuple(faults), shown)


def _made(code: Code, values: int, tried: Sequence[tuple[int, ...]]) -> list[Hashable]:
    """The report of each tuple of words and each value in turn."""
    with foreign("the code"):
        made = [checked_report(code(value, words)) for words in tried for value in range(values)]
        places = reversed(range(len(made)))
        again = (checked_report(code(place % values, tried[place // values])) for place in places)
        for place, report in zip(reversed(range(len(made))), again, strict=True):
            if _key(report) != _key(made[place]):
                raise _remembers(place % values, report)
    if isinstance(code, FileCode):
        digests = code.again(values, *_sizes(tried))
        for place, found in zip(reversed(range(len(made))), digests, strict=True):
            if found != digest(made[place]):
                raise _remembers(place % values, "another one in a fresh process")
    return made


def _sizes(tried: Sequence[tuple[int, ...]]) -> tuple[int, int]:
    """The number of words, and the bits of a word."""
    return len(tried[-1]), tried[-1][0].bit_length()


def _remembers(value: int, report: Any) -> InvalidArgument:
    rule = f"make the same report of value {value} from the same words"
    hint = "It keeps state, or draws by itself: audit its reports by trials, with an adapter."
    return InvalidArgument("code", rule, report, hint)


def _key(report: Hashable) -> Hashable:
    """What tells reports apart: 1 is not True, which Python takes for equal."""
    if isinstance(report, tuple):
        return tuple(map(_key, report))
    return type(report).__name__, report


def checked_report(report: Any) -> Hashable:
    """A report as plain data; refuse anything that is not exact."""
    if report is None:
        return None
    if isinstance(report, float) or getattr(getattr(report, "dtype", None), "kind", "") == "f":
        hint = "The last bits of a float can give the value away; an exact audit needs reports that are exact."
        raise InvalidArgument("a report", "be whole numbers, strings, bytes or truth values", report, hint)
    if isinstance(report, tuple | list):
        return tuple(map(checked_report, report))
    if isinstance(report, str | bytes | bool | int):
        return report
    if hasattr(report, "dtype") and report.dtype.kind in "iub":
        return checked_report(report.tolist())
    raise InvalidArgument("a report", "be whole numbers, strings, bytes or truth values, or a tuple of them", report)
