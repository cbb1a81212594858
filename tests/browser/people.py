"""A collector's site, and people who look at its pages: every page is watched for errors and for requests elsewhere."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, BrowserContext, Page

import deniable as dn
from deniable.wire.buckets import Buckets
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from tests import ROOT
from tests.collector.http.running import Served

SCREENS = ROOT / "build" / "screens"  # kept, to be looked at
WAYS = ["walk", "bicycle", "bus", "car"]
QUESTION = "How did you come to work today?"
PATIENCE = 30_000  # milliseconds for what takes one, on a busy machine


class Site:
    """A collector over HTTP, with a browser."""

    def __init__(self, served: Served, browser: Browser) -> None:
        self.served = served
        self.collector = served.collector
        self.browser = browser
        self.base = f"http://127.0.0.1:{served.port}"
        self.errors: list[str] = []
        self._contexts: list[BrowserContext] = []

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def ask_about(self, name: str = "way-to-work", labels: list[str] | None = None, **settings: Any) -> dn.Mechanism:
        """Make a collection of a question with these answers."""
        made = dn.mechanism("grr", labels=labels or WAYS, epsilon=2.0)
        self.make(made.spec.to_dict(), name, **settings)
        return made

    def make(self, spec: dict[str, Any], name: str = "way-to-work", **settings: Any) -> None:
        """Make a collection of a spec."""
        body = {"name": name, "spec": spec, "settings": {"minimum": 1, **settings}}
        answer = self.served.ask("POST", "/v1/collections", body, self.collector.admin)  # over HTTP: the browser
        assert answer.status == 201, answer  # has an event loop of its own in this thread
        self.collector.keys[name] = {each["role"]: each["key"] for each in answer.json["keys"]}

    def fill(
        self,
        mechanism: dn.Mechanism,
        values: list[str],
        *,
        name: str = "way-to-work",
        back: int = 0,
        segments: bytes = b"",
    ) -> None:
        """Send the reports of these values, as of so many days ago."""
        day = Buckets("day").at(time.time()) - 24 * back
        secret = Key.read(self.collector.keys[name]["write"]).secret
        payloads = Payloads(mechanism, False).joined(mechanism.privatize(values))
        frame = Frame(
            secret, bytes.fromhex(mechanism.fingerprint), day, segments, b"", payloads, len(values), os.urandom(16)
        )
        assert self.served.ask("POST", "/v1/batches", frame.to_bytes()).status == 200
        self.collector.fold()

    def context(self, **options: Any) -> BrowserContext:
        """A person's browser: its storage is shared with nobody."""
        made = self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        made.set_default_timeout(PATIENCE)
        self._contexts.append(made)
        made.on("request", lambda request: self._watch(request.url))
        made.on("weberror", lambda error: self.errors.append(str(error.error)))
        return made

    def _watch(self, url: str) -> None:
        if not url.startswith((self.base, "data:", "blob:")):
            self.errors.append(f"a request to {url}")

    def reader(self, role: str = "admin", name: str = "way-to-work", **options: Any) -> Page:
        """A page whose visitor has a key to read, or an administrator's."""
        context = self.context(**options)
        key = self.collector.key(role, name)
        context.add_init_script(f"if (location.protocol === 'http:') sessionStorage.setItem('deniable-key', '{key}')")
        page = context.new_page()
        page.on("console", lambda message: self._said(message.type, message.text))
        return page

    def _said(self, kind: str, text: str) -> None:
        if kind == "error" and "Content Security Policy" in text:
            self.errors.append(text)

    def question(self, name: str = "way-to-work", **more: str) -> str:
        """The address of the participant's page."""
        given = {"collection": name, "key": self.collector.key("write", name), "question": QUESTION, **more}
        return f"{self.base}/answer.html#" + "&".join(f"{each}={quote(text)}" for each, text in given.items())

    def reports(self, name: str = "way-to-work") -> int:
        """How many reports have arrived."""
        self.collector.fold()
        answer = self.served.ask("GET", f"/v1/collections/{name}", key=self.collector.admin)
        return int(answer.json["counted"] + answer.json["waiting"])


def choose(page: Page, value: str) -> None:
    """Choose an answer and agree, as a person does."""
    page.get_by_role("radio", name=value, exact=True).check()
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="See what would be sent").click()
    page.get_by_role("heading", name="This is the report").wait_for()


def send(page: Page) -> str:
    """Send the report; return what the page says then."""
    page.get_by_role("button", name="Send it").click()
    heading = page.locator("h1")
    heading.filter(has_not_text="This is the report").wait_for()
    return heading.inner_text()


def picture(page: Page, name: str) -> Path:
    """Keep a picture of a page."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    path = SCREENS / f"{name}.png"
    page.screenshot(path=path, full_page=True)
    return path


def number(text: str) -> int:
    """The first whole number of a text."""
    found = re.search(r"\d[\d,]*", text)
    assert found is not None, text
    return int(found[0].replace(",", ""))
