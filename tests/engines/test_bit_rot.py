"""A bit that turns over in a file of ours is noticed, where it would else be a report that nobody sent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.core.parquet import READ
from deniable.engines import arrow
from deniable.engines.simulated import simulate_files
from deniable.kernels import dictionary_pages as kernel
from tests.cli.command import check_refusal, run, succeed

USERS = 20_000


def simulated(folder: Path) -> Path:
    m = dn.from_spec((folder / "spec.json").read_bytes())
    simulate_files(m, folder / "made", USERS, compression="none")
    return folder / "made" / "part-000000.parquet"


def by_privatize(folder: Path) -> Path:
    (folder / "values.txt").write_text("value\n" + "\n".join(map(str, np.arange(USERS) % 200)) + "\n")
    privatize = ("privatize", folder / "values.txt", "--spec", folder / "spec.json", "--seed", 1)
    succeed(*privatize, "-o", folder / "r.parquet")
    return folder / "r.parquet"


def turned(path: Path) -> None:
    """Turn bits over in a page, until only a checksum can tell."""
    data = bytearray(path.read_bytes())
    place = len(data) // 2
    with pq.ParquetFile(path) as file:
        whole = file.read()
    for _ in range(200):
        data[place] ^= 16
        path.write_bytes(bytes(data))
        try:
            with pq.ParquetFile(path) as file:
                if not file.read().equals(whole):
                    return
        except (OSError, pa.ArrowException):  # the compression has noticed
            pass
        data[place] ^= 16
        place += 1
    raise AssertionError("no bit could be turned over without notice")


@pytest.fixture
def m(tmp_path: Path) -> Any:
    made = dn.mechanism("grr", k=256, epsilon=8.0)
    (tmp_path / "spec.json").write_text(made.spec.to_json())
    return made


@pytest.mark.parametrize("make", [simulated, by_privatize])
def test_a_bit_that_turned_over_is_noticed(make: Callable[[Path], Path], m: Any, tmp_path: Path) -> None:
    path = make(tmp_path)
    assert arrow.summarize(m, path).n == USERS
    turned(path)
    with pytest.raises(dn.MalformedReport, match=f"{path.name}: the file is damaged"):
        arrow.summarize(m, path)
    asked = ("summarize", path, "--spec", tmp_path / "spec.json", "-o", tmp_path / "x.summary")
    check_refusal(run(*asked), "the file is damaged")
    check_refusal(run(asked[0], "-", *asked[2:], stdin=path.read_bytes()), "CRC checksum verification failed")


def test_a_bit_of_the_footer_changes_no_answer_and_ends_no_process(m: Any, tmp_path: Path) -> None:
    simulate_files(m, tmp_path / "made", 2000)
    path = tmp_path / "made" / "part-000000.parquet"
    command = [sys.executable, "-m", "tests.engines.footer_bits", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert set(found) == {"refused", "counted as before"}
    assert min(found.values()) > 200


def test_rows_that_a_footer_hides_are_missed(m: Any, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(m.privatize(np.arange(USERS) % 256, seed=1).to_arrow(), path)
    data, asked = path.read_bytes(), ("summarize", "-", "--spec", tmp_path / "spec.json", "-o", tmp_path / "x.summary")
    number = bytes([0xC0, 0xB8, 0x02])  # 20,000, as Thrift writes it
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    places = [place for place in range(end, len(data)) if data[place:].startswith(number)]
    assert len(places) == 3
    of_file, _, of_row_group = places  # between them, values of the column
    for spoilt_places, mask, reason in [
        ([of_file], 64, "it has 19968 rows, and its row groups have 20000"),
        ([of_row_group], 64, "it has 20000 rows, and its row groups have 19968"),
        ([of_file, of_row_group], 2, "row group 0 has 20001 rows, and 20000 were found"),
    ]:
        spoilt = bytearray(data)
        for place in spoilt_places:
            spoilt[place] ^= mask
        path.write_bytes(spoilt)
        with pytest.raises(dn.MalformedReport, match=f"the file is damaged: {reason}"):
            arrow.summarize(m, path)
        check_refusal(run(*asked, stdin=bytes(spoilt)), f"standard input: {reason}")


def test_what_the_commands_write_has_checksums(m: Any, tmp_path: Path) -> None:
    simulate_files(m, tmp_path / "made", USERS, by={"day": 2})
    spec, daily, strings = (tmp_path / name for name in ("spec.json", "daily.parquet", "h.parquet"))
    succeed("summarize", tmp_path / "made", "--by", "day", "--spec", spec, "-o", daily)
    succeed("heavy-hitters", "new", "--epsilon", 3, "--max-bytes", 2, "-o", tmp_path / "hh.json")
    strung = ("heavy-hitters", "privatize", "-", "--spec", tmp_path / "hh.json", "-o", strings)
    succeed(*strung, stdin=b"ab\nba\n" * 3000)
    for path in (daily, strings):
        data, noticed = path.read_bytes(), False
        for place in range(40, len(data) // 2, 7):
            spoilt = bytearray(data)
            spoilt[place] ^= 16
            try:
                with pq.ParquetFile(pa.BufferReader(bytes(spoilt)), **READ) as file:
                    file.read()
            except (OSError, pa.ArrowException) as error:  # others where the page's header is hit
                noticed |= "CRC checksum" in str(error)
        assert noticed, path


def test_pages_of_reports_are_large(tmp_path: Path) -> None:
    m = dn.mechanism("grr", k=16, epsilon=1.0)
    simulate_files(m, tmp_path / "made", 300_000)
    path = tmp_path / "made" / "part-000000.parquet"
    chunk = pq.read_metadata(path).row_group(0).column(0)
    column = np.frombuffer(path.read_bytes(), np.uint8)[chunk.dictionary_page_offset :][: chunk.total_compressed_size]
    pages = np.empty((99, kernel.FIELDS), np.int64)
    assert kernel.page_headers(column, pages, np.empty(kernel.DEPTH, np.int64)) == 2
    assert pages[:2, kernel.VALUES].tolist() == [16, 300_000]
