"""Counts to release on the command line, and what is asked about them."""

from __future__ import annotations

import json
from typing import Any

import deniable as dn
from tests.cli.command import succeed

COUNTS = [120, 34, 61, 18, 7, 250]
LABELS = ["flu", "cold", "a, b", "schön", 'so "called"', "none"]


def expected(epsilon: float = 1.0, sensitivity: int = 1, seed: int = 5) -> dn.Release:
    return dn.DiscreteLaplace(epsilon, sensitivity).release(COUNTS, seed=seed)


def asked(*arguments: object, stdin: bytes = b"") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(succeed("ask", *arguments, "--json", stdin=stdin))
    return found
