"""Packages that come with an extra: a device installs none of them (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deniable.core.errors import MissingExtra

SERVER, CLI, PLOTS, COLLECTOR = "server", "cli", "plots", "collector"
DUCKDB, POLARS, SPARK = "duckdb", "polars", "spark"
_PACKAGES = {
    "numba": SERVER,
    "scipy": SERVER,
    "pyarrow": SERVER,
    "flint": SERVER,
    "typer": CLI,
    "rich": CLI,
    "matplotlib": PLOTS,
    "PIL": PLOTS,
    "altair": PLOTS,
    "vl_convert": PLOTS,
    "sqlalchemy": COLLECTOR,
    "psycopg": COLLECTOR,
    "msgspec": COLLECTOR,
    "starlette": COLLECTOR,
    "uvicorn": COLLECTOR,
    "httptools": COLLECTOR,
    "duckdb": DUCKDB,
    "polars": POLARS,
    "pyspark": SPARK,
}


@contextmanager
def needed() -> Iterator[None]:
    """Around an import: where a package of an extra is missing, raise MissingExtra, which names the command to run."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _PACKAGES.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise MissingExtra(f"this call uses {error.name} and", f"deniable[{extra}]") from None
