"""The forecasts of mechanisms for closed domains, each by the formulas and searches that the mechanism itself uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.definition import float_bound
from deniable.mechanisms.forecasts.forecast import Forecast
from deniable.mechanisms.loss import balanced_channel

Formula = Callable[[int, float], Forecast]


def symbol_bits(symbols: int) -> int:
    """Bits of a report that is one of this many symbols."""
    return (symbols - 1).bit_length()


def guessed(bound: float, k: int, share: float) -> float:
    """The attack rate of a two-level channel in which each value is supported by this share of the reports.

    An upper bound where some reports support no value, as may be with few values.
    """
    return min(bound / (k * (1 + share * (bound - 1))), bound / (bound + k - 1))


def pure(name: str, k: int, epsilon: float, p: Any, q: Any, bits: int, attack: float, **more: Any) -> Forecast:
    """The forecast of a pure channel."""
    v0, v1, v2 = PureChannel(p, q).noise("users")
    return Forecast(name, k, epsilon, more.pop("spent", epsilon), (float(v0), float(v1), v2), bits, attack, **more)


def check_size(name: str, k: int, most: int) -> None:
    """Refuse more values than the mechanism takes."""
    if k > most:
        raise InvalidArgument("k", f"be at most {most} for {name}", k)


def _grr(k: int, epsilon: float) -> Forecast:
    bound = float_bound(epsilon)
    p, q = balanced_channel(bound, 1, k)
    return pure("grr", k, epsilon, p, q, symbol_bits(k), guessed(bound, k, 1 / k))


def _unary(name: str, k: int, epsilon: float, p: float, q: float, **more: Any) -> Forecast:
    from deniable.mechanisms.unary.unary_encoding import MAX_VALUES, best_guesses

    check_size(name, k, MAX_VALUES)
    return pure(name, k, epsilon, p, q, k, best_guesses(p, q, k) / k, **more)


def _sue(k: int, epsilon: float) -> Forecast:
    q = 1 / (math.exp(epsilon / 2) + 1)
    return _unary("sue", k, epsilon, 1 - q, q)


def _oue(k: int, epsilon: float) -> Forecast:
    return _unary("oue", k, epsilon, 0.5, 1 / (math.exp(epsilon) + 1))


def _the(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.unary.histogram_thresholding import best_theta

    theta = best_theta(epsilon)
    p, q = 1 - math.exp(epsilon * (theta - 1) / 2) / 2, math.exp(-epsilon * theta / 2) / 2
    return _unary("the", k, epsilon, p, q, spent=math.log(p * (1 - q) / ((1 - p) * q)))


def _she(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.unary.histogram_summation import MAX_VALUES, default_reach

    check_size("she", k, MAX_VALUES)
    # the variance of discrete Laplace noise of ratio r = e^(-epsilon/2) is 2r/(1 - r)^2, twice that of sue; the levels
    # beyond the reach change it by less than a part in 10^5, and an attacker learns what sue tells
    like = _sue(k, epsilon)
    bits = k * symbol_bits(2 * default_reach(epsilon) + 2)
    return Forecast("she", k, epsilon, epsilon, (2 * like.noise[0], 0.0, 0.0), bits, like.attack)


def best_design(k: int, epsilon: float, bits: int = 0) -> Forecast:
    """The forecast of the best design on exactly k values, subset selection, whatever its reports cost."""
    from deniable.mechanisms.subsets.subset_selection import best_size

    bound = float_bound(epsilon)
    w = best_size(k, bound)  # type: ignore[arg-type]
    p, q = balanced_channel(bound, w, k)
    return pure("ss", k, epsilon, p, q, bits, guessed(bound, k, w / k))


def _ss(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.layouts.subset_code import MAX_VALUES
    from deniable.mechanisms.numbers import binomial
    from deniable.mechanisms.subsets.subset_selection import best_size

    check_size("ss", k, MAX_VALUES)
    w = best_size(k, float_bound(epsilon))  # type: ignore[arg-type]
    return best_design(k, epsilon, symbol_bits(binomial(k, w)))


def _csr(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.designs.cyclotomic import best_sets

    bound = float_bound(epsilon)
    sets = best_sets(k, bound)
    p, q = balanced_channel(bound, sets.set_size, sets.modulus)
    bits = symbol_bits(len(sets.cohorts) * sets.modulus)
    return pure("csr", k, epsilon, p, q, bits, guessed(bound, k, sets.set_size / sets.modulus))


def _pgr(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.designs.geometries import weighed
    from deniable.mechanisms.designs.projective_geometry import refuse_costly
    from deniable.mechanisms.designs.singer import points

    bound = float_bound(epsilon)
    base, t = weighed(k, bound)
    refuse_costly(base, t, k, bound)
    set_size, modulus = points(base, t - 1), points(base, t)
    p, q = balanced_channel(bound, set_size, modulus)
    return pure("pgr", k, epsilon, p, q, symbol_bits(modulus), guessed(bound, k, set_size / modulus))


def _by_id(name: str, k: int, epsilon: float, p: Any, q: Any, classes: int, publics: int) -> Forecast:
    bits, attack = symbol_bits(classes), guessed(float_bound(epsilon), k, 1 / classes)
    return pure(name, k, epsilon, p, q, bits, attack, by_id=True, id_bits=symbol_bits(classes * publics) - bits)


def _clh(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.hashing.cyclotomic_hashing import best_classes, class_channel

    modulus, classes = best_classes(k, epsilon)
    p, q = class_channel(float_bound(epsilon), modulus, classes)
    return _by_id("clh", k, epsilon, p, q, classes, modulus)


def _hashing(name: str, k: int, epsilon: float, *, binary: bool = False, lines: bool = False) -> Forecast:
    from deniable.mechanisms.hashing.linear_hashing import best_or_refused
    from deniable.mechanisms.hashing.primes import digits_of, fits, hash_channel, seed_count

    if binary and not fits(k, 2, lines):
        raise InvalidArgument("k", f"be smaller for {name}", k, "Use grr or csr.")
    g, bound = 2 if binary else best_or_refused(name, k, epsilon, lines), float_bound(epsilon)
    digits = digits_of(k, g)
    channel = hash_channel(bound / (bound + g - 1), g, digits)  # type: ignore[arg-type]
    return _by_id(name, k, epsilon, channel.p, channel.q, g, seed_count(g, digits, lines))


def _hpgr(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.designs.block_channel import BlockChannel
    from deniable.mechanisms.designs.geometries import hybrid
    from deniable.mechanisms.designs.hybrid_geometry import refuse_costly
    from deniable.mechanisms.designs.singer import points

    bound = float_bound(epsilon)
    base, t, h = hybrid(None, None, None, k, bound)
    w, b = points(base, t - 1), points(base, t)
    low = 1 / (w * bound + b * h - w)
    own, others = BlockChannel(w, points(base, t - 2), b, bound * low, low).average(k, h)
    refuse_costly(k, epsilon, bound, others)
    return _blocks("hpgr", k, epsilon, own, others, symbol_bits(b * h), w / (b * h))


def _blocks(name: str, k: int, epsilon: float, own: Any, others: Any, bits: int, share: float, **more: Any) -> Forecast:
    noise = (float(others), float(own - others), 0.0)
    return Forecast(name, k, epsilon, epsilon, noise, bits, guessed(float_bound(epsilon), k, share), **more)


def _hr(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.hadamard.hadamard_response import best_blocks, block_size, ideal_agreement

    bound = float_bound(epsilon)
    blocks = best_blocks(k, bound)
    own, others = ideal_agreement(bound, k, blocks).average(k)
    size = block_size(k, blocks)
    reports = blocks * (size - 1)
    return _blocks("hr", k, epsilon, own, others, symbol_bits(reports), (size // 2 - 1) / reports)


def _rhr(k: int, epsilon: float) -> Forecast:
    from deniable.mechanisms.hadamard.recursive_hadamard import best_blocks, block_length, ideal_agreement

    bound = float_bound(epsilon)
    blocks = best_blocks(k, bound)
    own, others = ideal_agreement(bound, k, blocks).average(k)
    bits = blocks.bit_length()
    whole = symbol_bits(2 * blocks * (block_length(k, blocks) - 1))
    more = {"by_id": True, "id_bits": whole - bits}
    return _blocks("rhr", k, epsilon, own, others, bits, 1 / (2 * blocks), **more)


FORMULAS: dict[str, Formula] = {
    "blh": lambda k, epsilon: _hashing("blh", k, epsilon, binary=True),
    "clh": _clh,
    "csr": _csr,
    "flh": lambda k, epsilon: _hashing("flh", k, epsilon, lines=True),
    "grr": _grr,
    "hpgr": _hpgr,
    "hr": _hr,
    "olh": lambda k, epsilon: _hashing("olh", k, epsilon),
    "oue": _oue,
    "pgr": _pgr,
    "rhr": _rhr,
    "she": _she,
    "ss": _ss,
    "sue": _sue,
    "the": _the,
}
