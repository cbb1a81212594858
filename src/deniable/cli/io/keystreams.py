"""The random words of many batches: fresh for each, or one seeded keystream continued across batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from deniable.cli.terminal import note
from deniable.randomness.keystream import Keystream, Stream


@dataclass(frozen=True)
class _Continued(Keystream):
    """The keystream of a batch that follows `before` reports, as if all reports were one batch."""

    main: Stream = field(kw_only=True)  # shared by all batches, which read it in turn
    before: int = field(kw_only=True)

    def stream(self, number: int) -> Stream:
        return super().stream(number + self.before) if number else self.main


def keystreams(seed: int | None) -> Callable[[int], Keystream]:
    """Make a function that returns the keystream of the next batch, given its number of reports.

    With a seed, the batches together give the reports that `Mechanism.privatize` makes from all values at once, and a
    warning says that they protect nobody.
    """
    if seed is None:
        return lambda _: Keystream.fresh()
    seeded = Keystream.seeded(seed)
    note("warning: a seed makes this a simulation: anyone can repeat it, so these reports protect nobody")
    main = seeded.stream(0)
    made = 0

    def following(reports: int) -> Keystream:
        nonlocal made
        keystream = _Continued(seeded.key, seeded.simulated, main=main, before=made)
        made += reports
        return keystream

    return following
