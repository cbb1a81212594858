"""A Spark cluster on this machine gives the bytes of the serial API, and counts nobody twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import deniable as dn
from deniable.engines import spark
from tests.engines import spark_checks
from tests.engines.spark_cluster import CLASSIC, CONNECT, missing, outcomes


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.mark.parametrize(
    ("kind", "check"),
    [(kind, check.__name__) for kind in (CLASSIC, CONNECT) for check in spark_checks.CHECKS[kind]],
)
def test_on_a_cluster(kind: str, check: str, shared: Path) -> None:
    if problem := missing():
        pytest.skip(problem)
    found = outcomes(kind, shared)
    assert check in found, found.get("", f"there is no outcome of {check}")
    assert not found[check], found[check]


def test_what_is_no_dataframe_is_refused() -> None:
    if problem := missing():
        pytest.skip(problem)
    m = dn.mechanism("grr", k=4, epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match="df must be a Spark DataFrame, got 'reports'"):
        spark.summarize(m, "reports")
    with pytest.raises(dn.InvalidArgument, match="mechanism must be a mechanism, or heavy hitters"):
        spark.summarize_by("grr", None, by="day")  # type: ignore[arg-type]
