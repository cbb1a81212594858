"""The error of mechanisms that deal the values to blocks: users add more error to the values of their own block."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.channel import Noise, for_target
from deniable.estimation.tails import Steps


def same_block_share(values: int, blocks: int) -> Fraction:
    """The share of pairs of different values in one block, when value x is dealt to block x mod `blocks`."""
    fewest, longer = divmod(values, blocks)
    pairs = longer * (fewest + 1) * fewest + (blocks - longer) * fewest * (fewest - 1)
    return Fraction(pairs, values * (values - 1))


@dataclass(frozen=True)
class BlockNoise:
    """The noise of a mechanism whose values are dealt to blocks.

    `variances` are what a user adds to the estimates of their own value, of others in its block, and of all others;
    `adds` are the contributions of a report to an estimate, of which the largest and the least matter.
    """

    variances: tuple[float, float, float]
    adds: tuple[float, ...]

    def given(self, block_shares: Floats, target: str) -> Noise:
        """Coefficients of n Var per value (channel.py), for these shares of users in the value's block."""
        own, near, far = self.variances
        share = np.clip(block_shares, 0.0, 1.0)
        # users with the value are a part of its block: n Var = own f + near (share - f) + far (1 - share)
        return for_target(share * near + (1 - share) * far, own - near, target)

    def steps(self, target: str) -> Steps:
        """The largest steps of an estimate; its variance is least if nobody else is in the value's block."""
        own, _, far = self.variances
        return Steps(max(self.adds), 1 - min(self.adds), for_target(far, own - far, target))
