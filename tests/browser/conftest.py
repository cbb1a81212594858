"""Pages of a collector in a real Chromium: skipped where there is none, which is a failure in CI."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.people import Site
from tests.collector.http.running import Running, serving

# a machine without a way out: Chromium must not look for one
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def program() -> str | None:
    """The program of a Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser, for the tests of a file: while it runs, no other event loop can run in this thread."""
    path = program()
    if path is None:
        pytest.skip("Chromium is missing: run make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def site(chromium: Browser) -> Iterator[Site]:
    """A collector with a question, and what a browser does with it."""
    collector = Running()
    collector.now[0] = time.time()
    collector.service.start()
    with serving(collector) as served:
        found = Site(served, chromium)
        yield found
        found.close()
    collector.close()
    assert collector.faults == []
