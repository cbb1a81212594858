"""One report computes one hash function, and no table of functions outlives its mechanism."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc

import pytest

import deniable as dn
from deniable.core import hashing

NAMES = ["orr", "orappor", "cms", "hcms"]
SIZES = {"k": 1000, "epsilon": 1.0, "cohorts": 4096, "buckets": 64}


@pytest.mark.parametrize("name", NAMES)
def test_one_report_computes_one_function(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism(name, **SIZES)
    drawn: list[int] = []
    sound = hashing._drawn

    def counting(purpose: str, seed: int, number: int, size: int) -> bytes:
        drawn.append(number)
        return sound(purpose, seed, number, size)

    monkeypatch.setattr(hashing, "_drawn", counting)
    m.privatize_one(7)
    assert len(drawn) == 1


def test_no_functions_are_kept_when_their_mechanism_is_gone() -> None:
    def use(seed: int) -> int:
        m = dn.mechanism("orr", **SIZES, seed=seed)
        return int(m.functions.keys.nbytes)

    use(0)
    tracemalloc.start()
    try:
        size = use(1)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < size
    finally:
        tracemalloc.stop()


def test_one_report_loads_no_compiler() -> None:
    names = [name for name in dn.list_mechanisms() if name not in ("design", "matrix")]
    code = f"""
import sys, deniable as dn
for name in {names}:
    dn.mechanism(name, k=7, epsilon=1.0).privatize_one(3)
    assert "numba" not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code], check=True)
