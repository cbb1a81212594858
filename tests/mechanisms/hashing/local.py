"""The three forms of local hashing by their names."""

from __future__ import annotations

from typing import Any

import deniable as dn

CLASSES = {"olh": dn.OptimizedLocalHashing, "blh": dn.BinaryLocalHashing, "flh": dn.FastLocalHashing}


def hashing(name: str, k: int, epsilon: float, g: int | None = None) -> Any:
    return CLASSES[name](k, epsilon) if g is None or name == "blh" else CLASSES[name](k, epsilon, g)  # type: ignore[arg-type, call-arg]
