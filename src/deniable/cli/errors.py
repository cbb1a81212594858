"""Every failure of a command as one line: what is wrong, then what to do."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager

from deniable.core.errors import DeniableError

STANDARD = "-"  # standard input or output
_LONGEST = 600


class CommandError(Exception):
    """A command cannot do what it was asked to do. The message states the rule first, then the remedy."""


_PLAIN = (CommandError, DeniableError, UnicodeDecodeError, csv.Error)


def one_line(error: BaseException) -> str:
    """Describe an error in one printable line."""
    text = " ".join(_wording(error).split())
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


@contextmanager
def about(name: str) -> Iterator[None]:
    """Name the file that an error is about, unless the error names it already."""
    try:
        yield
    except Exception as error:
        nameless = isinstance(error, OSError) and error.filename is None
        if nameless or isinstance(error, _PLAIN) or _of_arrow(error):
            where = "standard input" if name == STANDARD else name
            raise CommandError(f"{where}: {_wording(error)}") from error
        raise


def _wording(error: BaseException) -> str:
    if hasattr(error, "format_message"):  # a usage error, of typer or of click
        return _usage(error)
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 text: byte {error.object[error.start]:#04x} is out of place"
    if isinstance(error, (CommandError, DeniableError, csv.Error)) or _of_arrow(error):
        return str(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{error.filename}: {reason}" if error.filename else reason
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    return f"unexpected {type(error).__name__}: {error} (DENIABLE_TRACEBACK=1 shows where)"


def _usage(error: BaseException) -> str:
    message = str(error.format_message()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    return f"{message} (see {context.command_path} --help)" if context else message


def _of_arrow(error: BaseException) -> bool:
    """Whether pyarrow raised this error, judged by name so that pyarrow need not be loaded."""
    return any(kind.__module__.startswith("pyarrow") for kind in type(error).__mro__)
