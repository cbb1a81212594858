"""The command line: `deniable`, or `python -m deniable`.

Help must be quick: `deniable --help` loads no command, and the help of a command loads nothing heavier than typer. What
reads, computes and writes (cli.io, cli.terminal, the library itself) is imported by a command when it runs.
"""

from deniable.cli.program import main

__all__ = ["main"]
