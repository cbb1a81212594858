"""Running a command: its exit code, and every failure as one line that says what is wrong, then what to do."""

from __future__ import annotations

import csv
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from deniable.cli.signals import Ended, ending_tidily
from deniable.cli.streams import echo, echo_json, prepare, printable
from deniable.core.errors import DeniableError

STANDARD = "-"  # standard input or output
SHOW_VALUES = "--show-values quotes it"  # in a message about a value that is a person's secret
_LONGEST = 600
BROKEN_PIPE, WRONG, INTERRUPTED = 1, 2, 130


class CommandError(Exception):
    """A command cannot do what it was asked to do. The message states the rule first, then the remedy."""


_PLAIN = (CommandError, DeniableError, UnicodeDecodeError, csv.Error)


class Group(TyperGroup):
    """A group of commands whose summaries are wrapped where they are long, not cut."""

    def format_commands(self, _context: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(command)) for name, command in self.commands.items()])


def _summary(command: Any) -> str:
    """The first paragraph of a command's help."""
    return " ".join((command.help or "").partition("\n\n")[0].split())


def new_app(*, add_completion: bool = False, cls: type[TyperGroup] = Group, **options: Any) -> typer.Typer:
    """Make a typer program with plain help, because rich's takes 0.1 s. In docstrings, \\b keeps lines apart."""
    return typer.Typer(
        cls=cls,
        add_completion=add_completion,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        **options,
    )


def run_program(app: typer.Typer, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 2 for any error, 128 and its number when ended by a signal.

    An error is one line on stderr; with --json it is a JSON object with the members error, kind and code. A reader
    that has gone away (`| head`) is not an error, but ends the command.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    prepare()
    try:
        if sys.stdout is None:
            raise CommandError("standard output is closed. To see nothing, send it to /dev/null.")
        with ending_tidily():
            code = _run(app, name, given or ["--help"])
            sys.stdout.flush()  # a full disk is noticed here, not after main has returned
        return code
    except BrokenPipeError:
        _abandon(sys.stdout)
        return BROKEN_PIPE
    except Ended as ended:
        return _complain(name, str(ended), type(ended).__name__, 128 + ended.number, given)
    except (KeyboardInterrupt, typer.Abort):
        return _complain(name, "interrupted", "Interrupted", INTERRUPTED, given)
    except Exception as error:
        if os.environ.get("DENIABLE_TRACEBACK"):
            raise
        if isinstance(error, OSError):
            _abandon(sys.stdout)
        return _complain(name, one_line(error), _kind(error), WRONG, given)


def _run(app: typer.Typer, name: str, arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            if f"_{name.upper()}_COMPLETE" in os.environ:  # a shell wants a line completed
                return int(_ended(lambda: command.main(arguments, prog_name=name)) or 0)
            # not command(), which would end the process and word the errors itself
            made = _ended(lambda: command.make_context(name, arguments))
            if isinstance(made, int):
                return made
            with made as context:
                command.invoke(context)
        except typer.Exit as finished:
            return finished.exit_code
        except SystemExit as finished:
            if isinstance(finished.__context__, BrokenPipeError):  # rich's, where nobody reads its table
                raise finished.__context__ from None
            # of code that a command was given to run: nothing was done
            raise CommandError(f"the command was ended by sys.exit({finished.code!r}) before it was done") from finished
    return 0


def _ended(call: Callable[[], Any]) -> Any:
    """What a call of typer's returns, or the exit code, which is how it ends a completion and its installation."""
    try:
        return call()
    except SystemExit as finished:
        return int(finished.code or 0)


def _complain(name: str, message: str, kind: str, code: int, arguments: list[str]) -> int:
    if "--json" in arguments:
        echo_json(json.dumps({"error": message, "kind": kind, "code": code}, ensure_ascii=False), err=True)
    else:
        echo(f"{name}: error: {message}", err=True)
    return code


def _kind(error: BaseException) -> str:
    """The class of an error; of one that names its file, the class of the error in that file."""
    cause = error.__cause__
    return type(cause if isinstance(error, CommandError) and cause is not None else error).__name__


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    echo(f"deniable: warning: {one_short_line(str(message))}", err=True)


def _abandon(stream: TextIO | None) -> None:
    """Keep the interpreter from writing the rest, and failing once more, when it ends."""
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())  # type: ignore[union-attr]


def one_line(error: BaseException) -> str:
    """Describe an error in one printable line."""
    return one_short_line(_wording(error))


def one_short_line(text: str) -> str:
    """Cut a text to one printable line."""
    lines = map(str.strip, text[: 4 * _LONGEST].splitlines())  # spaces within a line may be what is wrong
    text = printable(" ".join(filter(None, lines)))
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
