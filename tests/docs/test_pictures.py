"""Pictures in the documents can be drawn again, and show what is said of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.docs.pages import DOCS, load


@pytest.mark.parametrize(
    ("script", "name"), [("make_picture.py", "demo.png"), ("make_federated_picture.py", "federated.png")]
)
def test_a_picture_can_be_drawn_again(script: str, name: str, tmp_path: Path) -> None:
    load(script).main(tmp_path / name)
    for path in (tmp_path / name, DOCS / "assets" / name):
        assert path.read_bytes().startswith(b"\x89PNG")
    assert size_of(tmp_path / name) == size_of(DOCS / "assets" / name)


def test_pictures_and_gains_of_attacks_are_those_of_the_code(tmp_path: Path) -> None:
    script = load("make_attack_pictures.py")
    script.USERS, script.REPORTS = [1000, 30_000], 5
    script.main(tmp_path)
    for name in ("repeats.png", "shuffling.png"):
        assert size_of(tmp_path / name) == size_of(DOCS / "assets" / name)
    assert script.gains() in script.PAGE.read_text()


def test_biases_stay_and_unbiased_errors_fall_with_the_root_of_the_number_of_parties() -> None:
    script = load("make_federated_picture.py")
    script.REPEATS = 20
    counts = np.random.default_rng(2).poisson(3, (script.PARTIES, 20))
    found = script.errors(
        lambda noisy: dn.debias(np.square, noisy, reduce="sum", axis=1), counts, 1, (counts**2).sum(axis=1)
    )
    first = int(np.flatnonzero(script.STEPS >= 100)[0])
    shrinks = found["unbiased"][first] / found["unbiased"][-1] / math.sqrt(script.STEPS[-1] / script.STEPS[first])
    assert 0.5 < shrinks < 2
    # the bias of x^2 is 2a at every count
    bias = 2 * float(dn.DiscreteLaplace(1.0).a) * counts.size / (counts**2).sum()
    assert found["naive"][-1] == pytest.approx(bias, rel=0.05)


def test_the_picture_of_scale_is_drawn_from_the_record(tmp_path: Path) -> None:
    script = load("make_scale_picture.py")
    script.draw(json.loads((script.RECORDS / "engines.json").read_text()), tmp_path / "scale.png")
    assert size_of(tmp_path / "scale.png") == size_of(script.PICTURE)


def size_of(picture: Path) -> tuple[int, int]:
    header = picture.read_bytes()[16:24]
    return int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")
