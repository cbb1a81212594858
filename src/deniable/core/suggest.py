"""Suggestions for names that are not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 100  # characters of a name that may be a misspelling


def did_you_mean(found: object, known: Iterable[object]) -> str:
    """'Did you mean "chrome"?' for the known name nearest to this one, or nothing."""
    if len(str(found)) > _LONGEST:  # compared in time that grows with its length
        return ""
    names = {str(name).casefold(): name for name in known}
    near = get_close_matches(str(found).casefold(), names, n=1)
    return f"Did you mean {names[near[0]]!r}?" if near else ""
