"""The formats that docs/wire.md describes are those that the code writes, member by member and byte by byte."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.core.limits import DEFAULT
from tests.cli.command import run
from tests.docs.pages import DOCS

WIRE, THREATS = ((DOCS / name).read_text() for name in ("wire.md", "threat-model.md"))
M = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
REPORTS = M.privatize(["yes", "no", "yes"])
RELEASE = dn.DiscreteLaplace(1.0).release([12, 0, 3])


def section(heading: str) -> str:
    """The text under a heading, up to the next of the same or a higher level."""
    level = heading.partition(" ")[0]
    _, found, rest = WIRE.partition(f"\n{heading}\n")
    assert found, heading
    return re.split(rf"^#{{2,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    lines = [line for line in section(heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def number(text: str, cells: int) -> int:
    """A number of bytes such as 56 + 8 c, for c cells."""
    return sum(int(term.removesuffix(" c")) * (cells if term.endswith(" c") else 1) for term in text.split(" + "))


def test_a_spec_has_the_members_listed() -> None:
    assert set().union(*(names(row[0]) for row in rows("## Spec"))) == set(M.spec.to_dict())
    kinds = next(row[1] for row in rows("## Spec") if "domain" in row[0])
    assert set(re.findall(r'"kind": "(\w+)"', kinds)) == {"categories", "integers", "open"}


def test_metadata_of_reports_have_the_keys_listed() -> None:
    listed = {name for row in rows("### Arrow and Parquet") for name in names(row[0])}
    assert listed == {name.decode() for name in REPORTS.to_arrow().schema.metadata}


def counted(data: bytes, folder: Path) -> list[int] | None:
    """The counts of a CSV file, or None if it is refused."""
    (folder / "spec.json").write_text(M.spec.to_json())
    (folder / "reports.csv").write_bytes(data)
    out = folder / "counts.summary"
    line = ("summarize", folder / "reports.csv", "--spec", folder / "spec.json", "-o", out)
    outcome = run(*line)
    assert outcome.code in (0, 2)
    return None if outcome.code else dn.Summary.from_bytes(out.read_bytes()).counts.tolist()


def test_csv_is_read_as_stated(tmp_path: Path) -> None:
    text = section("### CSV")
    assert "A byte-order mark, lines that end in CR LF, and quotes around a cell or the header" in text
    header = f"report@{M.fingerprint}".encode()
    plain = header + b"\n0\n1\n1\n"
    quoted = plain.replace(b"\n0\n", b'\n"0"\n').replace(header, b'"' + header + b'"')
    same = (
        plain,
        b"\xef\xbb\xbf" + plain,
        plain.replace(b"\n", b"\r\n"),
        quoted,
        plain[:-1],
    )
    assert [counted(data, tmp_path) for data in same] == [[1, 2]] * len(same)
    more = plain.replace(b"\n", b",town\n", 1).replace(b"0\n", b"0,A\n").replace(b"1\n", b"1,B\n")
    assert "other columns are ignored" in text
    assert counted(more, tmp_path) == [1, 2]
    cells = (b" 0", b"0 ", b"00", b"+0", b"0x0", b"", b'""', b"0.0", "٠".encode())
    refused = [
        *(plain.replace(b"\n0\n", b"\n" + cell + b"\n") for cell in cells),
        plain.decode().encode("utf-16"),
        plain.replace(b"\n", b"\r"),
    ]
    assert "Anything else is refused" in text
    assert [counted(data, tmp_path) for data in refused] == [None] * len(refused)


def test_a_summary_has_the_bytes_listed() -> None:
    summary = M.summarize(REPORTS)
    data, cells, at = summary.to_bytes(), len(summary.counts), 0
    found = {}
    for offset, size, what in rows("## Summary"):
        start, length = number(offset, cells), number(size, cells)
        assert start == at, what
        found[what], at = data[start : start + length], start + length
    assert at == len(data)
    magic, version, flags, zero, fingerprint, n, c, counts, _ = found.values()
    assert {magic.decode()} == names(next(iter(found)))
    assert (version, flags, zero) == (b"\1", b"\0", b"\0")
    assert fingerprint.hex() == M.fingerprint
    assert [int.from_bytes(each, "little") for each in (n, c)] == [3, cells]
    assert [int.from_bytes(counts[8 * i : 8 * i + 8], "little") for i in range(cells)] == summary.counts.tolist()


def test_a_release_has_the_members_listed() -> None:
    listed, _, rest = section("## Releases").partition("**JSON**")[2].partition("The command line adds")
    assert names(listed) == set(json.loads(RELEASE.to_json()))
    assert names(rest.partition("A reader")[0]) == {"columns", "labels"}


def test_a_count_has_at_most_the_digits_stated() -> None:
    (most,) = re.findall(r"decimal digits \(up to ([\d,]+)\)", section("## Releases"))
    document, digits = json.loads(RELEASE.to_json()), int(most.replace(",", ""))
    assert dn.Release.from_json(json.dumps({**document, "values": ["9" * digits, 0, 3]})).values[0] == 10**digits - 1
    with pytest.raises(dn.MalformedReport, match="whole number"):
        dn.Release.from_json(json.dumps({**document, "values": ["9" * (digits + 1), 0, 3]}))
    largest, larger = (
        dn.Release(np.array([count], object), RELEASE.noise) for count in (1 - 10**digits, -(10**digits))
    )
    assert dn.Release.from_json(largest.to_json()) == dn.Release.from_arrow(largest.to_arrow()) == largest
    for write in (larger.to_json, larger.to_arrow):
        with pytest.raises(dn.InvalidArgument, match=f"at most {most} digits"):
            write()


def test_heavy_hitters_start_with_the_magic_stated() -> None:
    hh = dn.HeavyHitters.new(epsilon=2.0, max_bytes=4)
    (magic,) = re.findall(r"magic `(\w+)`", section("## Heavy hitters"))
    data = hh.empty_summary().to_bytes()
    assert data[: len(magic)] == magic.encode()
    assert int.from_bytes(data[6:8], "little") == len(hh.levels)
    assert data[8:40].hex() == hh.fingerprint


def test_the_pages_name_no_limit_that_the_code_lacks() -> None:
    stated = set(re.findall(r"^\| `(\w+)` \| [\d.,]+ \|", THREATS, re.MULTILINE))
    assert stated == set(DEFAULT.__dataclass_fields__)
    assert "threat-model.md#a-costly-spec" in section("## Spec")
