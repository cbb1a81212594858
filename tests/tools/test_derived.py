"""Files that follow from the code are those the code gives."""

from __future__ import annotations

import pytest

from tests import ROOT
from tools import derived


@pytest.mark.parametrize("path", derived.FILES)
def test_a_derived_file_is_up_to_date(path: str) -> None:
    assert (ROOT / path).read_text() == derived.FILES[path](), "run make derived"
