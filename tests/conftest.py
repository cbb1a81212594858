"""Seeds: fixed in the ordinary suite, fresh and printed with --fresh-seeds (`make soak`). And how the suite runs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

from deniable import kernels
from tests.running import compiling, figures, skips, suites


def pytest_configure(config: pytest.Config) -> None:
    fresh = config.getoption("--fresh-seeds")
    settings.register_profile("deniable", deadline=None, derandomize=not fresh)  # no test depends on time
    settings.load_profile("deniable")
    config.pluginmanager.register(suites.SuiteTimes())
    config.pluginmanager.register(figures.Figures())
    if skips.in_ci():
        config.pluginmanager.register(skips.NoSkips())
    if hasattr(config, "workerinput"):  # one of several processes of pytest-xdist
        compiling.take_turns()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh-seeds", action="store_true", help="draw new seeds and print them")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of a statistical test."""
    number = secrets.randbits(32) if request.config.getoption("--fresh-seeds") else 20260114
    print(f"seed {number}")  # noqa: T201  (shown when the test fails)
    return number


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """Seeded randomness for a test's own inputs."""
    return np.random.default_rng(seed)


@pytest.fixture(autouse=True)
def _compiled_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled loops are what is tested, also where plain Python would do for so little data."""
    monkeypatch.setattr(kernels._Plain, "over", True)
    monkeypatch.setattr(kernels._Plain, "steps", -1)


@pytest.fixture(autouse=True)
def _wrapping_products() -> Iterator[None]:
    """Without the compiler NumPy reports the products that wrap around on purpose."""
    with np.errstate(over="ignore" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "warn"):
        yield
