"""The terminal shows what files say and obeys none of it; every encoding, closed stream and signal has an answer."""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.cli.io import files
from deniable.cli.running import CommandError
from deniable.cli.streams import echo_json, printable
from tests.cli.command import check_refusal, run, succeed

NASTY = "\x1b[31mred\x1b[0m\x07\u202e\x9b2J"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    m = dn.mechanism("grr", labels=[NASTY, "schön"], epsilon=1.0)
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    (tmp_path / "today.summary").write_bytes(m.summarize(np.array([0, 1, 1])).to_bytes())
    (tmp_path / "values.csv").write_text("answer\nschön\n")
    noisy = "town,n@epsilon=1.0 sensitivity=1\n" + f"{NASTY},3\nB,2\n"
    (tmp_path / "noisy.csv").write_text(noisy)
    hitters = dn.HeavyHitters.new(epsilon=2.0, max_bytes=2, alphabet="a\x1b")
    (tmp_path / "hh.json").write_text(hitters.to_json())
    return tmp_path


COMMANDS = (
    "estimate today.summary --spec spec.json",
    "estimate today.summary --spec spec.json --json",
    "spec show spec.json",
    "spec show spec.json --json",
    "heavy-hitters show hh.json",
    "ask median noisy.csv",
    "privatize values.csv --spec spec.json -o \x1b.xlsx",
    "ask median noisy.csv --column \x1b[31m",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_text_from_a_file_reaches_the_terminal_as_a_command(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    outcome = run(*command.split(" "))
    everything = outcome.out + outcome.err
    assert everything
    assert not set(everything) & set("\x1b\x07\u202e\x9b")
    if "--json" in command:
        assert NASTY in _strings(json.loads(outcome.out))


def _strings(document: Any) -> str:
    """All text in a document, joined."""
    if isinstance(document, dict):
        return "".join(map(_strings, document.values()))
    return "".join(map(_strings, document)) if isinstance(document, list) else str(document)


def test_characters_are_escaped_as_python_or_json_does() -> None:
    assert printable("a\x1b\n\ud800é", keep="\n") == "a\\x1b\n\\ud800é"
    for encoding, shown in (("utf-8", '"\\u001b\\u0080é😀"\n'), ("ascii", '"\\u001b\\u0080\\u00e9\\ud83d\\ude00"\n')):
        out = io.TextIOWrapper(io.BytesIO(), encoding, write_through=True)
        with patch.object(sys, "stdout", out):
            echo_json('"\\u001b\x80é😀"')
        assert out.buffer.getvalue().decode() == shown


def _process(*arguments: object, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    line = f'exec "{sys.executable}" -m deniable "$@" {shell}'
    return subprocess.run(
        ["sh", "-c", line, "sh", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        timeout=120,
        check=False,
    )


def test_an_encoding_without_the_labels_shows_them_escaped(folder: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    line = ("estimate", folder / "today.summary", "--spec", folder / "spec.json")
    table, document = _process(*line, **plain), _process(*line, "--json", **plain)
    assert (table.returncode, document.returncode) == (0, 0), table.stderr + document.stderr
    assert "sch\\xf6n" in table.stdout
    assert "schön" in [row["label"] for row in json.loads(document.stdout)["values"]]


def test_closed_streams_are_said_to_be_closed(folder: Path) -> None:
    line = ("estimate", folder / "today.summary", "--spec", folder / "spec.json")
    closed = _process(*line, shell=">&-")
    assert closed.returncode == 2
    assert closed.stderr.startswith("deniable: error: standard output is closed")
    closed = _process("privatize", "-", "--spec", folder / "spec.json", "-o", folder / "r.csv", shell="<&-")
    assert closed.returncode == 2
    assert closed.stderr == "deniable: error: standard input is closed. Give a file, or pipe one in.\n"
    assert not (folder / "r.csv").exists()
    assert _process("--version", shell="2>&-").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_and_leaves_no_file(
    number: signal.Signals, folder: Path, request: pytest.FixtureRequest
) -> None:
    inherited = signal.signal(number, signal.SIG_DFL)  # nohup, say, has tests start with SIGHUP ignored
    request.addfinalizer(lambda: signal.signal(number, inherited))
    before = sorted(os.listdir(folder))

    def later(*_: object, **__: object) -> None:
        assert len(os.listdir(folder)) == len(before) + 1  # the temporary file
        os.kill(os.getpid(), number)
        time.sleep(10)

    with patch("deniable.mechanisms.base.mechanism.Mechanism.payloads", later):
        line = ("privatize", folder / "values.csv", "--spec", folder / "spec.json", "-o", folder / "r.parquet")
        outcome = run(*line)
    assert outcome.code == 128 + number
    assert outcome.err == f"deniable: error: ended by {number.name}\n"
    assert sorted(os.listdir(folder)) == before
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_signal_that_lands_in_a_callback_from_c_is_not_lost(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before, hook = sorted(os.listdir(folder)), sys.unraisablehook
    landings: list[int] = []

    def land() -> None:  # Python drops what is raised here, as it does while compiled code is loaded
        landings.append(len(landings))
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass  # the handler runs between two steps

    def later(*_: object, **__: object) -> None:
        ctypes.CFUNCTYPE(None)(land)()
        time.sleep(10)

    with patch("deniable.mechanisms.base.mechanism.Mechanism.payloads", later):
        line = ("privatize", folder / "values.csv", "--spec", folder / "spec.json", "-o", folder / "r.parquet")
        outcome = run(*line)
    assert landings == [0]
    assert (outcome.code, outcome.err) == (128 + signal.SIGTERM, "deniable: error: ended by SIGTERM\n")
    assert capfd.readouterr().err == ""
    assert sorted(os.listdir(folder)) == before
    assert sys.unraisablehook is hook


def test_a_command_in_another_thread_leaves_signals_alone() -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(run("--version").code))
    thread.start()
    thread.join()
    assert codes == [0]


def test_files_are_synced_before_they_take_their_names(tmp_path: Path) -> None:
    done: list[str] = []
    real_sync, real_replace = os.fsync, os.replace
    with (
        patch.object(os, "fsync", lambda handle: (done.append("sync"), real_sync(handle))),
        patch.object(os, "replace", lambda *names: (done.append("replace"), real_replace(*names))),
        patch.object(os, "umask", side_effect=AssertionError("the umask belongs to all threads")),
        files.writing(tmp_path / "new") as file,
    ):
        file.write(b"data")
    assert done == ["sync", "replace", "sync"]
    assert (tmp_path / "new").read_bytes() == b"data"


def test_a_new_file_has_the_permissions_of_any_and_a_replaced_one_its_own(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    for mode in (None, 0o600, 0o666):
        path = tmp_path / "made"
        if mode is not None:
            path.chmod(mode)
        with files.writing(path) as file:
            file.write(b"data")
        wanted = stat.S_IMODE((tmp_path / "plain").stat().st_mode) if mode is None else mode
        assert stat.S_IMODE(path.stat().st_mode) == wanted


def test_a_read_only_file_is_written_before_it_is_read_only(tmp_path: Path) -> None:
    path = tmp_path / "made"
    path.touch(0o400)
    with files.replacing(path) as partial:
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600  # nobody but root could open the file again otherwise
        partial.write_bytes(b"data")
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert path.read_bytes() == b"data"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_disk_that_fails_at_the_end_leaves_the_old_file(number: int, tmp_path: Path) -> None:
    path = tmp_path / "made"
    path.write_bytes(b"old")
    failing = patch.object(os, "fsync", side_effect=OSError(number, os.strerror(number)))
    with failing, pytest.raises(CommandError, match=os.strerror(number)), files.writing(path) as file:
        file.write(b"new")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"made": b"old"}


def test_a_file_system_that_cannot_sync_is_written_all_the_same(tmp_path: Path) -> None:
    failing = patch.object(os, "fsync", side_effect=OSError(errno.EINVAL, "Invalid argument"))
    with failing, files.writing(tmp_path / "made") as file:
        file.write(b"new")
    assert (tmp_path / "made").read_bytes() == b"new"


class Reader:
    """A reader of CSV that remembers what was done to it."""

    def __init__(self, real: Any, done: list[str]) -> None:
        self.real, self.done = real, done

    def __enter__(self) -> Reader:
        return self

    def __iter__(self) -> Iterator[Any]:
        self.done.append("read")
        return iter(self.real)

    def __exit__(self, *_: object) -> None:
        self.real.close()
        self.done.append("closed")


def test_the_reader_of_csv_is_closed_when_a_row_is_wrong(folder: Path) -> None:
    done, real = list[str](), pa.csv.open_csv
    (folder / "wrong.csv").write_text("answer\n" + "schön\n" * 400_000 + "secret,more\n")
    with patch.object(pa.csv, "open_csv", lambda *given: Reader(real(*given), done)):
        outcome = run("privatize", folder / "wrong.csv", "--spec", folder / "spec.json", "-o", folder / "r.csv")
    check_refusal(outcome, "Expected 1 columns, got 2; --show-values quotes it")
    assert "secret" not in outcome.err
    assert done == ["read", "closed"]


@pytest.mark.parametrize("cell", ["0x1", " 1", "00", "", "1.0", "+1", "99999999999999999999", "18446744073709551616"])
def test_a_cell_of_reports_is_a_decimal_number_and_nothing_else(cell: str, folder: Path) -> None:
    fingerprint = dn.from_spec(folder / "spec.json").fingerprint
    line = ("summarize", folder / "r.csv", "--spec", folder / "spec.json", "-o", folder / "r.summary")
    (folder / "r.csv").write_text(f"report@{fingerprint}\n0\n1\n")
    succeed(*line)
    (folder / "r.csv").write_text(f"report@{fingerprint}\n0\n{cell}\n1\n")
    check_refusal(run(*line), "decimal number below 2^64" if cell else "has 1 empty cells")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_a_long_name_of_a_column_is_read_in_linear_time(name: str, tmp_path: Path) -> None:
    column = "@epsilon=" * 100_000
    if name == "x.csv":
        (tmp_path / name).write_text(f'"{column}"\n5\n')
    else:
        pa.parquet.write_table(pa.table({column: [5]}), tmp_path / name)
    start = time.process_time()
    outcome = run("ask", "total", tmp_path / name)
    # with backtracking it took minutes
    assert time.process_time() - start < 20
    assert outcome.code == 2
    assert len(outcome.err) < 1000


def test_a_count_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("town,n\nA," + "9" * 5000 + "\n")
    check_refusal(
        run("release", tmp_path / "c.csv", "--epsilon", "1", "-o", tmp_path / "out.csv"),
        "must be a whole number of at most 4,000 digits",
    )
    (tmp_path / "c.csv").write_text("n,n\n1,2\n")
    check_refusal(
        run("release", tmp_path / "c.csv", "--epsilon", "1", "-o", tmp_path / "out.csv"), "more than one column 'n'"
    )


@pytest.mark.parametrize("text", ["1  2", "1 2 ", " 1 2"])
def test_a_refused_cell_is_shown_with_its_spaces(text: str, tmp_path: Path) -> None:
    m = dn.mechanism("oue", k=100, epsilon=1.0)
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    (tmp_path / "r.csv").write_text(f"report@{m.fingerprint}\n{text}\n")
    outcome = run("summarize", tmp_path / "r.csv", "--spec", tmp_path / "spec.json", "-o", tmp_path / "out.summary")
    check_refusal(outcome, f"got {text!r}")


BAD = ('{"thresholds": {"\\ud800": "1"}}', "[" * 100_000, '{"a": 1e400}', "\xff\xfe{}", "", '{"deniable": 1', "\0")


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text[:12]))
def test_a_damaged_file_beside_reports_does_not_keep_their_spec_from_being_found(text: str, folder: Path) -> None:
    m = dn.from_spec(folder / "spec.json")
    spec = {**m.spec.to_dict(), "thresholds": {"\ud800": "1"}}
    (folder / "a.json").write_text(json.dumps(spec))
    (folder / "b.json").write_bytes(text.encode("latin-1"))
    (folder / "r.csv").write_text(f"report@{m.fingerprint}\n0\n1\n")
    assert json.loads(succeed("estimate", folder / "r.csv", "--json"))["n"] == 2
