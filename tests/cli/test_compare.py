"""The comparison on the command line."""

from __future__ import annotations

import json

import deniable as dn
from tests.cli.command import succeed

ASKED = ("compare", "--k", 2, "--epsilon", 1, "--n", 100, "--repeats", 1, "--only", "grr,csr,design")


def test_mechanisms_that_do_not_support_the_setting_are_one_line_below_the_table() -> None:
    rows = [line.split()[1] for line in succeed(*ASKED).splitlines() if line.startswith("│")]
    assert rows == ["grr"]
    assert "left out, not possible for this setting (2 of 3): csr, design" in succeed(*ASKED)
    assert "must be" not in succeed(*ASKED)


def test_the_document_keeps_the_reason_for_each() -> None:
    found = json.loads(succeed(*ASKED, "--json"))
    assert [row["mechanism"] for row in found["mechanisms"]] == ["grr"]
    assert found["left_out"] == dict(dn.compare(2, 1.0, n=100, names=["csr", "design"], repeats=1).left_out)
    assert "blocks must be" in found["left_out"]["design"]
