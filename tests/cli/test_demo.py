"""The demo tells the truth about its own numbers, repeats with its seed, and needs no network."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import deniable as dn
from deniable.cli.commands.demo.results import METHODS
from deniable.cli.commands.demo.story import LABELS, shares
from tests.cli.command import run, succeed

USERS = 20_000


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder and the output of a small demo with pictures."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    return folder, succeed("demo", "--users", USERS, "--out", folder, "--epsilon", 1, "--epsilon", 3, "--seed", 11)


def test_the_story_has_50_labels_and_some_that_nobody_has() -> None:
    assert len(set(LABELS)) == 50
    assert shares().sum() == pytest.approx(1)
    assert (shares() == 0).sum() == 6


def test_every_main_method_is_shown_at_every_epsilon(shown: tuple[Path, str]) -> None:
    _, out = shown
    for method in METHODS:
        assert len(re.findall(rf"^ (?:1|3) +{method} ", out, re.MULTILINE)) == 2


def test_it_says_that_a_seed_protects_nobody(shown: tuple[Path, str]) -> None:
    assert "seed 11: this is a simulation and protects nobody" in shown[1]


def test_every_file_it_says_it_wrote_is_there(shown: tuple[Path, str]) -> None:
    folder, out = shown
    said = {Path(line.removeprefix("wrote ")) for line in out.splitlines() if line.startswith("wrote ")}
    assert said == set(folder.iterdir())
    assert {path.suffix for path in said} == {".png", ".html", ".csv", ".json", ".summary"}


def test_the_numbers_are_those_of_the_summaries_it_wrote(shown: tuple[Path, str]) -> None:
    folder, _ = shown
    numbers = pa.csv.read_csv(folder / "numbers.csv").to_pandas()
    assert len(numbers) == 2 * 5 * 50
    for epsilon in (1, 3):
        mechanism = dn.from_spec((folder / f"epsilon-{epsilon}.spec.json").read_text())
        summary = dn.Summary.from_bytes((folder / f"epsilon-{epsilon}.summary").read_bytes())
        assert (summary.n, summary.simulated, mechanism.epsilon) == (USERS, True, epsilon)
        for method in METHODS:
            chosen = numbers[(numbers.epsilon == epsilon) & (numbers.method == method)].set_index("label")
            expected = mechanism.estimate(summary, method).to_pandas()
            for column in ("frequency", "std_error", "low", "high"):
                np.testing.assert_array_equal(chosen[column].loc[expected.index], expected[column])
            assert chosen.truth.sum() == pytest.approx(1)
            assert (chosen.covered == ((chosen.low <= chosen.truth) & (chosen.truth <= chosen.high))).all()


def test_the_command_it_ends_with_works(shown: tuple[Path, str]) -> None:
    _, out = shown
    command = out.partition("Continue with: deniable ")[2].splitlines()[0]
    assert "font missing" in succeed(*command.split())


def test_the_page_holds_everything_it_needs(shown: tuple[Path, str]) -> None:
    page = (shown[0] / "estimates.html").read_text()
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?(?:https?:)?//", page)
    assert "chosen_epsilon" in page
    assert "chosen_method" in page


def test_the_same_seed_gives_the_same_numbers_and_another_does_not(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "again", "other")]
    for folder, seed in zip(folders, (1, 1, 2), strict=True):
        succeed("demo", "--users", USERS, "--out", folder, "--epsilon", 2, "--seed", seed, "--no-pictures")
    first, again, other = ((folder / "numbers.csv").read_bytes() for folder in folders)
    assert first == again != other


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    outcome = run("demo", "--users", 1000, "--no-pictures", "--out", tmp_path / "taken")
    assert outcome.code == 2
    assert outcome.err == f"deniable: error: {tmp_path / 'taken'}: File exists\n"
