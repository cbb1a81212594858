"""Every error the package raises on purpose, as one tree.

    DeniableError
    ├── InvalidArgument        an argument breaks a rule: name, value, rule     (also a ValueError)
    │   └── ValueOutsideDomain   a value the domain does not allow: value, position
    ├── SpecError              a spec that is damaged, unknown or inconsistent  (also a ValueError)
    │   └── UnsupportedVersion   written by a newer release than this one
    ├── FingerprintMismatch    reports or summaries of another spec: expected, found
    ├── MalformedReport        bytes or numbers that no client could have sent  (also a ValueError)
    ├── MalformedSummary       bytes that are not a whole summary               (also a ValueError)
    ├── SimulatedReport        a seeded report about to leave the device
    ├── CountOverflow          a sum of counts beyond 2^62                      (also an OverflowError)
    ├── EmptySummary           an estimate was requested from no reports
    └── MissingExtra           an optional package is not installed             (also an ImportError)

Exceptions carry the objects they are about, so that a service can map them to status codes.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "CountOverflow",
    "DeniableError",
    "EmptySummary",
    "FingerprintMismatch",
    "InvalidArgument",
    "MalformedReport",
    "MalformedSummary",
    "MissingExtra",
    "SimulatedReport",
    "SpecError",
    "UnsupportedVersion",
    "ValueOutsideDomain",
]

_LONGEST = 2000  # characters of a message


class DeniableError(Exception):
    """Base of every error raised on purpose. It can be pickled, so that worker processes can raise it.

    However long the text that an error quotes, its message stays short.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message if len(message) <= _LONGEST else f"{message[: _LONGEST - 3]}...")

    def __reduce__(self) -> tuple[object, ...]:
        # Exception would call the class with the message, but the constructors here take other arguments
        return _rebuilt, (type(self), self.args, self.__dict__)


class InvalidArgument(DeniableError, ValueError):
    """An argument breaks a rule: "epsilon must be positive, got -1.0". A hint says what to do instead."""

    def __init__(self, name: str, rule: str, value: object, hint: str = "") -> None:
        self.name = name
        self.rule = rule
        self.value = value
        self.hint = hint
        got = self._got()
        advice = f"{'' if got.endswith('...') else '.'} {hint}" if hint else ""
        super().__init__(f"{name} must {rule}, got {got}{advice}")

    def _got(self) -> str:
        return shown(self.value)


class ValueOutsideDomain(InvalidArgument):
    """A value the domain does not allow, with its position in the batch.

    The value is a person's secret: programs find it in `value`, but the message, which may end in a log, names only its
    type.
    """

    def __init__(self, value: object, rule: str, position: int | None = None, hint: str = "") -> None:
        self.position = position
        where = "value" if position is None else f"value at position {position}"
        super().__init__(where, rule, value, hint)

    def _got(self) -> str:
        return kind_of(self.value)


class SpecError(DeniableError, ValueError):
    """A spec that is damaged, unknown or inconsistent."""


class UnsupportedVersion(SpecError):
    """A document or file written by a newer release than this one."""

    def __init__(self, what: str, found: object, newest: object) -> None:
        self.found = found
        self.newest = newest
        super().__init__(f"{what} has version {shown(found)}; this release reads up to version {newest}")


class FingerprintMismatch(DeniableError):
    """Reports or summaries made under another spec."""

    def __init__(self, what: str, expected: str, found: str) -> None:
        self.expected = expected
        self.found = found
        super().__init__(f"{what} belongs to another spec: fingerprint {found[:12]}..., expected {expected[:12]}...")


class MalformedReport(DeniableError, ValueError):
    """Bytes or numbers that no client of this spec could have sent."""


class MalformedSummary(DeniableError, ValueError):
    """Bytes that are not one whole, undamaged summary."""


class SimulatedReport(DeniableError):
    """A seeded report was about to leave the device; only fresh randomness protects its sender."""


class CountOverflow(DeniableError, OverflowError):
    """A sum of counts beyond 2^62; nothing was added."""


class EmptySummary(DeniableError):
    """An estimate was requested from no reports."""


class MissingExtra(DeniableError, ImportError):
    """An optional package is not installed."""

    def __init__(self, what: str, package: str) -> None:
        self.package = package
        super().__init__(f"{what} needs an optional package: pip install '{package}'")


def _rebuilt(kind: type[DeniableError], args: tuple[object, ...], state: dict[str, object]) -> DeniableError:
    """Rebuild an error from its pickled state."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class _Described(str):
    """A description in place of a value, which messages do not put in quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def kind_of(value: object) -> str:
    """Describe a value by its type alone."""
    return _Described("None" if value is None else f"a value of type {cut(type(value).__name__)}")


def listed(names: Iterable[object], most: int = 8) -> str:
    """List names in an error message: the first few, each cut to one short line."""
    every = [str(name) for name in names]
    more = [f"and {len(every) - most:,} more"] if len(every) > most else []
    return ", ".join([*(cut(name) for name in every[:most]), *more])


def cut(text: str, limit: int = 60) -> str:
    """Cut a text to one short line."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(text) <= 4 * limit and len(line) <= limit else line[: limit - 3] + "..."


def shown(value: object, limit: int = 60) -> str:
    """Format a value for an error message: its repr, cut to one short line; a text keeps its spaces."""
    try:
        text = repr(value)
        if type(value) is str:
            return text if len(text) <= limit else text[: limit - 3] + "..."
        return cut(text, limit)
    except (ValueError, RecursionError):  # an integer with thousands of digits, or lists in lists
        return f"a {type(value).__name__} too long to print"
