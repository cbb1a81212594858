"""Pictures of experiments: their panels, axes, colours and gaps."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

from papers.frame.drawing import svg, table_cells
from papers.frame.experiment import Heat, Lines, Scatter, Table
from papers.frame.heat import heat_svg
from papers.frame.library import experiments
from papers.frame.record import pictures
from papers.frame.rows import Rows
from papers.frame.scales import Scale, scale
from papers.frame.styles import COLOURS, MARKERS, styles

_NAME = "{http://www.w3.org/2000/svg}"


def _rows(*names: str, **more: Any) -> Rows:
    return Rows({"x": x, "y": float(x + 1), "m": name, **more} for name in names for x in range(4))


def texts(drawn: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(drawn).iter(f"{_NAME}text")]


def titles(drawn: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(drawn).iter(f"{_NAME}text") if each.get("class") == "t"]


def test_panels_stand_in_the_order_of_their_names_whatever_the_order_of_rows() -> None:
    rows = Rows({"a": a, "b": b, "x": x, "y": 1.0, "m": "m"} for b in range(3) for a in range(2) for x in range(2))
    drawn = svg(Lines("x", "y", "m", panels=("a", "b")), rows)
    assert titles(drawn) == [f"a = {a}, b = {b}" for a in range(2) for b in range(3)]


def test_two_names_of_panels_make_a_grid_with_one_name_for_each_axis() -> None:
    rows = Rows({"a": a, "b": b, "x": x, "y": 1.0, "m": "m"} for a in range(3) for b in range(4) for x in range(2))
    drawn = svg(Lines("x", "y", "m", panels=("a", "b"), labels={"x": "users", "y": "loss"}), rows)
    frames = [each for each in ET.fromstring(drawn).iter(f"{_NAME}rect") if each.get("class") == "f"]
    assert len({each.get("x") for each in frames}) == 4
    assert len({each.get("y") for each in frames}) == 3
    assert texts(drawn).count("users") == texts(drawn).count("loss") == 1


def test_a_name_that_does_not_vary_is_not_in_the_title() -> None:
    rows = Rows({**row, "sizes": "tuned", "alphabet": a} for a in ("open", "closed") for row in _rows("m"))
    assert titles(svg(Lines("x", "y", "m", panels=("alphabet", "sizes")), rows)) == ["open alphabet", "closed alphabet"]


def test_axes_are_shared_unless_that_would_flatten_a_panel() -> None:
    def ticks(factor: float) -> int:
        rows = Rows({"p": p, "x": x, "y": x * (factor if p else 1), "m": "m"} for p in range(2) for x in range(5))
        drawn = svg(Lines("x", "y", "m", panels=("p",)), rows)
        return sum(each.get("text-anchor") == "end" for each in ET.fromstring(drawn).iter(f"{_NAME}text"))

    assert ticks(1000.0) > ticks(2.0)


def test_what_is_not_above_zero_leaves_a_gap_on_a_logarithmic_axis() -> None:
    rows = Rows({"x": x, "y": [1.0, 2.0, -1.0, 2.0, 3.0][x], "m": "m"} for x in range(5))
    lines = re.findall(r'stroke-width="1.4" d="M[^"]*L', svg(Lines("x", "y", "m", log_y=True), rows))
    assert len(lines) == 2
    assert svg(Lines("x", "y", "m", log_y=True), rows).count("<use") == 1 + 4  # the legend's, and the points


def test_bands_are_drawn_between_two_metrics_and_only_of_the_rows_asked_for() -> None:
    rows = Rows({"part": p, "x": x, "y": 1.0, "low": -50.0, "high": 70.0, "m": "m"} for p in "ab" for x in range(3))
    drawn = svg(Lines("x", "y", "m", band=("low", "high"), only={"part": "a"}, panels=("part",)), rows)
    assert drawn.count('class="f"') == 1
    assert "fill-opacity" in drawn
    assert {"-50", "50"} <= set(texts(drawn))


def test_a_method_has_one_colour_and_one_marker_whatever_is_beside_it() -> None:
    alone, beside = styles(["mss"]), styles(["something", "grr", "ss", "mss"])
    assert alone["mss"] == beside["mss"]
    assert len(set(beside.values())) == 4
    many = styles(range(25))
    assert len(set(many.values())) == 25
    assert len(COLOURS) == len(MARKERS) == len(set(COLOURS)) == len(set(MARKERS))


def test_no_two_methods_of_one_picture_look_alike() -> None:
    labels = {"mss": ["grr", "oue", "ss", "pgr", "mss", "pgr weighed", "csr", "clh", "mss searched"]}
    labels["kbr"] = ["O-RR", "O-RAPPOR", "empirical, raw data", "uniform", "k-RR", "k-RAPPOR"]
    labels["rr_mle"] = ["Inv", "InvN", "InvP", "MLE*"]
    labels["dlap"] = ["unbiased", "naive", "central", "true"]
    for names in labels.values():
        assert len(set(styles(names).values())) == len(names)


def test_heat_maps_share_one_scale_and_white_is_zero() -> None:
    rows = Rows(
        {"p": p, "x": x, "y": y, "v": float(x - 1) * (1 + p)} for p in range(2) for x in range(3) for y in range(2)
    )
    drawn = heat_svg(Heat("x", "y", "v", panels=("p",), diverging=True), rows)
    cells = [each for each in ET.fromstring(drawn).iter(f"{_NAME}rect") if each.find(f"{_NAME}title") is not None]
    colours = {(each.findtext(f"{_NAME}title") or "").partition(" ")[0]: each.get("fill") for each in cells}
    assert len(cells) == 12
    assert colours["0"] == "#f7f7f7"
    assert len(set(colours.values())) == len(colours) == 5


def test_dots_and_names_are_escaped() -> None:
    drawn = svg(Scatter("x", "y", "m"), _rows("a < b"))
    assert "a &lt; b" in drawn
    assert drawn.count("<use") == 5


def test_the_same_rows_give_the_same_picture() -> None:
    picture = Lines("x", "y", "m", log_x=True)
    assert svg(picture, _rows("a", "b")) == svg(picture, _rows("a", "b"))


def test_axes_hold_their_numbers_and_ticks() -> None:
    for low, high, log in (
        (0.0, 0.0, False),
        (-3.0, 1e5, False),
        (1e-9, 1e9, True),
        (2.0, 3.0, True),
        (5.0, 5.0, True),
    ):
        made = scale([low, high], log=log)
        assert 0 <= made.place(low) <= made.place(high) <= 1
        ticks = made.ticks()
        assert 2 <= len(ticks) <= 9, (low, high)
        assert all(0 <= made.place(value) <= 1 for value, _ in ticks)
    assert Scale(1, 100, log=True).place(10) == 0.5


def test_tables_are_text() -> None:
    heading, body = table_cells(Table(("m",), ("y",), labels={"y": "error", "a": "ours"}), _rows("a", "b"))
    assert heading == ["m", "error"]
    assert body == [["ours", "2.5"], ["b", "2.5"]]


def test_every_experiment_has_pictures_of_a_known_kind() -> None:
    for each in experiments():
        assert all(isinstance(picture, Lines | Scatter | Heat | Table) for picture in pictures(each)), each.id
