"""Summaries of many simulated users, drawn directly where the mechanism allows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from deniable.core.arrays import is_masked
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument, kind_of
from deniable.core.summary import Summary
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.simulated import generator

MAX_USERS = 2**53


def simulate(mechanism: Mechanism, counts: Any, seed: int = 0, *, candidates: Iterable[Any] | None = None) -> Summary:
    """Draw the summary of users with these true counts from its exact distribution.

    `counts` maps values to counts, as a Counter does. Or it has one count per value of a closed domain, in order; for
    an open domain one count per string in `candidates`.

    Where a mechanism draws its counts at once (see its `simulated_counts`) the cost does not grow with the number of
    users, and probabilities are rounded to 53 bits, the precision of NumPy's samplers; the others make every report.
    The summary is marked simulated.

    >>> import deniable as dn
    >>> dn.simulate(dn.mechanism("grr", k=3, epsilon=1.0), [500, 300, 200]).n
    1000
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", "be a mechanism", mechanism)
    if isinstance(counts, Mapping):
        counts, candidates = _by_value(mechanism, counts, candidates)
    strings = _strings(mechanism, candidates)
    size = mechanism.k if strings is None else len(strings)
    if is_masked(counts):
        raise InvalidArgument("counts", "be whole numbers, none of them masked", "a masked array")
    try:
        array = np.asarray(counts)
    except ValueError:  # rows of unequal length
        raise InvalidArgument("counts", f"be {size} whole numbers", kind_of(counts)) from None
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise InvalidArgument("counts", f"be {size} whole numbers", f"shape {array.shape}, {array.dtype}")
    if array.size and array.min() < 0:
        raise InvalidArgument("counts", "not be negative", int(array.min()))
    n = sum(array.tolist())
    if n > MAX_USERS:
        raise InvalidArgument("counts", f"add up to at most {MAX_USERS}", n)
    true = array.astype(np.int64)
    if strings is None:
        drawn = mechanism.simulated_counts(true, generator(seed))
    else:
        drawn = mechanism.simulated_among(mechanism.domain.indices(strings), true, generator(seed))  # type: ignore[attr-defined]
    return Summary(drawn, n, mechanism.fingerprint, simulated=True)


def _by_value(
    mechanism: Mechanism, counts: Mapping[Any, Any], candidates: Iterable[Any] | None
) -> tuple[list[Any], Iterable[Any] | None]:
    """Return counts in the order of the domain, or with their strings if it is open."""
    if isinstance(mechanism.domain, Open):
        if candidates is not None:
            raise InvalidArgument("candidates", "be omitted", candidates, hint="The counts name the strings.")
        return list(counts.values()), list(counts)
    ordered = [0] * mechanism.k
    for value, count in counts.items():
        ordered[mechanism.domain.index(value)] += count  # several values may be in one catch-all category
    return ordered, candidates


def _strings(mechanism: Mechanism, candidates: Iterable[Any] | None) -> list[Any] | None:
    """Return the strings of the users in an open domain, or None in a closed one."""
    if not isinstance(mechanism.domain, Open):
        if candidates is not None:
            raise InvalidArgument("candidates", "be omitted", candidates, hint="This domain lists its values.")
        return None
    if candidates is None:
        hint = "List the strings that users have."
        raise InvalidArgument("candidates", "be given for an open domain", None, hint)
    if isinstance(candidates, (str, bytes)) or not isinstance(candidates, Iterable):
        raise InvalidArgument("candidates", "be a list of strings", candidates)
    return list(candidates)
