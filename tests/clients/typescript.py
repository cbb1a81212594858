"""The TypeScript client as the tests run it: built once, then asked in one process of Node per test."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

FOLDER = ROOT / "clients" / "typescript"
TOOLS = FOLDER / "node_modules" / ".bin"
TWINS = sorted(path.stem for path in (FOLDER / "src" / "mechanisms").glob("*.ts"))  # the mechanisms it has
HARNESS = Path(__file__).with_name("harness.mjs")

Task = dict[str, Any]


def node() -> str:
    """The program that runs JavaScript; without it, or without the developers' tools, the test is skipped."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is missing: the TypeScript client is not tested")
    if not (TOOLS / "tsc").exists():
        pytest.skip("the TypeScript client's tools are missing: run make clients")
    return found


@dataclass(frozen=True)
class Client:
    """A build of the client."""

    built: Path

    def ask(self, tasks: Sequence[Task]) -> list[Any]:
        """Answer every task, in order; a refusal raises."""
        found = self.try_(tasks)
        for task, answer in zip(tasks, found, strict=True):
            assert "answer" in answer, (answer, task)
        return [answer["answer"] for answer in found]

    def refusals(self, tasks: Sequence[Task]) -> list[tuple[str, str]]:
        """The code and the message with which each task is refused."""
        found = self.try_(tasks)
        for task, answer in zip(tasks, found, strict=True):
            assert "code" in answer, (answer, task)
        return [(answer["code"], answer["message"]) for answer in found]

    def try_(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """The answer, or the refusal, of every task."""
        command = [node(), str(HARNESS), str(self.built)]
        done = subprocess.run(command, input=json.dumps(list(tasks)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found
