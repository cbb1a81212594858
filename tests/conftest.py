"""Seeds: fixed in the ordinary suite, fresh and printed with --fresh-seeds (`make soak`)."""

from __future__ import annotations

import secrets

import numpy as np
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh-seeds", action="store_true", help="draw new seeds and print them")


def pytest_configure(config: pytest.Config) -> None:
    # A soak run must not be limited to the tests the ordinary run selects.
    if config.getoption("--fresh-seeds"):
        print("fresh seeds: each failing test shows its own")  # noqa: T201


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
