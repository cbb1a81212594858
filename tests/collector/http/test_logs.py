"""All that a collector writes to its standard error: lines of JSON of the kind that was asked for, and nothing else."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.collector.http.loud import SECRET
from tests.collector.http.test_serve import end


def logged_by_a_loud_collector(folder: Path, kind: str) -> str:
    """The standard error, from start to end, of a collector that also gets bytes that are no HTTP."""
    command = [sys.executable, "-m", "tests.collector.http.loud", "serve", str(folder), "--port", "0", "--json"]
    process = subprocess.Popen([*command, "--log", kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    port = int(json.loads(line)["address"].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(f"{SECRET}\r\n\r\n".encode())
        assert connection.recv(2**16).startswith(b"HTTP/1.1 400 ")
    code, logged = end(process)
    assert code == 0, logged
    return logged


@pytest.mark.parametrize("kind", ["all", "refused"])
def test_every_line_is_json_and_none_quotes_what_a_library_says(tmp_path: Path, kind: str) -> None:
    logged = logged_by_a_loud_collector(tmp_path / "store", kind)
    assert SECRET not in logged
    lines: list[dict[str, Any]] = [json.loads(line) for line in logged.splitlines()]
    said = {(line["logger"], line["level"]) for line in lines if line.get("event") == "library"}
    assert said == {
        ("uvicorn.error", "warning"),
        ("sqlalchemy.pool.impl.QueuePool", "error"),
        ("elsewhere", "error"),
        ("asyncio", "error"),
        ("py.warnings", "warning"),
    }
    (pool,) = (line for line in lines if line.get("logger", "").startswith("sqlalchemy"))
    assert pool["message"] == "Exception during reset or similar"
    assert pool["kind"] == "RuntimeError"
    assert pool["place"].startswith("__main__:")
    assert any(line.get("event") == "fault" and line["kind"] == "RuntimeError" for line in lines)  # of the thread
    assert any(line.get("kind") == "not-http" and line["status"] == 400 for line in lines)


def test_nothing_is_written_where_no_log_is_wanted(tmp_path: Path) -> None:
    assert logged_by_a_loud_collector(tmp_path / "store", "none") == ""
