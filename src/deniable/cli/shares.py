"""Shares on the command line: 0.01 or 1%."""

from __future__ import annotations

import typer


def share(text: str | float) -> float:
    """Read a share: a number, or a percentage; a default is a number already."""
    if not isinstance(text, str):
        return text
    number, percent = (text[:-1], 100.0) if text.endswith("%") else (text, 1.0)
    try:
        return float(number) / percent
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a share. Give a number such as 0.01, or a percentage.") from None
