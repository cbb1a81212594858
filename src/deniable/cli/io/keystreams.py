"""The random words of many batches: fresh for each, or one seeded keystream continued across batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from deniable.cli.terminal import note
from deniable.randomness.keystream import Keystream, Stream


@dataclass(frozen=True)
class _Continued(Keystream):
    """The keystream of a batch that follows `before` reports, as if all reports were one batch."""

    before: int = field(kw_only=True)
    words: int = field(kw_only=True)  # of stream 0, that the reports before have read

    def stream(self, number: int, first: int = 0) -> Stream:
        return super().stream(number + self.before, first) if number else super().stream(0, self.words + first)


def keystreams(seed: int | None, words: Callable[[int], int]) -> Callable[[int], Keystream]:
    """Make a function that returns the keystream of the next batch, given its number of reports.

    With a seed, the batches together give the reports that `Mechanism.privatize` makes from all values at once, and a
    warning says that they protect nobody. A batch of n reports reads words(n) words of stream 0.
    """
    if seed is None:
        return lambda _: Keystream.fresh()
    seeded = Keystream.seeded(seed)
    note("warning: a seed makes this a simulation: anyone can repeat it, so these reports protect nobody")
    made = read = 0

    def following(reports: int) -> Keystream:
        nonlocal made, read
        keystream = _Continued(seeded.key, seeded.simulated, before=made, words=read)
        made += reports
        read += words(reports)
        return keystream

    return following
