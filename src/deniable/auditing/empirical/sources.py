"""Where audited reports come from, if not from `privatize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.auditing.empirical.mechanisms import Source
from deniable.core.arrays import Payloads
from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hashing.public_coins import PublicCoin


def by_ids(mechanism: Mechanism) -> Source:
    """Reports made under ids, which the auditor draws."""
    if not isinstance(mechanism, PublicCoin):
        raise InvalidArgument("by_id", "be asked of a mechanism with public coins, such as clh", mechanism.name)
    generator = np.random.default_rng()

    def make(labels: Any) -> Payloads:
        made = [mechanism.privatize_for(label, generator.bytes(16)).payload for label in np.asarray(labels).tolist()]
        return np.array(made, np.uint32)

    return Source(make, "reports made under ids")
