"""The audit of other libraries: its protocol, and the page that it writes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from deniable.auditing.empirical.audit import EmpiricalAudit
from tools import audit_peers
from tools.peer_reports import CLIENTS


def found(bound: float) -> EmpiricalAudit:
    return EmpiricalAudit("box", 1.0, bound, 1e-9, 500_000, 10, 9, 2, 1, "", None, "", (), 1.0)


def test_the_page_has_a_row_for_every_client() -> None:
    rows = re.findall(r"^\| ([\w-]+) [\d.]+ \| `(.+?)` \|", audit_peers.PAGE.read_text(), re.MULTILINE)
    assert rows == [(library, what) for library, what, _ in CLIENTS.values()]


def test_rows_say_what_is_proved_and_what_could_not_run() -> None:
    assert audit_peers.line("multi-ss", found(0.97), "1.2") == (
        "| multi-freq-ldpy 1.2 | `SS_Client` | 1 | 0.970 | 500,000 |"
    )
    assert "**1.540**, above the promise" in audit_peers.line("pure-oue", found(1.54), "1.2")
    assert audit_peers.line("pure-oue", None, "", "it is not there").endswith("| it is not there |")


def test_libraries_that_are_not_installed_are_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit_peers, "PAGE", tmp_path / "untouched.md")
    # our own environment has none of these libraries
    assert audit_peers.main(["--peers", sys.executable, "pure-grr", "diffprivlib-binary"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("could not be run: ModuleNotFoundError") == 2
    assert not (tmp_path / "untouched.md").exists()
