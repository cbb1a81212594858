"""Runs a command of the command line inside the test process, with streams of its own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from deniable.cli import main


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def run(*arguments: object, stdin: bytes = b"", program: Callable[[list[str]], int] = main) -> Outcome:
    """Run `deniable`, or another program, with these arguments; return its exit code and output."""
    source = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with patch.multiple(sys, stdin=source, stdout=out, stderr=err):
        code = program([str(argument) for argument in arguments])
    return Outcome(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def succeed(*arguments: object, stdin: bytes = b"") -> str:
    """The output of a command that must go well."""
    outcome = run(*arguments, stdin=stdin)
    assert outcome.code == 0, outcome.err
    return outcome.out


def check_refusal(outcome: Outcome, reason: str) -> None:
    """A command must have failed with one line that gives this reason."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("deniable: error: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.endswith("\n")
    assert "Traceback" not in outcome.err
    assert "unexpected" not in outcome.err
    assert reason in outcome.err


def listing(folder: Path) -> dict[str, int]:
    """The files of a folder and their sizes."""
    return {path.name: path.stat().st_size for path in folder.iterdir()}
