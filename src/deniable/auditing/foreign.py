"""Calls into the code that is audited: whatever it raises, and even if it ends the process, the audit says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deniable.core.errors import DeniableError, InvalidArgument

_HINT = "An audit needs code that does."


class CodeEnded(InvalidArgument):
    """The audited code ended its process: nothing was learnt of it."""

    def __init__(self, how: str) -> None:
        super().__init__("the code", "run to its end", how, _HINT)

    def _got(self) -> str:
        return f"the end of its process, {self.value}"


class CodeFailed(InvalidArgument):
    """The audited code raised an error, or asked for the process to end: nothing was learnt of it."""

    def __init__(self, what: str, error: BaseException) -> None:
        super().__init__(what, "run to its end", error, _HINT)

    def _got(self) -> str:
        error = self.value
        if isinstance(error, SystemExit):
            return f"sys.exit({'' if error.code is None else repr(error.code)})"
        if isinstance(error, SyntaxError) and error.lineno is not None:
            return f"a syntax error in line {error.lineno} ({error.msg})"
        return f"{type(error).__name__} ({error})" if str(error) else type(error).__name__


@contextmanager
def foreign(what: str) -> Iterator[None]:
    """Turn what foreign code raises into one error that names the code; errors of our own pass."""
    try:
        yield
    except (DeniableError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise CodeFailed(what, error) from error
