"""Strings of every kind, and a small mechanism for them."""

from __future__ import annotations

from typing import Any

import deniable as dn

STRINGS = ["", "a", "A", "example.org", "naïve", "漢字", "🦜", "e\u0301", "\u00e9", "x" * 256]


def of(name: str = "orr", **changes: Any) -> Any:
    settings = {"cohorts": 8, "buckets": 5, "candidates": 8, **changes}
    domain = settings.pop("domain", dn.Domain.open())
    return dn.mechanism(name, domain=domain, epsilon=settings.pop("epsilon", 1.5), **settings)
