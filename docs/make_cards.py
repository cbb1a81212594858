"""Photograph cards in a light and a dark page: docs/assets/cards.png. Needs Chromium.

Run from the project's root: `python docs/make_cards.py`. The seed is fixed, so the picture is reproducible.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

import deniable as dn

COUNTS = {"chrome": 9_200, "safari": 4_400, "edge": 2_800, "firefox": 2_200, "opera": 800, "other": 600}
THEMES = {"light": "background:#fff;color:#1f1f1f", "dark": "background:#111;color:#e0e0e0;--jp-brand-color1:#64b5f6"}
SIZE = (1240, 704)


def page() -> str:
    """The same cards twice, side by side."""
    mechanism = dn.mechanism(labels=COUNTS, epsilon=1.0)
    estimate = mechanism.estimate(dn.simulate(mechanism, list(COUNTS.values()), seed=7))
    shown = (estimate, estimate.sum(["chrome", "edge", "opera"]), dn.plan(labels=COUNTS, epsilon=1.0, n=20_000))
    cards = "<br>".join(each._repr_html_() for each in shown)
    halves = "".join(f'<div style="flex:1;padding:12px;{style}">{cards}</div>' for style in THEMES.values())
    return f'<!doctype html><meta charset="utf-8"><body style="margin:0;display:flex;zoom:.85">{halves}'


def main(path: Path = Path(__file__).parent / "assets" / "cards.png") -> None:
    """Write the page, and take its picture."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "cards.html"
        source.write_text(page())
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2"]
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        subprocess.run(
            ["chromium", *options, size, f"--screenshot={path}", source.as_uri()], check=True, capture_output=True
        )
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
