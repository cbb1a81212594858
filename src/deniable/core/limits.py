"""How much a spec may cost whoever reads it: the one place where the limits are stated.

A spec of 200 bytes can name a mechanism that takes gigabytes. So every mechanism states what it costs as a formula of
its parameters (`cost`), and `from_spec` compares it with the limits before anything is built.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

from deniable.core.errors import InvalidArgument, SpecError
from deniable.core.validate import whole

_BYTES_PER_COUNT = 8
_AT_ONCE = 0.01  # seconds: less is not worth stating


class Memory(NamedTuple):
    """Peak bytes of three steps: making the mechanism, its first report, and a summary."""

    building: int
    report: int
    summary: int

    def __str__(self) -> str:
        named = {"mechanism": self.building, "first report": self.report, "summary": self.summary}
        return ", ".join(f"{step} {_bytes(taken)}" for step, taken in named.items())


@dataclass(frozen=True)
class Cost:
    """What a mechanism costs, by formulas that need no table: sizes, bytes and time.

    Bytes and time are upper estimates, for making the mechanism and then one report as a device does; a batch also
    needs the tables of its compiled loop.
    """

    cells: int = 0  # counts of a summary
    tables: int = 0  # entries of the largest table
    cohorts: int = 0
    moduli: int = 0
    blocks: int = 0
    building: int = 0  # bytes
    report: int = 0  # bytes
    nanoseconds: int = 0

    @property
    def memory(self) -> Memory:
        """Peak bytes of each step."""
        return Memory(self.building, self.report, _BYTES_PER_COUNT * self.cells)

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True, repr=False)
class Limits:
    """The most that `from_spec` accepts. The defaults keep a spec below half a second and 256 MiB.

    >>> Limits(cells=2**28)
    Limits(cells=268435456)
    """

    document: int = 2**21  # bytes of JSON
    labels: int = 2**16
    thresholds: int = 2**14
    cells: int = 2**24
    tables: int = 2**22
    cohorts: int = 2**16
    moduli: int = 2**8
    blocks: int = 2**13
    memory: int = 2**28  # bytes: the largest of the three steps
    seconds: float = 0.5

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name != "seconds":
                object.__setattr__(self, each.name, whole(0, **{each.name: value}))
            elif isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
                raise InvalidArgument("seconds", "be a number, 0 or more", value)  # NaN would be no limit

    def __repr__(self) -> str:
        pairs = ((each, getattr(self, each.name)) for each in fields(self))
        return f"Limits({', '.join(f'{each.name}={value}' for each, value in pairs if value != each.default)})"

    def check(self, cost: Cost) -> None:
        """Raise SpecError if a mechanism costs more than this."""
        for name, found in self._compared(cost):
            self.require(name, found)
        if cost.nanoseconds > self.seconds * 1e9:
            needs = f"{cost.nanoseconds / 1e9:.2g}" if cost.nanoseconds < 10**15 else _short(cost.nanoseconds // 10**9)
            raise self._refusal("seconds", f"about {needs} s to set up", self.seconds)

    def require(self, name: str, found: int) -> None:
        """Raise SpecError if a number exceeds the limit of this name."""
        most = getattr(self, name)
        if found > most:
            raise self._refusal(name, f"{_short(found)} {_UNITS.get(name, name)}", most)

    @staticmethod
    def _compared(cost: Cost) -> Iterator[tuple[str, int]]:
        for name in ("cells", "tables", "cohorts", "moduli", "blocks"):
            yield name, getattr(cost, name)
        yield "memory", max(cost.memory)

    @staticmethod
    def _refusal(name: str, needs: str, most: float) -> SpecError:
        hint = f"If you trust the spec, raise the limit: from_spec(..., limits=Limits({name}=...))."
        return SpecError(f"spec needs {needs}, above the limit {name}={most:,}. {hint}")


def checked(limits: object) -> Limits | None:
    """The limits of a call, which are Limits or None."""
    if limits is not None and not isinstance(limits, Limits):
        raise InvalidArgument("limits", "be Limits, such as Limits(cells=2**25), or None for none", limits)
    return limits


DEFAULT = Limits()
OWN = Limits(  # for files that users choose themselves, as on the command line
    document=2**28,
    labels=2**24,
    thresholds=2**16,
    cells=2**31,
    tables=2**28,
    moduli=2**12,
    blocks=2**22,
    memory=2**34,
    seconds=120.0,
)
_UNITS = {"document": "bytes of JSON", "memory": "bytes of memory", "tables": "entries of a table"}


def size(parameters: Mapping[str, object], name: str) -> int:
    """The whole number of this name, or 0 where it is something else, which the constructor will refuse."""
    value = parameters.get(name)
    try:
        return 0 if isinstance(value, bool) else max(0, operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        return 0


def length(parameters: Mapping[str, object], name: str) -> int:
    """The length of the list of this name, or 0 where it is something else."""
    value = parameters.get(name)
    return len(value) if isinstance(value, (list, tuple)) else 0


def setup_text(seconds: float) -> str:
    """The time to set a mechanism up, in words."""
    return f"about {seconds:.1g} s" if seconds > _AT_ONCE else "at once"


def _bytes(number: int) -> str:
    for unit, least in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number >= least:
            many = number / least
            return f"{many:.3g} {unit}" if many < 999.5 else f"{many:,.0f} {unit}"
    return "below 1 KiB"


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"over 2^{number.bit_length() - 1}"
