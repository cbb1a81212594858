"""Slow, obvious twins of the questions about counts: each a plain function of one tuple of whole numbers."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import deniable as dn
from tests.naive import noise as naive

Counts = tuple[int, ...]


def log(x: int) -> float:
    return math.log(x) if x > 1 else 0.0


def entropy(x: Counts) -> float:
    n = max(sum(x), 1)
    return log(n) - math.fsum(each * log(each) for each in x if each > 0) / n


def public_entropy(x: Counts, n: int) -> float:
    b = max(0.0, 1 + math.log(n / len(x)))
    return math.log(n) - b - math.fsum((each * log(each) if each > 0 else 0.0) - b * each for each in x) / n


def divergence(z: Counts) -> float:
    x, w = z[: len(z) // 2], z[len(z) // 2 :]
    n, m = max(sum(x), 1), max(sum(w), 1)
    own = math.fsum(each * log(each) for each in x if each > 0)
    return log(m) - log(n) + (own - math.fsum(each * log(other) for each, other in zip(x, w, strict=True))) / n


def public_divergence(z: Counts, n: int, m: int) -> float:
    x, w = z[: len(z) // 2], z[len(z) // 2 :]
    own = math.fsum(each * log(each) for each in x if each > 0)
    crossed = math.fsum(each * log(other) for each, other in zip(x, w, strict=True))
    # sums of the true counts, which are n and m, may be added
    return math.log(m / n) + (own - crossed) / n - (math.log(n / m) + 1) * (sum(x) / n - 1) + sum(w) / m - 1


def simpson(x: Counts, back: int = 0) -> float:
    n = max(sum(x), 1)
    return sum(each * (each - back) for each in x) / (n * (n - back) if n > back else 1)


def public_simpson(x: Counts, n: int, back: int = 0) -> float:
    slope = 2 * n / len(x)
    return (sum(each * (each - back) for each in x) - slope * (sum(x) - n)) / (n * (n - back))


def mean(x: Counts, values: Sequence[float]) -> float:
    return math.fsum(v * each for v, each in zip(values, x, strict=True)) / max(sum(x), 1)


def choose(x: int, k: int) -> float:
    return math.prod(x - i for i in range(k)) / math.factorial(k)


TREE = {
    "column": 0,
    "threshold": 1.5,
    "yes": {
        "column": 1, "threshold": 0, "yes": -1.0,
        "no": {"column": 0, "threshold": 0, "yes": 2.5, "no": {"value": 3}},
    },
    "no": {"column": 1, "threshold": 2, "yes": 0.5, "no": 7},
}  # fmt: skip


def tree(x: Counts, node: Any = TREE) -> float:
    while isinstance(node, dict) and "column" in node:
        node = node["yes"] if x[node["column"]] <= node["threshold"] else node["no"]
    return float(node["value"] if isinstance(node, dict) else node)


class Twin(NamedTuple):
    """A question put to a release of the counts x, and the function of x it is about (as it goes on beyond counts)."""

    ask: Callable[[dn.Release, Counts], dn.Answer]
    f: Callable[[Counts, Counts], float]  # at a point, given the true counts (for public totals)
    # the variance is f_hat^2 - L(f^2), and where that is negative: "bound", f_hat^2 + |L(f^2)|; "other", another;
    # "mixed": a bound everywhere
    error: str = "bound"
    even: bool = False  # two histograms of one size


QUARTER = 0.3

TWINS: dict[str, Twin] = {
    "total": Twin(lambda r, _: dn.ask.total(r), lambda y, _: float(sum(y))),
    "moment": Twin(lambda r, _: dn.ask.moment(r, 3), lambda y, _: sum(each**3 for each in y) / len(y)),
    "threshold": Twin(lambda r, _: dn.ask.threshold(r, 2), lambda y, _: float(sum(each >= 2 for each in y))),
    "stars": Twin(lambda r, _: dn.ask.stars(r, 3), lambda y, _: math.fsum(choose(each, 3) for each in y)),
    "degree_polynomial": Twin(
        lambda r, _: dn.ask.degree_polynomial(r, [1, -2, 0.5]),
        lambda y, _: math.fsum(1 - 2 * each + 0.5 * each**2 for each in y),
    ),
    "partition": Twin(
        lambda r, _: dn.ask.partition(r, QUARTER), lambda y, _: math.fsum(math.exp(QUARTER * each) for each in y)
    ),
    "partition below": Twin(
        lambda r, _: dn.ask.partition(r, -2.0, below="constant"),
        lambda y, _: math.fsum(math.exp(-2.0 * max(each, 0)) for each in y),
    ),
    "minimum": Twin(lambda r, _: dn.ask.minimum(r), lambda y, _: float(min(y))),
    "maximum": Twin(lambda r, _: dn.ask.maximum(r), lambda y, _: float(max(y))),
    "order_statistic": Twin(lambda r, _: dn.ask.order_statistic(r, 2), lambda y, _: float(sorted(y)[1])),
    "median": Twin(lambda r, _: dn.ask.median(r), lambda y, _: float(np.median(y)), error="mixed"),
    "quantile": Twin(
        lambda r, _: dn.ask.quantile(r, QUARTER), lambda y, _: float(np.quantile(y, QUARTER)), error="mixed"
    ),
    "entropy": Twin(lambda r, _: dn.ask.entropy(r), lambda y, _: entropy(y)),
    "entropy in bits": Twin(lambda r, _: dn.ask.entropy(r, base=2), lambda y, _: entropy(y) / math.log(2)),
    "entropy with a public total": Twin(
        lambda r, x: dn.ask.entropy(r, total=sum(x)), lambda y, x: public_entropy(y, sum(x))
    ),
    "divergence": Twin(
        lambda r, x: dn.ask.divergence(r[: len(x) // 2], r[len(x) // 2 :]), lambda y, _: divergence(y), even=True
    ),
    "divergence with public totals": Twin(
        lambda r, x: dn.ask.divergence(
            r[: len(x) // 2], r[len(x) // 2 :], sum(x[: len(x) // 2]), sum(x[len(x) // 2 :])
        ),
        lambda y, x: public_divergence(y, sum(x[: len(x) // 2]), sum(x[len(x) // 2 :])),
        error="other",
        even=True,
    ),
    "simpson": Twin(lambda r, _: dn.ask.simpson(r), lambda y, _: simpson(y)),
    "simpson without replacement": Twin(
        lambda r, _: dn.ask.simpson(r, replacement=False), lambda y, _: simpson(y, 1)
    ),
    "simpson with a public total": Twin(
        lambda r, x: dn.ask.simpson(r, sum(x)), lambda y, x: public_simpson(y, sum(x))
    ),
    "gini": Twin(lambda r, _: dn.ask.gini(r), lambda y, _: 1 - simpson(y)),
    "gini with a public total": Twin(
        lambda r, x: dn.ask.gini(r, sum(x), replacement=False), lambda y, x: 1 - public_simpson(y, sum(x), 1)
    ),
    "mean": Twin(
        lambda r, x: dn.ask.mean(r, list(range(1, len(x) + 1))), lambda y, _: mean(y, list(range(1, len(y) + 1)))
    ),
    "ratio": Twin(lambda r, _: dn.ask.ratio(r[:1], r[1:]), lambda y, _: y[0] / max(sum(y[1:]), 1)),
    "triangles": Twin(
        lambda r, _: dn.ask.triangles(r, 10), lambda y, _: sum(each * (each - 1) for each in y) ** 3 / (6 * 20**3)
    ),
    "power_of_sum": Twin(
        lambda r, _: dn.ask.power_of_sum(r, lambda t: t * 1.0, 2), lambda y, _: float(sum(y)) ** 2
    ),
    "tree": Twin(lambda r, _: dn.ask.tree(r, TREE), lambda y, _: tree(y)),
    "polynomial": Twin(
        lambda r, x: dn.ask.polynomial(r, _terms(len(x))),
        lambda y, _: 2.0 * y[0] ** 2 * y[1] - y[1] ** 3 + 5,
        error="other",
    ),
    "separable": Twin(
        lambda r, x: dn.ask.separable([lambda t: t**2, *[lambda t: np.abs(t - 1)] * (len(x) - 1)], r),
        lambda y, _: y[0] ** 2 + math.fsum(abs(each - 1) for each in y[1:]),
    ),
    "product": Twin(
        lambda r, x: dn.ask.product([lambda t: t**2, *[lambda t: np.abs(t - 1)] * (len(x) - 1)], r),
        lambda y, _: y[0] ** 2 * math.prod(abs(each - 1) for each in y[1:]),
        error="other",
    ),
}  # fmt: skip


def _terms(width: int) -> dict[Counts, float]:
    rest = (0,) * (width - 2)
    return {(2, 1, *rest): 2.0, (0, 3, *rest): -1.0, (0, 0, *rest): 5.0}


def asked(twin: Twin, release: dn.Release, x: Counts) -> dn.Answer:
    """The answer, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        return twin.ask(release, x)


def wanted(twin: Twin, y: Counts, x: Counts, a: float) -> tuple[float, float, float]:
    """By all 3^d terms: the unbiased value, and those of (f - f(y)) and (f - f(y))^2."""
    here = twin.f(y, x)
    first = naive.operate_many(lambda point: twin.f(point, x) - here, y, a)
    square = naive.operate_many(lambda point: (twin.f(point, x) - here) ** 2, y, a)
    return here + first, first, square


def expected_answer(twin: Twin, x: Counts, noise: dn.DiscreteLaplace, tail: float) -> float:
    """E[answer] over every noise that is not less likely than the tail, count by count."""
    steps, chance = naive.window(noise.q, tail)
    terms = []
    for places in itertools.product(range(len(steps)), repeat=len(x)):
        y = np.array([each + int(steps[i]) for each, i in zip(x, places, strict=True)])
        terms.append(math.prod(float(chance[i]) for i in places) * asked(twin, dn.Release(y, noise), x).value)
    return math.fsum(terms)


def volume(d: int, m: int, a: Fraction) -> Fraction:
    """Lemma 22: the neighbours of d counts whose steps add up to m, by trinomial coefficients."""
    total = Fraction(0)
    for up in range(d + 1):
        down = up - m
        if 0 <= down <= d - up:
            ways = math.factorial(d) // (math.factorial(up) * math.factorial(down) * math.factorial(d - up - down))
            total += ways * (-a) ** (up + down) * (1 + 2 * a) ** (d - up - down)
    return total
