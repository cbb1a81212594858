"""What the checks must be told of a mechanism, since it does not follow from what the mechanism states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deniable.core.arrays import Words


def _no_bits(_: Any) -> int:
    return 0


def _one_kind(_: Any) -> object:
    return None


@dataclass(frozen=True, kw_only=True)
class Traits:
    """How a mechanism differs from the usual one; most are like the default."""

    summary_keeps_all: bool = True  # whether a summary tells as much as the reports, and so carries the likelihood
    public_bits: Callable[[Any], int] = _no_bits  # of a payload, known from elsewhere and not in `report_bits`

    words: Callable[[Any, int], Words] | None = None  # (mechanism, bits) -> all words of a report, if no grid
    draws: Callable[[Any], int] | None = None  # how many independent draws a report makes, if not one per word
    kind: Callable[[Any], object] = _one_kind  # kinds of payloads, of which some are rejected more often


USUAL = Traits()
