"""What Spark must count of a spool; it runs in the cluster that the tests of engines start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.collector.running import opened
from deniable.engines import spark
from tests.collector.spool.test_spool import written
from tests.collector.spool.world import BY, NAME, World


def a_spool_is_counted_once(session: Any, folder: Path) -> None:
    for name in ("grr", "oue"):  # counted by Spark itself, and by tasks
        mechanism: Any = dn.mechanism(name, k=20, epsilon=1.0)
        with opened(folder / f"{name}-store") as collector:
            world = World.of(collector.service, mechanism, np.random.default_rng(5))
            written(world, folder / name, rounds=6)
        rows = session.read.parquet(str(folder / name / f"collection={NAME}" / f"spec={mechanism.fingerprint}"))
        once = rows.dropDuplicates(["hour", "id", "position"])
        assert rows.count() > 1.3 * once.count()
        found = spark.summarize_by(mechanism, once.withColumnRenamed("hour", "bucket"), by=list(BY))
        assert found == world.table(), name
