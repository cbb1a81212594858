"""Groups side by side differ for everybody: how far their colours are apart is computed from the style sheet."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from tests import ROOT

SOURCE = ROOT / "dashboard" / "src"
GROUPS = [f"group-{place}" for place in range(4)]
APART = 24.0  # CIE76; a difference above 2 can be seen where the colours touch
CONTRAST = 3.0  # WCAG 2.2, 1.4.11: parts of a picture
# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB
SEEN = {
    "all colours": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)

Colour = npt.NDArray[np.float64]


def tokens(theme: str) -> dict[str, Colour]:
    """The colours of a theme, as sRGB from 0 to 1."""
    light, dark = re.findall(r"^:root[^{]*\{(.*?)^\}", (SOURCE / "app.css").read_text(), re.MULTILINE | re.DOTALL)
    found = re.findall(r"--([\w-]+): #([0-9a-f]{6});", light if theme == "light" else light + dark)
    return {name: np.array([int(text[at : at + 2], 16) for at in (0, 2, 4)]) / 255 for name, text in found}


def opacity() -> float:
    """How much of its colour the inside of a bar has."""
    (found,) = re.findall(r"const FILLED = ([\d.]+);", (SOURCE / "histogram.ts").read_text())
    return float(found)


def linear(colour: Colour) -> Colour:
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def lab(light: Colour) -> Colour:
    """CIE L*a*b* of linear RGB."""
    share = TO_XYZ @ np.clip(light, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours: list[Colour], seen: Colour) -> float:
    """How far the two colours that are most alike are apart."""
    found = [lab(seen @ linear(colour)) for colour in colours]
    return float(min(np.linalg.norm(one - other) for one, other in combinations(found, 2)))


def contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted(float(TO_XYZ[1] @ linear(each)) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_groups_differ_for_people_who_see_fewer_colours(theme: str, seen: str) -> None:
    known = tokens(theme)
    lines = [known[name] for name in GROUPS]
    bars = [opacity() * colour + (1 - opacity()) * known["sheet"] for colour in lines]
    assert nearest(lines, SEEN[seen]) > APART
    assert nearest(bars, SEEN[seen]) > APART


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_groups_stand_out_from_the_page(theme: str) -> None:
    known = tokens(theme)
    assert min(contrast(known[name], known[ground]) for name in GROUPS for ground in ("sheet", "ground")) >= CONTRAST


def test_colours_that_look_alike_without_red_are_noticed() -> None:
    blue, purple = np.array([0x0A, 0x5F, 0x8A]) / 255, np.array([0x8B, 0x3F, 0x7D]) / 255
    assert nearest([blue, purple], SEEN["all colours"]) > APART
    assert nearest([blue, purple], SEEN["no red"]) < 5


def test_two_lines_over_time_differ_in_their_dashes() -> None:
    (text,) = re.findall(r"const DASHES = \[(.*)\];", (SOURCE / "lines.ts").read_text())
    assert len(set(re.findall(r'"(.*?)"', text))) == len(GROUPS)
