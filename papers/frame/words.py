"""The words for parameters, metrics and settings, in verdicts and pictures alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

METRICS = {
    "mse": "mean squared error",
    "rmse": "root mean square error",
    "l1": "l1 loss",
    "l2": "l2 loss",
    "nll": "negative log-likelihood",
    "rate": "attack rate",
    "uniform": "attack rate on uniform data",
    "bits": "number of bits",
    "square": "mean squared error",
    "squared": "squared error",
    "size": "median error",
    "bias": "squared bias",
    "off": "error",
    "own off": "deviation from the formula",
    "together off": "deviation from the formula",
    "l1 off": "deviation from the formula",
    "l2 off": "deviation from the formula",
    "unexpected": "deviation from the formula",
    "needed": "needed epsilon",
}
_SETTINGS = {  # how a parameter and its value are written; others as name = value
    "alphabet": "{} alphabet",
    "sizes": "{} sizes",
    "varied": "{}",
    "data": "{}",
    "dataset": "{}",
    "table_name": "{}",
    "method": "{}",
    "mechanism": "{}",
    "rounding": "{} rounding",
    "source": "{}",
    "loss": "{} loss",
    "quantity": "{}",
    "target": "loss {}",
    "with": "{}",
    "skew": "Zipf s = {}",
    "size": "S = {}",
    "design": "C x k = {}",
    "gamma": "gamma = {}",
    "share": "beta = {} of the radius",
}


def metric(name: str) -> str:
    """The words for a metric."""
    return METRICS.get(name, name)


def short(value: Any) -> str:
    """A value as text: four digits, thousands grouped.

    >>> short(22_000), short(0.50001), short("open")
    ('22,000', '0.5', 'open')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, float) and (value != int(value) or abs(value) >= 1e15):
        return f"{value:.4g}"
    return f"{int(value):,}" if abs(value) < 1e7 else f"{value:.3g}".replace("e+0", "e").replace("e+", "e")


def setting(key: Mapping[str, Any], varying: Sequence[str] | None = None) -> str:
    """Describe a setting by its parameters, or by those that vary.

    >>> setting({"alphabet": "open", "epsilon": 2.0})
    'open alphabet, epsilon = 2'
    """
    named = [name for name in key if varying is None or name in varying]
    return ", ".join(_SETTINGS.get(name, name + " = {}").format(short(key[name])) for name in named)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Some names in a row, the first few of many.

    >>> listed(["a", "b"]), listed(list("abcde"))
    ('a and b', 'a; b; c and 2 more')
    """
    if len(names) > most:
        return f"{'; '.join(names[:most])} and {len(names) - most} more"
    joined = "; ".join(names[:-1])
    return f"{joined} and {names[-1]}" if joined else names[-1]


def percent(share: float) -> str:
    """A share as a percentage of two digits.

    >>> percent(0.0312), percent(0.25), percent(1.4), percent(1e-5)
    ('3.1%', '25%', '140%', '0.001%')
    """
    size = 100 * abs(share)
    places = max(0, 1 - math.floor(math.log10(size))) if size else 0
    text = f"{100 * share:,.{places}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
