"""Files that several tests of the command line start from."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.cli.command import succeed
from tests.cli.noisy import COUNTS, LABELS


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    pa.csv.write_csv(pa.table({"diagnosis": LABELS, "patients": COUNTS}), path)
    return path


@pytest.fixture
def noisy(counts: Path) -> Path:
    path = counts.with_name("noisy.csv")
    succeed("release", counts, "--epsilon", 1, "--seed", 5, "-o", path)
    return path
