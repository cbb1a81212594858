"""Random specs of every mechanism: domains of all kinds, epsilons from tiny to large, parameters given and chosen."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from math import log
from typing import Any

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.limits import DEFAULT
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import open_mechanisms

_LETTERS = 'aä漢🦜"\\\n\u2028'
_LARGEST = {"she": 300, "design": 9, "matrix": 7, "mss": 300, "pgr": 3000, "hpgr": 3000, "csr": 2000, "clh": 2000}
_LARGEST |= {"grr": 2**31 - 2, "hr": 2**24, "rhr": 2**24, "blh": 2**24, "flh": 2**24, "orr": 2**20}
_USUAL_LARGEST = 20_000
_BITS_LARGEST = 700  # for reports of a bit per value
_OPEN_SHARE = 0.5
_MOST_LABELS = 3000  # written out in a spec

Setting = dict[str, Any]


def mechanisms(name: str, count: int, source: random.Random) -> Iterator[Mechanism]:
    """Yield this many random mechanisms of a name, none of which costs more than a stranger's spec may."""
    made = 0
    while made < count:
        domain = _domain(name, source)
        epsilon = source.choice([round(10 ** source.uniform(-2, 1.2), source.randint(1, 12)), 1.0, 0.5, 8.0])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dn.DesignWarning)
                setting = {"epsilon": epsilon, **_PARAMETERS.get(name, _none)(domain, source)}
                chosen = dn.mechanism(name, domain=domain, **setting)
            DEFAULT.check(chosen.cost(chosen.domain, chosen.spec.parameters))
        except dn.InvalidArgument:
            continue  # it does not suit this domain or epsilon
        except dn.SpecError:
            continue  # clients refuse it, in either language
        yield chosen
        made += 1


def values_of(mechanism: Mechanism, count: int, source: random.Random) -> list[Any]:
    """Return this many values that the mechanism takes."""
    domain = mechanism.domain
    if domain.kind == "open":
        longest = min(domain.max_bytes, 90)  # type: ignore[attr-defined]
        texts = ["".join(source.choices(_LETTERS[:3], k=source.randint(0, longest // 3))) for _ in range(count - 1)]
        return [*texts, "x" * longest]
    return [domain.label(source.randrange(domain.k)) for _ in range(count)]


def _domain(name: str, source: random.Random) -> Domain:
    extras = {each: True for each in ("other", "no_answer") if source.random() < 0.3}
    if name in open_mechanisms() and source.random() < _OPEN_SHARE:
        key = "".join(source.choices(_LETTERS[:3], k=source.randint(0, 10)))
        return Domain.open(max_bytes=source.randint(15, 300), key=key, **extras)
    largest = _LARGEST.get(name, _BITS_LARGEST if name in ("oue", "sue", "the", "ss") else _USUAL_LARGEST)
    k = round(2 * (largest / 2) ** source.random())
    if k > _MOST_LABELS or source.random() < 0.5:
        low = source.choice([0, 1, -k, source.randint(-(2**52), 2**52)])
        return Domain.integers(low, low + k - 1, **extras)
    if k == 2 and source.random() < 0.5:
        return Domain.categories([True, False], **extras)
    if source.random() < 0.3:
        return Domain.categories(source.sample(range(-10 * k, 10 * k), k), **extras)
    texts = {f"{''.join(source.choices(_LETTERS, k=3))}{number}": None for number in range(k)}
    return Domain.categories(list(texts), **extras)


def _none(_domain: Domain, _source: random.Random) -> Setting:
    return {}


def _sometimes(**choices: Callable[[Domain, random.Random], Any]) -> Callable[[Domain, random.Random], Setting]:
    """Give each of these parameters in half of the cases."""

    def chosen(domain: Domain, source: random.Random) -> Setting:
        return {name: choose(domain, source) for name, choose in choices.items() if source.random() < 0.5}

    return chosen


def _salt(_: Domain, source: random.Random) -> str:
    return "".join(source.choices(_LETTERS, k=source.randint(0, 6)))


def _prime(_: Domain, source: random.Random) -> int:
    return source.choice([2, 3, 5, 7, 11, 13, 31, 101])


def _blocks(domain: Domain, source: random.Random) -> Setting:
    size = source.randint(1, domain.k - 1)
    return {"blocks": [list(block) for block in combinations(range(domain.k), size)]}


def _matrix(domain: Domain, source: random.Random) -> Setting:
    reports = source.randint(domain.k, domain.k + 3)
    numbers = [[source.randint(3, 9) for _ in range(reports)] for _ in range(domain.k)]
    rows = [[Fraction(number, sum(row)) for number in row] for row in numbers]
    ratio = max(max(column) / min(column) for column in zip(*rows, strict=True))
    matrix: list[Any] = rows if source.random() < 0.5 else [[float(each) for each in row] for row in rows]
    if source.random() < 0.5 and ratio > 1:  # no epsilon to spare, so that rounding has to be made up for
        return {"matrix": matrix, "epsilon": log(ratio)}
    return {"matrix": matrix}


def _cohorts(hashes: bool, powers: bool) -> Callable[[Domain, random.Random], Setting]:
    def chosen(_: Domain, source: random.Random) -> Setting:
        given: Setting = {"seed": source.choice([0, source.randrange(2**32)])}
        if source.random() < 0.7:
            given["cohorts"] = source.randint(1, 300)
        if source.random() < 0.7:
            given["buckets"] = 2 ** source.randint(1, 8) if powers else source.randint(2, 200)
        if hashes:
            given["hashes"] = source.randint(1, 4)
        return given

    return chosen


def _csr(_: Domain, source: random.Random) -> Setting:
    return source.choice([{}, {"max_bits": source.randint(5, 12)}, {"padding": False}])


_PARAMETERS: dict[str, Callable[[Domain, random.Random], Setting]] = {
    "ss": _sometimes(w=lambda domain, source: source.randint(1, domain.k - 1)),
    "the": _sometimes(theta=lambda _, source: source.choice([0.5, 1.0, source.uniform(0.5, 1)])),
    "she": _sometimes(reach=lambda _, source: source.randint(0, 127)),
    "blh": _sometimes(salt=_salt),
    "clh": _sometimes(salt=_salt),
    "olh": _sometimes(salt=_salt, g=_prime),
    "flh": _sometimes(salt=_salt, g=_prime),
    "rhr": _sometimes(salt=_salt, bits=lambda domain, source: source.randint(1, (domain.k - 1).bit_length())),
    "hr": _sometimes(blocks=lambda domain, source: 2 ** source.randint(0, (domain.k - 1).bit_length())),
    "pgr": lambda _, source: source.choice([{}, {"rule": "published"}]),
    "hpgr": _sometimes(q=lambda _, source: source.choice([2, 3, 4, 5, 7, 8, 9])),
    "csr": _csr,
    "design": _blocks,
    "matrix": _matrix,
    "orr": _cohorts(hashes=False, powers=False),
    "orappor": _cohorts(hashes=True, powers=False),
    "cms": _cohorts(hashes=False, powers=False),
    "hcms": _cohorts(hashes=False, powers=True),
}
