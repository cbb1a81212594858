"""Take the pictures of docs/pages.md: python docs/make_screens.py, which needs Chromium (make browser).

A collector on loopback, a question that simulated people answer over a week, and a browser that looks.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.people import PATIENCE, QUESTION, Site, choose, send  # noqa: E402
from tests.collector.http.running import Running, serving  # noqa: E402

FOLDER = ROOT / "docs" / "assets" / "screens"
WAYS = ["walk", "bicycle", "bus", "tram", "train", "car", "car pool", "motorbike", "scooter", "ferry", "horse"]
COUNTRIES = ["DE", "FR", "other"]
DAYS = 7
OPENING = 860  # pixels from the top
WIDE: dict[str, Any] = {"viewport": {"width": 1160, "height": 900}}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {**WIDE, "color_scheme": "light"},
    "dark": {**WIDE, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
PERSON = {"viewport": {"width": 720, "height": 560}}
SHARES = np.array([20, 14, 15, 9, 11, 22, 4, 2, 2.5, 0.5, 0])


def main() -> None:
    collector = Running()
    collector.now[0] = time.time()
    collector.service.start()
    with serving(collector) as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        site = Site(served, browser)
        fill(site)
        for look, options in LOOKS.items():
            shown(site.reader(**options), site, look)
        for look, options in LOOKS.items():  # afterwards, since each makes a collection
            answered(site.context(**options | ({} if look == "phone" else PERSON)).new_page(), site, look)
        site.close()
        browser.close()
    collector.close()


def fill(site: Site) -> None:
    """A week of answers from three countries, and one question that is new."""
    asked = site.ask_about(labels=WAYS, segments=[{"name": "country", "labels": COUNTRIES}], minimum=100)
    generator = np.random.default_rng(7)
    for back in range(DAYS):
        for place, country in enumerate((1.0, 1.6, 0.7)):
            shares = SHARES * np.where(np.arange(len(WAYS)) == 1, country, 1.0)
            values = generator.choice(WAYS, int(2400 / (1 + place)), p=shares / shares.sum())
            site.fill(asked, values.tolist(), back=back, segments=bytes([place]))
    site.ask_about("lunch", ["soup", "salad", "bread", "nothing"])


def shown(page: Page, site: Site, look: str) -> None:
    """The pages of the dashboard."""
    page.set_default_timeout(PATIENCE)
    page.goto(f"{site.base}/#/")
    page.get_by_role("link", name="way-to-work").wait_for()
    keep(page, f"collections-{look}")
    page.goto(f"{site.base}/#/c/way-to-work" + ("?compare=country" if look == "dark" else ""))
    page.locator("section[aria-label=Trend] svg path").first.wait_for()
    keep(page, f"collection-{look}")
    if look == "light":
        page.goto(f"{site.base}/#/new")
        page.get_by_label("Answers, one per line").fill("\n".join(WAYS[:6]))
        page.get_by_text("standard error of a share").wait_for()
        keep(page, "new-collection-light")


def answered(page: Page, site: Site, look: str) -> None:
    """The page on which a person answers."""
    page.set_default_timeout(PATIENCE)
    asked = f"asked-{look}"
    mechanism = site.ask_about(asked, WAYS[:6])
    site.fill(mechanism, ["walk"] * 300 + ["bicycle"] * 240 + ["bus"] * 150 + ["car"] * 60, name=asked)
    page.goto(site.question(asked, read=site.collector.key("read", asked)))
    page.get_by_role("heading", name=QUESTION).wait_for()
    keep(page, f"question-{look}")
    choose(page, "bicycle")
    keep(page, f"report-{look}")
    send(page)
    page.get_by_text("people answered").wait_for()
    keep(page, f"answered-{look}")


def keep(page: Page, name: str) -> None:
    """Write a picture in as many colours as it needs."""
    page.mouse.move(0, 0)
    image = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    FOLDER.mkdir(parents=True, exist_ok=True)
    image = image.quantize(256, dither=Image.Dither.NONE)
    image.save(FOLDER / f"{name}.png", optimize=True)
    if name == "collection-light":  # what the README opens with
        image.crop((0, 0, image.width, OPENING)).save(FOLDER.parent / "dashboard.png", optimize=True)


if __name__ == "__main__":
    main()
