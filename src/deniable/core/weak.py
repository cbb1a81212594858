"""A warning about epsilons that protect little."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

WEAK = 8.0  # above it, what was observed can be thousands of times as likely for one value as for another


class WeakPrivacy(UserWarning):
    """Issued for an epsilon above 8: it is legal, but a report nearly shows the value."""


def warn_if_weak(epsilon: float, meaning: Callable[[], str] | None = None, stacklevel: int = 3) -> None:
    """Warn in one sentence if epsilon is above 8; `meaning` says what it allows, in place of the odds."""
    if epsilon > WEAK:
        text = meaning() if meaning else f"it can change the odds of a guess about a person by {math.exp(epsilon):.3g}"
        warnings.warn(f"epsilon {epsilon:g} protects little: {text}", WeakPrivacy, stacklevel=stacklevel)
