"""Summaries of many simulated users, without making their reports one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.errors import InvalidArgument
from deniable.mechanisms.base import Mechanism
from deniable.randomness.simulated import generator
from deniable.summary import Summary

MAX_USERS = 2**53


def simulate(mechanism: Mechanism, counts: Any, seed: int = 0) -> Summary:
    """The summary of users with these true counts, drawn from its exact distribution.

    For grr, sue, oue, the, she and ss its cost does not grow with the number of users, and probabilities are rounded
    to 53 bits, the precision of NumPy's samplers; the others make every report. The summary is marked simulated.

    >>> import deniable as dn
    >>> dn.simulate(dn.mechanism("grr", k=3, epsilon=1.0), [500, 300, 200]).n
    1000
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", "be a mechanism", mechanism)
    array = np.asarray(counts)
    if array.shape != (mechanism.k,) or array.dtype.kind not in "iu":
        raise InvalidArgument("counts", f"be {mechanism.k} whole numbers", f"shape {array.shape}, {array.dtype}")
    if array.size and array.min() < 0:
        raise InvalidArgument("counts", "not be negative", int(array.min()))
    n = sum(array.tolist())
    if n > MAX_USERS:
        raise InvalidArgument("counts", f"add up to at most {MAX_USERS}", n)
    drawn = mechanism.simulated_counts(array.astype(np.int64), generator(seed))
    return Summary(drawn, n, mechanism.fingerprint, simulated=True)
