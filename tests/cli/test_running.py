"""A command in trouble: a full disk, a warning, an interruption, a reader that goes away."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import deniable as dn
from tests.cli.command import check_refusal, listing, run, succeed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spec with a file of reports and a summary."""
    folder = tmp_path_factory.mktemp("files")
    mechanism = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
    (folder / "spec.json").write_text(mechanism.spec.to_json())
    (folder / "reports.csv").write_text(f"report@{mechanism.fingerprint}\n0\n1\n")
    (folder / "all.summary").write_bytes(mechanism.summarize(mechanism.privatize(["yes"] * 100, seed=0)).to_bytes())
    return folder


def test_a_disk_that_fills_up_is_reported_with_the_files_name(folder: Path, tmp_path: Path) -> None:
    out, replace = tmp_path / "out.summary", os.replace

    def full(source: str | Path, target: str | Path) -> None:
        if Path(target) == out:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)  # a kernel that is compiled here first must still find its place

    with patch("os.replace", full):
        outcome = run("summarize", folder / "reports.csv", "--spec", folder / "spec.json", "-o", out)
    check_refusal(outcome, f"{out}: No space left on device")
    assert listing(tmp_path) == {}


@pytest.mark.may_skip
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_device_is_reported_once(folder: Path) -> None:
    check_refusal(run("spec", "new", "--k", 3, "--epsilon", 1, "-o", "/dev/full"), "/dev/full: No space left on device")
    command = [sys.executable, "-m", "deniable", "spec", "show", str(folder / "spec.json")]
    with open("/dev/full", "w") as full:
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (2, "deniable: error: No space left on device\n")


def test_a_missing_extra_is_named_and_no_table_is_left_either(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ["-o", tmp_path / "out.csv", "--plot", tmp_path / "out.png"]
    # this one alone: what the command imports must stay, or a later test would change another copy of it
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = run("estimate", folder / "all.summary", "--spec", folder / "spec.json", *files)
    check_refusal(outcome, "pip install 'deniable[plots]'")
    assert listing(tmp_path) == {}


def test_an_unforeseen_error_is_still_one_line(folder: Path) -> None:
    with patch("deniable.cli.io.reports.summary_of", side_effect=RuntimeError("two\nlines")):
        outcome = run("estimate", folder / "all.summary", "--spec", folder / "spec.json")
    assert outcome.code == 2
    assert outcome.err == "deniable: error: unexpected RuntimeError: two lines (DENIABLE_TRACEBACK=1 shows where)\n"


def test_a_warning_is_one_line_too(folder: Path) -> None:
    from deniable.estimation.methods.iterative import ConvergenceWarning

    def warn(*_: Any) -> None:
        import warnings

        warnings.simplefilter("always")
        warnings.warn("certified gap 1e-3", ConvergenceWarning, stacklevel=1)

    with patch("deniable.cli.commands.estimate.check_inputs", warn):
        outcome = run("estimate", folder / "all.summary", "--spec", folder / "spec.json")
    assert (outcome.code, outcome.err) == (0, "deniable: warning: certified gap 1e-3\n")


def test_interrupting_ends_with_130_and_leaves_no_file(folder: Path, tmp_path: Path) -> None:
    command = ["privatize", "-", "--spec", str(folder / "spec.json"), "-o", str(tmp_path / "out.csv")]
    process = subprocess.Popen(
        [sys.executable, "-m", "deniable", *command],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # the tests themselves may run where interrupts are ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        while not any(tmp_path.iterdir()):  # the partial file shows that it is at work
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "deniable: error: interrupted\n")
    assert listing(tmp_path) == {}


def test_a_reader_that_goes_away_ends_the_command_quietly(folder: Path) -> None:
    values = folder.parent / "many.csv"
    values.write_text("answer\n" + "yes\n" * 1_000_000)
    command = ["privatize", str(values), "--spec", str(folder / "spec.json"), "-o", "-"]
    process = subprocess.Popen(
        [sys.executable, "-m", "deniable", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@pytest.mark.parametrize("line", ["mechanisms", "spec show spec.json", "spec show spec.json --json"])
def test_a_table_that_nobody_reads_ends_the_command_quietly(line: str, folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as gone:
        command = [sys.executable, "-m", "deniable", *line.split()]
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, text=True, cwd=folder, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_files_get_the_permissions_of_any_new_file_or_keep_their_own(folder: Path, tmp_path: Path) -> None:
    plain, new, old = (tmp_path / name for name in ("plain", "new.summary", "old.summary"))
    plain.touch()
    old.touch()
    old.chmod(0o640)
    for path in (new, old):
        succeed("summarize", folder / "reports.csv", "--spec", folder / "spec.json", "-o", path)
    assert new.stat().st_mode == plain.stat().st_mode
    assert old.stat().st_mode & 0o777 == 0o640
