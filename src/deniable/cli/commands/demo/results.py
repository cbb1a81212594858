"""What the demo measures: real reports of simulated users, the main estimators, and the error of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deniable.cli.commands.demo.story import LABELS, users
from deniable.core.arrays import Floats, Mask
from deniable.core.estimate import Estimate, Row
from deniable.core.summary import Summary
from deniable.kernels import compile_everything
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator

_BITS = 10  # of a report, at most: below those of subsets, which have no likelihood from a summary
METHODS = ("mle", "ibu", "projected", "normalized", "unbiased")  # the main ones; a table of all would not fit

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Answer:
    """One estimator's answer, its distance from the truth, and the seconds it took."""

    estimate: Estimate
    truth: Floats
    seconds: float

    @property
    def errors(self) -> Floats:
        """Estimate minus truth, value by value."""
        return self.estimate.frequencies - self.truth

    def rows(self, places: Any = None) -> list[Row]:
        """The rows of these values."""
        return self.estimate.rows(places=places)

    def covered(self) -> Mask:
        """Which intervals hold the truth."""
        low, high = self.estimate.interval()
        return (low <= self.truth) & (self.truth <= high)


@dataclass(frozen=True, eq=False)
class Collection:
    """One collection at one epsilon: the mechanism, the summary that the server kept, and the answers by method."""

    mechanism: Mechanism
    summary: Summary
    seconds: float
    answers: dict[str, Answer]

    @property
    def epsilon(self) -> float:
        """The privacy parameter of the collection."""
        return self.mechanism.epsilon

    @property
    def name(self) -> str:
        """The name of the files of the collection."""
        return f"epsilon-{self.epsilon!r}".removesuffix(".0")


@dataclass(frozen=True, eq=False)
class World:
    """The simulated users and the true share of each label among them."""

    values: pa.Array
    truth: Floats

    @staticmethod
    def made(count: int, seed: int) -> World:
        """Make the world that belongs to a seed."""
        places = users(count, generator(seed))
        truth = np.bincount(places, minlength=len(LABELS)) / count
        return World(pa.array(LABELS).take(pa.array(places)), truth)

    def by_share(self) -> npt.NDArray[np.intp]:
        """Places of the labels, most frequent first."""
        return np.argsort(-self.truth, kind="stable")


def mechanisms_for(epsilons: Iterable[float]) -> list[Mechanism]:
    """The mechanism with the least error for each epsilon, of those with short reports, which have a likelihood."""
    return [mechanism(labels=LABELS, epsilon=epsilon, max_bits=_BITS) for epsilon in sorted(set(epsilons))]


def collect(world: World, mechanisms: Sequence[Mechanism], seed: int) -> Iterator[Collection]:
    """Ask everybody once with each mechanism. Seeds differ, because shared coins would repeat the same errors."""
    compile_everything()
    for asked in {each.name: each for each in mechanisms}.values():
        _warm_up(asked)
    for place, asked in enumerate(mechanisms):
        reports, seconds = _timed(lambda: asked.privatize(world.values, seed=seed + place))  # noqa: B023
        summary = asked.summarize(reports)
        answers = {}
        for method in METHODS:
            estimate, spent = _timed(lambda: asked.estimate(summary, method))  # noqa: B023
            answers[method] = Answer(estimate, world.truth, spent)
        yield Collection(asked, summary, seconds, answers)


def _warm_up(asked: Mechanism) -> None:
    """Run everything once, so that the times do not include compilation."""
    summary = asked.summarize(asked.privatize(pa.array(LABELS * 2), seed=0))
    for method in METHODS:
        asked.estimate(summary, method).interval()


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start
