"""`python -m benchmarks.pages`: what the pages of a collector cost in Chromium, at 22,000 values.

Times are medians on the wall, in milliseconds, of a machine that may do other work too. The exit code is 1 if a goal is
missed. A run writes benchmarks/pages.json and the table in docs/pages.md.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from playwright.sync_api import Browser, Locator, sync_playwright

import deniable as dn
from benchmarks.measured import DOCS, Figure, keep, put, say, table
from tests.browser.conftest import QUIET, program
from tests.browser.people import Site
from tests.collector.http.running import Running, serving

RECORD, PAGE = Path(__file__).with_name("pages.json"), DOCS / "pages.md"
MARKS = ("<!-- measured pages: written by benchmarks/pages.py -->", "<!-- end of measured pages -->")
WHERE = "Chromium"
VALUES = 22_000
DAYS = 5  # so that there is a trend
ANSWERS = 25  # first answers, each to a question of its own
LOOKS = 7
BUNDLES = Path(__file__).parents[1] / "src" / "deniable" / "collector" / "dashboard"
ANSWER_GOALS = {"grr": 1.0, "csr": 1.0, "clh": 1.0, "olh": 1.0, "oue": 10.0, "ss": 10.0}
# Milliseconds of each first answer, and of two bare transactions, one after the other. Every answer is that of another
# device, whose client has begun: what it spends is durable before the coin is tossed, and the report before it is
# acknowledged, so that no answer can take less than the two transactions.
_ANSWER = """async ([spec, repeats]) => {
  const { Client, indexedDb, mechanisms } = await import('./client.js');
  const pause = () => new Promise((done) => setTimeout(done, 20));
  const database = await new Promise((done) => {
    const asked = indexedDB.open('bare', 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('state');
    asked.onsuccess = () => done(asked.result);
  });
  const changed = (number) => new Promise((done) => {
    const work = database.transaction('state', 'readwrite', { durability: 'strict' });
    const state = work.objectStore('state');
    state.get(0).onsuccess = () => {
      state.put({ number }, 0);
      work.commit();
    };
    work.oncomplete = done;
  });
  const answers = [], bare = [];
  for (let i = 0; i < repeats; i++) {
    const settings = { url: location.origin, key: 'dnw_' + 'A'.repeat(22), collection: `question-${i}`, mechanisms };
    const store = indexedDb(`device ${i}`);
    const client = new Client({ ...settings, store, spec: JSON.parse(spec), delay: 1e9 });
    await client.consent(true);
    await client.kept();
    await pause();
    const start = performance.now();
    const given = await client.answer(i);
    answers.push(performance.now() - start);
    if (!given.fresh) throw new Error('this was no first answer');
    await pause();
    const begun = performance.now();
    await changed(i);
    await changed(-i);
    bare.push(performance.now() - begun);
  }
  return [answers, bare];
}"""
# The time from an event until the page has painted what came of it
_ACT = """([element, event, value]) => new Promise((done) => {
  const start = performance.now();
  if (event === 'click') element.click();
  else { element.value = value; element.dispatchEvent(new Event(event, { bubbles: true })); }
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""


def main(
    note: Annotated[str, typer.Option(help="What is to be said of this run beside its figures.")] = "",
) -> None:
    """Measure all in Chromium, print it and keep it; the exit code is 1 if a goal is missed."""
    path = program()
    if path is None:
        sys.exit("Chromium is missing: run make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        figures = say(measured(browser))
        version = browser.version
        browser.close()
    put(PAGE, MARKS, table(keep(RECORD, figures, note, {WHERE: version})))
    raise typer.Exit(int(not all(each.met for each in figures)))


def measured(browser: Browser) -> Iterator[Figure]:
    """Every figure."""
    files = [BUNDLES / name for name in ("index.html", "app.js", "app.css")]
    packed = sum(len(gzip.compress(each.read_bytes())) for each in files)
    yield Figure("the dashboard, as it is sent", WHERE, sum(each.stat().st_size for each in files) / 1024, "KB")
    yield Figure("the dashboard, gzipped", WHERE, packed / 1024, "KB", 150.0)
    collector = Running()
    collector.now[0] = time.time()
    collector.service.start()
    with serving(collector) as served:
        site = Site(served, browser)
        yield from answers(browser, site)
        yield from looks(site)
        site.close()
    collector.close()


def answers(browser: Browser, site: Site) -> Iterator[Figure]:
    """A device's first answer to a question, until it is durable."""
    bare: list[float] = []
    for name, goal in ANSWER_GOALS.items():
        with TemporaryDirectory() as profile:  # on disk: of a private window nothing is durable
            options = {"executable_path": program(), "args": list(QUIET)}
            context = browser.browser_type.launch_persistent_context(profile, **options)
            page = context.new_page()
            page.goto(f"{site.base}/answer.html")
            spec = dn.mechanism(name, k=VALUES, epsilon=2.0).spec.to_json()
            took, alone = page.evaluate(_ANSWER, [spec, ANSWERS])
            context.close()
        bare += alone
        yield Figure(f"first `answer()` by {name}, k={VALUES:,}", WHERE, statistics.median(took), "ms", goal)
    floor = "two bare durable transactions of IndexedDB, one after the other"
    yield Figure(floor, WHERE, statistics.median(bare), "ms")


def looks(site: Site) -> Iterator[Figure]:
    """The dashboard of many values and some days: the first paint, and how soon it has painted what is asked of it."""
    labels = [f"error {number:05d} in module {number % 97}" for number in range(VALUES)]
    asked = site.ask_about("errors", labels)
    shares = 1 / np.arange(1, VALUES + 1)
    values = np.random.default_rng(1).choice(labels, (DAYS, 50_000), p=shares / shares.sum())
    for back, own in enumerate(values):
        site.fill(asked, own.tolist(), name="errors", back=back)
    page = site.reader(name="errors")
    row = page.locator("section[aria-label=Table] tbody tr").nth(5)
    line = page.locator("section[aria-label=Trend] svg path").first
    page.goto(f"{site.base}/#/c/errors?method=unbiased")
    row.wait_for()
    paints = []
    for _ in range(LOOKS):
        page.reload()
        row.wait_for()
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    yield Figure("first paint", WHERE, statistics.median(paints), "ms", 1000.0)
    line.wait_for()
    what = f"{VALUES:,} values, {DAYS} days and a trend, painted after"
    search, sort = page.get_by_label("Search"), page.get_by_label("Sort by")
    yield Figure(f"{what} a search", WHERE, acted(search, line, "input", ["12", ""]), "ms", 100.0)
    log = page.get_by_label("Log scale")
    yield Figure(f"{what} a change of scale", WHERE, acted(log, line, "click", [None]), "ms", 100.0)
    order = acted(sort, line, "change", ["label", "domain"])
    yield Figure(f"{what} a change of order", WHERE, order, "ms", 100.0)


def acted(target: Locator, drawn: Locator, event: str, values: list[str | None]) -> float:
    """The median time from an event until it is painted; the next one comes when the trend is there again."""
    times: list[Any] = []
    for turn in range(LOOKS):
        value = values[turn % len(values)]
        times.append(target.first.evaluate(f"(element, rest) => ({_ACT})([element, ...rest])", [event, value]))
        drawn.wait_for()
    return statistics.median(times)


if __name__ == "__main__":
    typer.run(main)
