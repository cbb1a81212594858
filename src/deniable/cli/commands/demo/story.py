"""The demo's world: the last error message that each user of Heron, a made-up drawing program, has seen."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Floats, Integers

QUESTION = "What was the last error message you saw in Heron, the drawing program?"

# from the most to the least frequent
_SEEN = (
    "font missing",
    "file not found",
    "cloud sync timed out",
    "graphics driver reset",
    "out of memory",
    "licence expired",
    "plug-in crashed",
    "colour profile missing",
    "printer offline",
    "disk full",
    "permission denied",
    "export failed",
    "file version too new",
    "sign-in expired",
    "autosave failed",
    "tablet pressure lost",
    "clipboard too large",
    "linked image moved",
    "update failed",
    "brush pack damaged",
    "cloud quota reached",
    "edit conflict",
    "image too large",
    "undo history full",
    "password wrong",
    "preview frozen",
    "layer limit reached",
    "template missing",
    "second screen lost",
    "script refused",
    "thumbnail failed",
    "shortcut taken",
    "palette unreadable",
    "path too complex",
    "scanner not found",
    "metadata unreadable",
    "filter not licensed",
    "recovery file damaged",
    "gradient unsupported",
    "share link refused",
    "macro stopped",
    "theme not applied",
    "spell-checker missing",
    "canvas not resized",
)
# still in the program, though nobody sees them any more
_NEVER = (
    "CD burner busy",
    "fax modem busy",
    "floppy not ready",
    "joystick unplugged",
    "serial port in use",
    "zip drive ejected",
)

LABELS = tuple(sorted(_SEEN + _NEVER, key=str.lower))


def shares() -> Floats:
    """How frequent each label is among all people who use the program: like Zipf's law, with a flatter top."""
    weights = dict(zip(_SEEN, (np.arange(len(_SEEN)) + 2.5) ** -1.2, strict=True))
    column = np.array([weights.get(label, 0.0) for label in LABELS])
    total: float = column.sum()
    return column / total


def users(count: int, generator: np.random.Generator) -> Integers:
    """The place in LABELS of each user's value."""
    return generator.choice(len(LABELS), size=count, p=shares())
