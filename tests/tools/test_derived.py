"""Files and parts of files that follow from the code are those the code gives."""

from __future__ import annotations

import pytest

from tests import ROOT
from tools import derived


@pytest.mark.parametrize("path", [*derived.FILES, *derived.PARTS])
def test_a_derived_file_is_up_to_date(path: str) -> None:
    assert (ROOT / path).read_text() == derived.text_of(path), "run make derived"


def test_only_what_stands_between_the_comments_is_replaced() -> None:
    page = "before\n<!-- derived: names -->\nold\n<!-- end -->\nafter <!-- derived: other -->1<!-- end -->\n"
    assert derived.replaced(page, "names", "new\n") == page.replace("old", "new")
    assert derived.replaced(page, "other", "2") == page.replace("1", "2")
    settings = "nav:\n  # derived: names\n  - old\n  # end\n  - other\n"
    assert derived.replaced(settings, "names", "  - new\n") == settings.replace("old", "new")


def test_a_part_that_has_no_comments_is_reported() -> None:
    with pytest.raises(LookupError, match="derived: names"):
        derived.replaced("a page without any", "names", "new")
