"""The writer of vectors writes those that were published, to the byte, and never another in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable as dn
from tests import ROOT
from tools import vectors

PUBLISHED = {path.name: path.read_bytes() for path in (ROOT / "vectors").glob("*.json")}


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_the_published_vectors_are_written_again_to_the_byte(name: str) -> None:
    written = {file: text.encode() for file, text in vectors.files(name).items()}
    assert written
    assert written == {file: data for file, data in PUBLISHED.items() if file.startswith(f"{name}-")}


def test_there_is_no_vector_without_a_mechanism() -> None:
    assert {file.partition("-")[0] for file in PUBLISHED} <= set(dn.list_mechanisms())


def test_what_is_missing_is_added_and_what_is_there_stays(tmp_path: Path) -> None:
    assert sorted(path.name for path in vectors.write("grr", tmp_path)) == ["grr-integers.json", "grr-labels.json"]
    assert vectors.write("grr", tmp_path) == []
    (tmp_path / "grr-labels.json").unlink()
    assert vectors.write("grr", tmp_path) == [tmp_path / "grr-labels.json"]
    assert (tmp_path / "grr-labels.json").read_bytes() == PUBLISHED["grr-labels.json"]


def test_a_vector_is_never_changed(tmp_path: Path) -> None:
    (tmp_path / "grr-labels.json").write_text("{}\n")
    with pytest.raises(FileExistsError, match=r"grr-labels\.json says otherwise"):
        vectors.write("grr", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["grr-labels.json"], "nothing is written if one is refused"
    assert (tmp_path / "grr-labels.json").read_text() == "{}\n"


def test_an_unknown_name_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert vectors.main(["nonsense"]) == 1
    assert capsys.readouterr().err == "nonsense is no mechanism with a case in tests/mechanisms\n"
