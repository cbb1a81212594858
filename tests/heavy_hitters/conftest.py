"""A search among strings of up to six letters."""

from __future__ import annotations

import pytest

import deniable as dn
from tests.heavy_hitters.words import LETTERS


@pytest.fixture(scope="package")
def hh() -> dn.HeavyHitters:
    return dn.HeavyHitters.new(epsilon=4.0, alphabet=LETTERS, max_bytes=6, lengths=(3, 5, 7), cohorts=64)
