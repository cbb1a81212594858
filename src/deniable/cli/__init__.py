"""The command line: `deniable`, or `python -m deniable`.

Help must be quick: `deniable --help` loads no command, and the help of a command loads nothing heavier than typer. What
reads, computes and writes (cli.io, cli.terminal, the library itself) is imported by a command when it runs.
"""

import sys
from collections.abc import Sequence

from deniable.core.errors import MissingExtra
from deniable.core.extras import needed

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        with needed():
            from deniable.cli.program import main as run
    except MissingExtra as error:
        sys.stderr.write(f"deniable: error: {error}\n")
        return 2
    return run(arguments)
