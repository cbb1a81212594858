"""The test suite; it mirrors the tree of src/deniable."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
