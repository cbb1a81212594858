"""The kernels and their twins agree without the compiler too, which could hide a fault of the source."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests import ROOT


def test_every_kernel_agrees_with_its_twin_without_the_compiler() -> None:
    # the others need not be imported to know that they have no twins
    files = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if "pytest.mark.twin" in path.read_text()]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "twin and not compiled", *map(str, files)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) >= 100
