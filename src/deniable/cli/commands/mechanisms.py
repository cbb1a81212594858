"""`deniable mechanisms`: the mechanisms that a spec can name."""

from __future__ import annotations


def mechanisms() -> None:
    """List the mechanisms that a spec can name.

    \b
    Example:
      deniable mechanisms
    """
    import sys

    from deniable.cli.terminal import console, table
    from deniable.mechanisms.registry import registered

    listed = table("", "name", "version", "default method", "what it is", left=4)
    for kind in registered():
        about = (sys.modules[kind.__module__].__doc__ or "").strip().partition("\n")[0]
        listed.add_row(kind.name, str(kind.version), kind.default_method, about)
    console().print(listed)
