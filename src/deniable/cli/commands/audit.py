"""`deniable audit`: what a spec, a matrix or anybody's code really spends, for people and for CI."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.cli.options import Json
from deniable.cli.streams import echo, echo_json


def number(text: str) -> int:
    """Read a whole number that may be written as 1e7."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 1 <= found < math.inf or found != int(found):
        raise typer.BadParameter(f"must be a whole number, such as 1000000 or 1e6, got {text!r}")
    return int(found)


def audit(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A spec (.json), a matrix (.csv, .parquet), code that takes its words (module:function), or an "
            "adapter for a black box (.py).",
        ),
    ],
    promised: Annotated[
        float | None,
        typer.Option(help="The epsilon that was promised; by default that of the spec, or of the adapter."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(parser=number, metavar="N", help="Also audit reports that the code makes, such as 1e7 of them."),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="How likely the bound by trials may be above the truth; by default 1e-9.")
    ] = None,
    by_id: Annotated[
        bool, typer.Option("--by-id", help="With --trials: reports made under ids (clh, olh, blh, flh, rhr).")
    ] = False,
    values: Annotated[int | None, typer.Option(help="Of module:function: how many values there are.")] = None,
    words: Annotated[int | None, typer.Option(help="Of module:function: how many random words a report takes.")] = None,
    bits: Annotated[
        int | None, typer.Option(help="Of module:function: bits of a word, all of which are tried; by default 8.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find what epsilon is really spent, and prove it by a witness.

    A spec, a matrix, and code that takes its random words as an argument are
    audited exactly; the code of a spec, and black boxes, also by trials, which
    give a lower bound. An adapter is a Python file with sample(value, n),
    VALUES and, for hashes, supports(rows, value); it is run.

    Exit code: 0 nothing wrong, 1 more is spent than promised or a fault was
    found, 2 cannot be read, 3 reports tell less than they should.

    \b
    Examples:
      deniable audit spec.json
      deniable audit spec.json --trials 1e7
      deniable audit matrix.csv --promised 1
      deniable audit mycode:randomize --values 4 --words 2 --bits 8 --promised 1
      deniable audit adapter.py --promised 1 --trials 4e6
    """
    from deniable.auditing.audit import ALPHA, BLACK_BOX_TRIALS
    from deniable.auditing.audit import audit as audited
    from deniable.cli.running import CommandError, about
    from deniable.cli.terminal import progress

    watched = trials is not None or target.endswith(".py")
    if alpha is not None and not watched:
        raise CommandError("--alpha can only be used with --trials, or for an adapter: an exact audit needs none")
    with about(target):
        found = _target(target)
        total = BLACK_BOX_TRIALS if trials is None else trials
        width = 8 if bits is None and callable(found) else bits
        with progress() if watched else nullcontext() as bar:
            task = bar.add_task("reports", total=total) if bar is not None else None
            result = audited(
                found,
                promised=promised,
                trials=trials,
                alpha=ALPHA if alpha is None else alpha,
                by_id=by_id,
                progress=None if bar is None or task is None else lambda n: bar.advance(task, n),
                values=values,
                words=words,
                bits=width,
            )
    if as_json:
        echo_json(json.dumps(result.to_dict(), ensure_ascii=False, indent=2))
    else:
        echo(result)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _target(text: str) -> Any:
    """The file, or the function, that is named."""
    from deniable.auditing.exact.replay import FileCode
    from deniable.cli.running import CommandError

    path = Path(text)
    module, colon, name = text.rpartition(":")
    if path.exists() or not colon:
        if not path.exists():
            raise CommandError("no such file. A function is given as module:function.")
        return path
    return FileCode(module, name)
