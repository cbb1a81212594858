"""People who answer in a real browser: a Chromium without a window, told what to do over a pipe.

Each has a window of their own, so that it keeps nothing of anybody else. What is clicked is what people click: the
answer, the consent, the report that is shown, and "Send it".
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from deniable.cli.commands.demo.screen import QUIET, program

_SECONDS = 20.0  # for one person, and for the start
# Chromium listens on descriptor 3 and answers on 4
_PIPED = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
_ANSWER = """
(async (answer) => {
  const shown = async (find) => {
    for (;;) {
      const found = find();
      if (found) return found;
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  const named = (tag, text) => () =>
    [...document.querySelectorAll(tag)].find((each) => each.textContent.startsWith(text) && !each.disabled);
  const choices = () => [...document.querySelectorAll(".choice label")];
  (await shown(() => choices().find((each) => each.textContent === answer))).click();
  document.getElementById("agreed").click();
  (await shown(named("button", "See what would be sent"))).click();
  (await shown(named("button", "Send it"))).click();
  await shown(named("h1", "Thank you"));
})
"""


class BrowserFailed(Exception):
    """The browser did not start, or did not do what people do."""


class Answering(NamedTuple):
    """A person with a link to the participant's page, and their answer."""

    link: str
    answer: str


def answer_all(people: Sequence[Answering]) -> int:
    """Let people answer in a browser; return how many have: the first ones, or none if no browser can be used."""
    path = program()
    if path is None or os.name != "posix":
        return 0
    done = 0
    with suppress(BrowserFailed), _chromium(path) as browser:
        for person in people:
            browser.answer(person)
            done += 1
    return done


@contextmanager
def _chromium(path: str) -> Iterator[_Browser]:
    there, say = os.pipe()
    hear, back = os.pipe()
    with tempfile.TemporaryDirectory(prefix="deniable-browser-", ignore_cleanup_errors=True) as profile:
        command = [path, *QUIET, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _PIPED, str(there), str(back), *command],
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        try:
            yield _Browser(say, hear)
        finally:
            os.close(say)  # it ends when nobody can tell it anything
            os.close(hear)
            try:
                process.wait(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class _Browser:
    """The two ends of the pipe: a message is JSON and a zero."""

    def __init__(self, say: int, hear: int) -> None:
        self._say, self._hear = say, hear
        self._heard = b""
        self._number = 0
        self._deadline = time.monotonic() + _SECONDS

    def answer(self, person: Answering) -> None:
        """Answer as this person, in a window that keeps nothing."""
        self._deadline = time.monotonic() + _SECONDS
        context = self._ask("Target.createBrowserContext")["browserContextId"]
        target = self._ask("Target.createTarget", url=person.link, browserContextId=context)["targetId"]
        session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        there = "document.readyState === 'complete' && location.protocol === 'http:'"
        while not self._evaluate(session, there):
            time.sleep(0.02)
        if not self._evaluate(session, f"({_ANSWER})({json.dumps(person.answer)}).then(() => true)"):
            raise BrowserFailed("the page in the browser failed")
        self._ask("Target.disposeBrowserContext", browserContextId=context)

    def _evaluate(self, session: str, script: str) -> bool:
        """Whether a script gives true; one that fails does not, such as while a page is still loading."""
        asked = {"expression": script, "awaitPromise": True, "returnByValue": True}
        result = self._exchange("Runtime.evaluate", session, **asked).get("result", {}).get("result", {})
        return result.get("value") is True

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        said = self._exchange(method, None, **parameters)
        if "error" in said:
            raise BrowserFailed(f"the browser refuses {method}")
        return dict(said["result"])

    def _exchange(self, method: str, session: str | None, **parameters: Any) -> dict[str, Any]:
        """Send a message, and return the answer to it."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        try:
            os.write(self._say, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise BrowserFailed("the browser has stopped") from None
        while True:
            said = self._next()
            if said.get("id") == self._number:
                return said

    def _next(self) -> dict[str, Any]:
        """The next message, which may be about something else."""
        while b"\0" not in self._heard:
            left = max(0.0, self._deadline - time.monotonic())
            ready, _, _ = select.select([self._hear], [], [], left)
            data = os.read(self._hear, 2**16) if ready else b""
            if not data:
                raise BrowserFailed("the browser does not answer")
            self._heard += data
        text, _, self._heard = self._heard.partition(b"\0")
        return dict(json.loads(text))
