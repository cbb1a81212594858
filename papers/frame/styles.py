"""One colour and one marker for each method, in all pictures of all papers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

COLOURS = (  # told apart by colour-blind readers too, and visible on white and on black
    "#3b7dd8",
    "#e0762f",
    "#2f9e62",
    "#a259c4",
    "#c79a1b",
    "#d8436e",
    "#1aa3ad",
    "#8a8f98",
    "#96683c",
    "#6570e6",
)
MARKERS = (  # outlines around the origin
    "M-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0",  # circle
    "M-2.7,-2.7h5.4v5.4h-5.4z",  # square
    "M0,-3.5L3.4,2.6H-3.4z",  # triangle
    "M0,-3.9L3.5,0L0,3.9L-3.5,0z",  # diamond
    "M0,3.5L3.4,-2.6H-3.4z",  # triangle, upside down
    "M-1.1,-3.5h2.2v2.4h2.4v2.2h-2.4v2.4h-2.2v-2.4h-2.4v-2.2h2.4z",  # plus
    "M-3.4,-1.9L-1.9,-3.4L0,-1.5L1.9,-3.4L3.4,-1.9L1.5,0L3.4,1.9L1.9,3.4L0,1.5L-1.9,3.4L-3.4,1.9L-1.5,0z",  # cross
    "M0,-3.6L3.5,-1.1L2.1,3H-2.1L-3.5,-1.1z",  # pentagon
    "M-3.6,-1.3h7.2v2.6h-7.2z",  # bar
    "M0,-4.2L1.1,-1.3L4,-1.3L1.7,0.6L2.5,3.5L0,1.8L-2.5,3.5L-1.7,0.6L-4,-1.3L-1.1,-1.3z",  # star
)
_FIXED = (  # the same thing under several names has the same style
    ("grr", "k-RR", "best k-RR", "randomised response", "Inv"),
    ("oue", "optimized unary", "InvP", "naive", "Naive DLap", "projected"),
    ("ss", "subset selection", "MLE*", "unbiased", "Unbiased DLap", "mle", "O-RR"),
    ("pgr", "O-RAPPOR", "InvN", "normalized", "central"),
    ("mss", "Unbiased Lap", "unbiased, ask.entropy", "random mechanism", "empirical, raw data", "empirical"),
    ("clh", "LocalLapKStars"),
    ("csr", "k-RAPPOR", "best k-RAPPOR"),
    ("true", "uniform", "goal"),
    ("pgr weighed",),
    ("mss searched",),
)
_PLACES = {name: place for place, names in enumerate(_FIXED) for name in names}


def known(name: Any) -> bool:
    """Whether this is the name of a method that has a style of its own."""
    return name in _PLACES


class Style(NamedTuple):
    """The colour and the marker of a method."""

    colour: str
    marker: int

    @property
    def outline(self) -> str:
        """The outline of the marker."""
        return MARKERS[self.marker]


def styles(names: Iterable[Any]) -> dict[Any, Style]:
    """Return the style of each name: its own if it is a known method, else one that no other name here has.

    >>> styles(["mss", "grr"])["grr"] == styles(["k-RR"])["k-RR"]
    True
    """
    given = list(dict.fromkeys(names))
    taken = {_PLACES[name] for name in given if name in _PLACES}
    free = iter([place for place in range(len(COLOURS)) if place not in taken])
    found = {}
    for number, name in enumerate(given):
        place = _PLACES[name] if name in _PLACES else next(free, number)
        # from the eleventh on, other pairs of the same colours and markers
        found[name] = Style(COLOURS[place % len(COLOURS)], (place + place // len(COLOURS)) % len(MARKERS))
    return found
