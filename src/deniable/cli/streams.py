"""What the program prints, whatever the terminal: text from files cannot command it, and every character gets out."""

from __future__ import annotations

import os
import re
import sys

import typer

# control characters, what turns the direction of text, separators of lines, and halves of surrogate pairs
_COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")


def printable(text: object, keep: str = "") -> str:
    """Return a text with all characters escaped that a terminal would obey, except those to keep.

    >>> printable("\x1b[31mred")
    '\\\\x1b[31mred'
    """
    return _COMMANDS.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), str(text))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def echo(text: object, *, err: bool = False) -> None:
    """Print lines of text."""
    typer.echo(printable(text, keep="\n"), err=err)


def echo_json(document: str, *, err: bool = False) -> None:
    """Print JSON. Characters that the terminal would obey, or its encoding lacks, are escaped as JSON does."""
    stream = sys.stderr if err else sys.stdout
    wide = (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")
    safe = _COMMANDS.sub(lambda found: found[0] if found[0] == "\n" else _in_json(found[0]), document)
    typer.echo(safe if wide else _NOT_ASCII.sub(lambda found: _in_json(found[0]), safe), err=err)


def _in_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


def prepare() -> None:
    """Let streams escape characters that their encoding lacks, and give errors a place where stderr is closed."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (for the rest of the process)
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", None) in ("strict", "surrogateescape") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
