"""`deniable mechanisms`: the mechanisms that a spec can name."""

from __future__ import annotations

from deniable.cli.options import Json
from deniable.cli.streams import echo_json


def mechanisms(as_json: Json = False) -> None:
    """List the mechanisms that a spec can name.

    deniable plan says which one suits a question.

    \b
    Examples:
      deniable mechanisms
      deniable mechanisms --json
    """
    import json
    import sys

    from deniable.cli.terminal import console, table
    from deniable.mechanisms.registry import parameters_of, registered

    found = [
        {
            "name": kind.name,
            "version": kind.version,
            "default_method": kind.default_method,
            "open_strings": kind.open_domains,
            "parameters": parameters_of(kind.name),
            "about": (sys.modules[kind.__module__].__doc__ or "").strip().partition("\n")[0],
        }
        for kind in registered()
    ]
    if as_json:
        echo_json(json.dumps(found, ensure_ascii=False, indent=2))
        return
    listed = table("", "name", "version", "default method", "what it is", left=4)
    for each in found:
        listed.add_row(*(str(each[key]) for key in ("name", "version", "default_method", "about")))
    console().print(listed)
