"""A second question of `deniable demo --serve`, for links, pages and scripts of one's own: any page may ask it."""

from __future__ import annotations

import json
import time

import numpy as np

from deniable.cli.commands.demo.network import Served
from deniable.collector.load.plan import Plan
from deniable.collector.load.run import complete
from deniable.collector.load.traffic import Target
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.wire.buckets import DAY, Buckets
from deniable.wire.keys import READ, WRITE, Key

COLLECTION = "commute"
QUESTION = "How did you come to work today?"
_SHARES = {"walk": 0.2, "bicycle": 0.25, "bus": 0.2, "train": 0.15, "car": 0.2}
_PEOPLE = 400


def open_commute(served: Served, seed: int) -> tuple[str, str]:
    """Make the collection, and let some people answer it; return its keys, to write and to read."""
    asked = mechanism("grr", labels=list(_SHARES), epsilon=1.0)
    settings = {"bucket": DAY, "minimum": 1, "origins": ["*"]}  # a machine of one's own, and only until Ctrl-C
    spec = json.loads(asked.spec.to_json())
    made = served.office.json("POST", "/v1/collections", {"name": COLLECTION, "spec": spec, "settings": settings})
    keys = {each["role"]: each["key"] for each in made["keys"]}
    values = generator(seed).choice(len(_SHARES), size=_PEOPLE, p=np.array(list(_SHARES.values())))
    today = Buckets.of(DAY).at(time.time())
    target = Target(served.office.address, asked, Key.read(keys[WRITE]).secret, [(today, b"")])
    complete(Plan(_PEOPLE, batch=_PEOPLE // 4, connections=1), target, values)
    return keys[WRITE], keys[READ]
