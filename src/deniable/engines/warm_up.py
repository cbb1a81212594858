"""Compile and cache the loops that read files and count groups, beside those of the mechanisms."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from deniable import kernels
from deniable.core.extras import needed
from deniable.core.parquet import how_written
from deniable.engines.arrow import summarize_by
from deniable.engines.streams import keyed
from deniable.mechanisms.registry import mechanism

FILES = "files"  # what is compiled here, beside the names of mechanisms
_ROWS = 100


def warm_up() -> None:
    """Count a small file by keys of several kinds."""
    with needed():
        import pyarrow.parquet as pq

    kernels.compile_everything()
    m, values = mechanism("grr", k=10, epsilon=1.0), np.arange(_ROWS) % 10
    keys = {"number": values % 3, "text": np.array(["a", "b"])[values % 2]}
    with TemporaryDirectory() as folder:
        path = Path(folder, "reports.parquet")
        pq.write_table(keyed(m.privatize(values, seed=0), keys), path, **how_written())
        for by in ("number", ["number", "text"]):
            summarize_by(m, path, by)
