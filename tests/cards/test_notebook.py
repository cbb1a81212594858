"""In a notebook a plot shows itself once, and the example in the documents shows what it stores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.docs.pages import DOCS, load

SETUP = """
import sys
import deniable as dn
m = dn.mechanism("grr", k=5, epsilon=1.0)
e = m.estimate(dn.simulate(m, [100] * 5, seed=1))
"""
SHOWN_AS = {  # the last lines of a cell, and how many pictures and other outputs it has
    "e.plot()": (1, 0),
    "e.plot();": (1, 0),
    "ax = e.plot()": (1, 0),
    "ax": (1, 0),  # again, after the cell that made it
    "e.plot()\nprint('text')": (1, 1),
    "for _ in range(2): e.plot()": (2, 0),
    "import matplotlib.pyplot as plt\n_, given = plt.subplots()\ne.plot(ax=given);": (1, 0),
    "dn.compare(5, 1.0).plot()": (1, 0),
    "matplotlib = sys.modules['matplotlib']; matplotlib.use('agg')": (0, 0),
    "e.plot() ": (1, 0),  # without pyplot: as the value of the cell
}


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels write nothing into the home directory."""
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("MPLBACKEND", raising=False)


def kinds(cell: Any) -> list[list[str]]:
    return [sorted(output.get("data", {output.get("name", ""): ""})) for output in cell.get("outputs", ())]


def test_a_plot_is_shown_once_however_it_is_made(tmp_path: Path) -> None:
    nbformat.write(new_notebook(cells=[new_code_cell(text) for text in (SETUP, *SHOWN_AS)]), tmp_path / "plots.ipynb")
    _, *cells = load("make_notebook.py").executed(tmp_path / "plots.ipynb").cells
    found = {cell.source: kinds(cell) for cell in cells}
    pictures = {text: sum("image/png" in kind for kind in outputs) for text, outputs in found.items()}
    assert {text: (pictures[text], len(outputs) - pictures[text]) for text, outputs in found.items()} == SHOWN_AS


def test_a_script_draws_without_pyplot() -> None:
    code = SETUP + "picture = e.plot()._repr_png_(); print(picture[1:4], 'matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "b'PNG' False\n"


def test_the_example_runs_and_shows_what_it_stores() -> None:
    script = load("make_notebook.py")
    stored, fresh = nbformat.read(script.NOTEBOOK, as_version=4), script.executed()
    for old, new in zip(stored.cells, fresh.cells, strict=True):
        assert kinds(old) == kinds(new), old.source
        for before, now in zip(old.get("outputs", ()), new.get("outputs", ()), strict=True):
            for kind in ("text/plain", "text/html"):
                assert before.get("data", {}).get(kind) == now.get("data", {}).get(kind), old.source
    shown = [kind for cell in stored.cells for output in kinds(cell) for kind in output]
    assert shown.count("image/png") == 1
    assert shown.count("text/html") > 8
    assert script.NOTEBOOK.stat().st_size < 120_000


def test_the_picture_of_the_cards_is_there_and_its_page_shows_them_in_both_themes() -> None:
    page = load("make_cards.py").page()
    assert page.count('aria-label="Estimate: ') == page.count('aria-label="Plan: ') == 2
    assert (DOCS / "assets" / "cards.png").read_bytes().startswith(b"\x89PNG")
