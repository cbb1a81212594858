"""The client, built once per process."""

from __future__ import annotations

import subprocess

import pytest

from tests.clients.typescript import FOLDER, TOOLS, Client, node


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    """The TypeScript client; that it compiles means that its types are right."""
    node()
    built = tmp_path_factory.mktemp("typescript")
    done = subprocess.run(
        [str(TOOLS / "tsc"), "--project", str(FOLDER), "--outDir", str(built)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (built / "package.json").write_text('{"type": "module"}')
    return Client(built)
