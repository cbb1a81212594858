"""The channel of code that takes its random words as an argument, found by trying all words of few bits.

The code is a function of a value (an index from 0 to k - 1) and a tuple of words, each uniform below 2^bits. It
returns a report: a whole number, a string, bytes, a truth value, or a tuple of these; or None to reject the words, as
a draw with rejection does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from deniable.auditing.exact.channel import Channel, Witness, of_column, ordered
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
    counts = [Counter(each for each in _made(code, value, tried) if each is not None) for value in range(values)]
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
    reports = list(dict.fromkeys(report for seen in counts for report in seen))
    for report in reports:
        column = [Fraction(seen[report], total) for seen, total in zip(counts, accepted, strict=True)]
        best += max(column)
        ratio, witness = of_column(column, report)
        found.setdefault(ratio, witness)
    method = f"all {len(tried):,} words of {words} x {bits} bits"
    return Channel(values, ordered(found), best / values, False, len(reports), method, tuple(faults), shown)


def _made(code: Code, value: int, tried: Sequence[tuple[int, ...]]) -> list[Hashable]:
    """The report of each tuple of words. Each is made twice, the second time in the opposite order.

    Code that draws by itself or keeps state answers otherwise.
    """
    made = [_checked(code(value, words)) for words in tried]
    for place in reversed(range(len(tried))):
        again = _checked(code(value, tried[place]))
        if again != made[place]:
            raise InvalidArgument(
                "code",
                f"make the same report of value {value} from the same words",
                again,
                "It keeps state, or draws by itself: audit its reports by trials, with an adapter.",
            )
    return made


def _checked(report: Any) -> Hashable:
    if report is None:
        return None
    if isinstance(report, float) or getattr(getattr(report, "dtype", None), "kind", "") == "f":
        hint = "The last bits of a float can give the value away; an exact audit needs reports that are exact."
        raise InvalidArgument("a report", "be whole numbers, strings, bytes or truth values", report, hint)
    if isinstance(report, tuple | list):
        return tuple(map(_checked, report))
    if isinstance(report, str | bytes | bool | int):
        return report
    if hasattr(report, "dtype") and report.dtype.kind in "iub":
        return _checked(report.tolist())
    raise InvalidArgument("a report", "be whole numbers, strings, bytes or truth values, or a tuple of them", report)
