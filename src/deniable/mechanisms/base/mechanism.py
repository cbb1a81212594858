"""What mechanisms inherit from: a definition with a client's and a server's half, general or pure."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

from deniable.core.arrays import Counts, Floats
from deniable.core.summary import Summary
from deniable.estimation.channel import PureChannel
from deniable.estimation.intervals import BinomialTails
from deniable.estimation.methods.linear import unbiased
from deniable.mechanisms.base.client import Client
from deniable.mechanisms.base.server import Server


@dataclass(frozen=True)
class Mechanism(Client, Server):
    """Any mechanism. `RandomizedResponse` is the shortest example of one."""


@dataclass(frozen=True)
class PureMechanism(Mechanism):
    """A report supports its sender's value with probability p and any other given value with q.

    Everything linear follows from these two numbers: the unbiased estimate, its variance, its intervals.
    """

    channel: PureChannel = field(init=False, repr=False, compare=False)

    def _derive(self) -> None:
        object.__setattr__(self, "channel", self._channel())

    @abstractmethod
    def _channel(self) -> PureChannel:
        """The two probabilities of the thresholds that run."""

    def support_counts(self, summary: Summary) -> Counts:
        """For each value, how many reports support it."""
        return summary.counts

    def unbiased(self, summary: Summary) -> Floats:
        return unbiased(self.support_counts(summary), summary.n, self.channel)

    def noise(self, target: str) -> tuple[float, float, float]:
        return self.channel.noise(target)

    def tails(self, summary: Summary) -> BinomialTails:
        return BinomialTails(self.support_counts(summary), summary.n, self.channel)
