"""How pictures of experiments arrange what they show."""

from __future__ import annotations

import numpy as np

from papers.frame.drawing import draw
from papers.frame.experiment import Lines
from papers.frame.rows import Rows


def test_panels_stand_in_the_order_of_their_names_whatever_the_order_of_rows() -> None:
    rows = Rows({"a": a, "b": b, "x": x, "y": 1.0, "m": "m"} for b in range(3) for a in range(2) for x in range(2))
    figure = draw(Lines("x", "y", "m", panels=("a", "b")), rows)
    assert [ax.get_title() for ax in figure.axes] == [f"a={a}, b={b}" for a in range(2) for b in range(3)]


def test_what_is_not_above_zero_leaves_a_gap_on_a_logarithmic_axis() -> None:
    rows = Rows({"x": x, "y": [1.0, -1.0, 2.0][x], "m": "m"} for x in range(3))
    drawn = draw(Lines("x", "y", "m", log_y=True), rows).axes[0].lines[0].get_ydata()
    assert np.isnan(drawn).tolist() == [False, True, False]
