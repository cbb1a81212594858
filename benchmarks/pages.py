"""`python -m benchmarks.pages`: what the pages of a collector cost in Chromium, at 22,000 values.

Times are medians on the wall, in milliseconds, of a machine that may do other work too. A goal is stated
beside each; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

import deniable as dn
from tests.browser.conftest import QUIET, program
from tests.browser.people import Site
from tests.collector.http.running import Running, serving

VALUES = 22_000
ANSWERS = 21
BUNDLES = Path(__file__).parents[1] / "src" / "deniable" / "collector" / "dashboard"
ANSWER_GOALS = {"grr": 1.0, "csr": 1.0, "clh": 1.0, "olh": 1.0, "oue": 10.0, "ss": 10.0}
_MAKE = """async ([spec, repeats]) => {
  const { Question, mechanisms } = await import('./client.js');
  const question = await Question.read(spec, { mechanisms });
  const id = crypto.getRandomValues(new Uint8Array(16));
  const times = [];
  for (let i = 0; i < repeats; i++) {
    const start = performance.now();
    if (question.coined) await question.privatizeFor(i, id);
    else await question.privatize(i);
    times.push(performance.now() - start);
  }
  return times;
}"""


def main() -> int:
    """Measure all rows, print them, and return 1 if a goal is missed."""
    missed = 0
    for what, value, unit, goal in rows():
        verdict = "met" if value <= goal else "MISSED"
        missed += value > goal
        sys.stdout.write(f"{what:<58} {value:9.2f} {unit:<3} goal {goal:g}: {verdict}\n")
        sys.stdout.flush()
    return int(missed > 0)


def rows() -> Iterator[tuple[str, float, str, float]]:
    """Each row: what it is, the figure, its unit, and the goal."""
    scripts = [BUNDLES / name for name in ("index.html", "app.js", "app.css")]
    packed = sum(len(gzip.compress(path.read_bytes())) for path in scripts)
    yield "the dashboard, gzipped", packed / 1024, "KB", 150.0
    collector = Running()
    collector.now[0] = time.time()
    collector.service.start()
    with serving(collector) as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=list(QUIET))
        site = Site(served, browser)
        yield from answers(browser, site)
        yield from looks(site)
        site.close()
        browser.close()
    collector.close()


def answers(browser: Browser, site: Site) -> Iterator[tuple[str, float, str, float]]:
    """Making one report, from the answer to the bytes."""
    page = browser.new_page()
    page.goto(f"{site.base}/answer.html")
    for name, goal in ANSWER_GOALS.items():
        spec = dn.mechanism(name, k=VALUES, epsilon=2.0).spec.to_json()
        times = page.evaluate(_MAKE, [spec, ANSWERS])
        yield f"answer by {name}, k={VALUES:,}, the first", times[0], "ms", 10 * goal
        yield f"answer by {name}, k={VALUES:,}, later", statistics.median(times[1:]), "ms", goal
    page.close()


def looks(site: Site) -> Iterator[tuple[str, float, str, float]]:
    """The dashboard of many values: the first paint, and what happens in the page after that."""
    labels = [f"error {number:05d} in module {number % 97}" for number in range(VALUES)]
    asked = site.ask_about("errors", labels)
    shares = 1 / np.arange(1, VALUES + 1)
    values = np.random.default_rng(1).choice(labels, 100_000, p=shares / shares.sum())
    site.fill(asked, values.tolist(), name="errors")
    page = site.reader(name="errors")
    page.goto(f"{site.base}/#/c/errors?method=unbiased")
    page.locator("section[aria-label=Table] tbody tr").nth(5).wait_for()
    paints = []
    for _ in range(5):
        page.reload()
        page.locator("section[aria-label=Table] tbody tr").nth(5).wait_for()
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    yield "first paint", statistics.median(paints), "ms", 1000.0
    yield "search, a letter", interaction(page, "input[type=search]", "input", "12"), "ms", 100.0
    yield "log scale", interaction(page, "input[type=checkbox]", "click", None), "ms", 100.0
    yield "sort by name", interaction(page, "select >> nth=0", "change", "label"), "ms", 100.0


def interaction(page: Page, selector: str, event: str, value: str | None) -> float:
    """The time from an event to the end of the page's work on it, its layout included."""
    code = """([element, event, value]) => {
      const start = performance.now();
      if (event === 'click') element.click();
      else { element.value = value; element.dispatchEvent(new Event(event, { bubbles: true })); }
      document.body.getBoundingClientRect();
      return performance.now() - start;
    }"""
    times: list[Any] = []
    for turn in range(5):
        target = page.locator(selector).first.element_handle()
        other = None if value is None else (value if turn % 2 == 0 else {"label": "domain"}.get(value, ""))
        times.append(page.evaluate(code, [target, event, other]))
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
