"""The operator for formulas with an unknown total: g_0(N) + sum over k of T_k g_k(N), N the total, T_k sums.

Entropies, divergences, indices, means and shares all have this form: sums of x log x, x^2 or x, times a function of N.
The square of such a formula has products of two sums. One count (or two) keeps its own step, and all others
enter through the step of the total, so the work is linear in the number of counts, where Theorems 23 and 24 of
Hillebrand et al. 2026 need d^2 and d^3 terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from deniable.core.arrays import Numbers
from deniable.counts.certain.balls import ball
from deniable.counts.certain.joint_error import Pair
from deniable.counts.certain.trinomial import Balls, TotalTable, dot, volumes
from deniable.counts.noise import DiscreteLaplace

Rule = Callable[[int], Any]  # maps an integer to a ball

_STEPS = (-1, 0, 1)


class Sum(NamedTuple):
    """T = sum over i of factor_i f(x_i): for every count y, the terms c_s f(y + s) of its steps s, times its factor."""

    near: list[tuple[Any, Any, Any]]


class NoisyTotal:
    """Counts with their total, at the current precision; make it inside the computation in balls."""

    def __init__(self, values: Numbers, noise: DiscreteLaplace) -> None:
        self.counts: list[int] = [int(value) for value in values.reshape(-1)]
        self.d, self.total, self.noise = len(self.counts), sum(self.counts), noise
        a = ball(noise.a)
        self.weights = (-a, 1 + 2 * a, -a)
        self._volumes: dict[int, Balls] = {}

    def table(self, g: Rule) -> TotalTable:
        """Tabulate g(N) at every total within reach; totals below one count as one."""
        reach = self.d + 2
        one = g(1)
        near = range(self.total - reach, self.total + reach + 1)
        return TotalTable([g(total) if total > 1 else one for total in near], reach)

    def sum_of(self, f: Rule, factors: Sequence[Any] | None = None) -> Sum:
        """T = sum over i of factor_i f(x_i)."""
        known: dict[int, tuple[Any, ...]] = {}
        for count in set(self.counts):
            known[count] = tuple(c * f(count + s) for c, s in zip(self.weights, _STEPS, strict=True))
        if factors is None:
            return Sum([known[count] for count in self.counts])
        pairs = zip(self.counts, factors, strict=True)
        return Sum([tuple(factor * part for part in known[count]) for count, factor in pairs])

    def alone(self, g: TotalTable) -> Any:
        """The unbiased g(N)."""
        return g.around(self._others(0))

    def single(self, one: Sum, g: TotalTable) -> Any:
        """The unbiased T g(N)."""
        return dot([self._added(one, s) for s in range(3)], self._steps(g))

    def each(self, one: Sum, g: TotalTable) -> Balls:
        """The unbiased f(x_i) g(N) of every count i."""
        steps = self._steps(g)
        return [dot(near, steps) for near in one.near]

    def pair(self, one: Sum, other: Sum, g: TotalTable) -> Any:
        """The unbiased T T' g(N): pairs of different counts, and every count with itself."""
        itself = self.single(self.product(one, other), g)
        if self.d == 1:
            return itself
        others = self._others(2)
        total = ball(0)
        for i, s in enumerate(_STEPS):
            for j, t in enumerate(_STEPS):
                column, row = [near[i] for near in one.near], [near[j] for near in other.near]
                # sum over i != j is the product of the sums minus the sum over i = j
                different = sum(column, ball(0)) * sum(row, ball(0)) - dot(column, row)
                total += different * g.around(others, s + t)
        return itself + total

    def product(self, one: Sum, other: Sum) -> Sum:
        """The sum of f_i f'_i. Both factors contain the weights c_s, so one of them is divided out."""
        merged = zip(one.near, other.near, strict=True)
        return Sum([tuple(x * y / c for x, y, c in zip(n, m, self.weights, strict=True)) for n, m in merged])

    def answer(self, alone: TotalTable | None, parts: Sequence[tuple[Sum, TotalTable]]) -> Pair:
        """Unbiased answers to Q = g_0(N) + sum of T_k g_k(N), and to Q^2."""
        value = ball(0) if alone is None else self.alone(alone)
        square = ball(0) if alone is None else self.alone(alone * alone)
        for k, (one, g) in enumerate(parts):
            value += self.single(one, g)
            if alone is not None:
                square += 2 * self.single(one, g * alone)
            for other, h in parts[:k]:
                square += 2 * self.pair(one, other, g * h)
            square += self.pair(one, one, g * g)
        return Pair(value, square)

    def _steps(self, g: TotalTable) -> Balls:
        return [g.around(self._others(1), step) for step in _STEPS]

    def _others(self, excluded: int) -> Balls:
        """The weights of the total of all counts except this number of them."""
        if excluded not in self._volumes:
            self._volumes[excluded] = volumes(self.d - excluded, self.noise)
        return self._volumes[excluded]

    @staticmethod
    def _added(one: Sum, place: int) -> Any:
        return sum((near[place] for near in one.near), ball(0))


def relative_to(reference: float, pair: Pair) -> Pair:
    """The answers to Q - c and (Q - c)^2, c the reference, from the answers to Q and Q^2."""
    c = ball(Fraction(reference))  # the square of a float would be rounded by more than small variances
    return Pair(pair.value - c, pair.square - 2 * c * pair.value + c * c)
