"""The error of mechanisms that deal the values to blocks: users add more error to the values of their own block."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.channel import Noise, for_target


def same_block_share(values: int, blocks: int) -> Fraction:
    """The share of pairs of different values in one block, when value x is dealt to block x mod `blocks`."""
    fewest, longer = divmod(values, blocks)
    pairs = longer * (fewest + 1) * fewest + (blocks - longer) * fewest * (fewest - 1)
    return Fraction(pairs, values * (values - 1))


def noise_by_blocks(variances: tuple[float, float, float], shares: Floats, blocks: int, target: str) -> Noise:
    """Coefficients of n Var per value (channel.py), for these shares of users.

    `variances` are what a user adds to the estimates of their own value, of others in its block, and of all others.
    """
    own, near, far = variances
    block = np.arange(len(shares)) % blocks
    beside = np.bincount(block, shares, blocks)[block] - shares  # users of the same block with another value
    elsewhere = np.maximum(1 - shares - beside, 0.0)
    others = (beside * near + elsewhere * far) / np.maximum(beside + elsewhere, 1e-12)
    return for_target(others, own - others, target)
