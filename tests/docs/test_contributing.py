"""The guide names what a mechanism must write; files and targets that documents name exist."""

from __future__ import annotations

import re

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism
from tests import ROOT
from tests.docs.pages import ALL


def test_contributing_names_all_that_a_mechanism_must_write() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    required = Mechanism.__abstractmethods__
    assert [name for name in required if not re.search(rf"`{name}\b", guide)] == []
    table = guide.partition("| you write |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)", " ".join(line.split("|")[1] for line in table.splitlines()[2:]))
    assert named
    assert [name for name in named if not hasattr(dn.RandomizedResponse, name)] == []


def test_files_and_targets_named_in_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ALL:
        text = page.read_text()
        assert set(re.findall(r"`make ([a-z]+)`", text)) <= targets, page
        named = re.findall(r"`((?:tests|docs|vectors|benchmarks|changelog\.d)/[\w./-]*)`", text)
        assert [path for path in named if not (ROOT / path).exists()] == [], page


def test_readme_opens_with_a_sentence_a_picture_and_two_commands_of_the_makefile() -> None:
    title, what, picture, commands = (ROOT / "README.md").read_text().split("\n\n")[:4]
    assert title == "# deniable"
    assert what[0].isalpha()
    assert picture.startswith("![")
    shown = re.findall(r"^    make ([a-z]+)", commands, re.MULTILINE)
    assert shown == ["demo", "test"]
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(shown) <= set(targets)
