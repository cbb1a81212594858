"""The command line: `deniable`, or `python -m deniable`.

`deniable --help` must be quick, so the modules with commands import nothing heavier than typer; the
others (files, values, report_files, terminal, demo_*) are imported by a command when it runs.
"""

from deniable.cli.program import main

__all__ = ["main"]
