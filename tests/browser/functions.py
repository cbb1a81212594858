"""Functions of the pages, called in Node: what they compute needs no browser to be tested."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests import ROOT
from tests.clients.typescript import node

PAGES = ROOT / "dashboard"
ESBUILD = PAGES / "node_modules" / ".bin" / "esbuild"
PRELUDE = "globalThis.matchMedia = () => ({ matches: false });\n"  # what a module asks a browser as it is loaded


def called(module: str, expression: str) -> Any:
    """The value of an expression in which `m` is a module of dashboard/src."""
    program = node()
    if not ESBUILD.exists():
        pytest.skip("the tools of the pages are missing: run make dashboard")
    source = f'import * as m from "./src/{module}.ts"; console.log(JSON.stringify({expression}));'
    options = ["--bundle", "--format=esm", "--loader=ts", "--log-level=error"]
    bundle = subprocess.run([ESBUILD, *options], input=source, cwd=PAGES, capture_output=True, text=True, check=True)
    command = [program, "--input-type=module"]
    done = subprocess.run(command, input=PRELUDE + bundle.stdout, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
