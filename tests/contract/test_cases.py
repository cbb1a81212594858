"""Every mechanism has one case, in its own test file; a missing, doubled or stray one is reported by name."""

from __future__ import annotations

import pytest

import deniable as dn
from tests.contract import cases
from tests.contract.cases import Case


def test_every_mechanism_has_one_case() -> None:
    assert sorted(cases.every()) == dn.list_mechanisms()


@pytest.mark.parametrize(
    ("found", "complaint"),
    [
        (["grr"], 'ss has no case: write CASE = Case("ss")'),
        (["grr", "ss", "grr"], "grr has two cases"),
        (["grr", "ss", "old"], "no such mechanism: old"),
    ],
)
def test_a_missing_doubled_or_stray_case_is_reported(found: list[str], complaint: str) -> None:
    with pytest.raises(LookupError) as caught:
        cases.one_for_each(map(Case, found), ["grr", "ss"])
    assert complaint in str(caught.value)
