"""A picture of the dashboard, taken by a Chromium without a window, where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SIZE = "1200,1500"
_SECONDS = 60.0
_ROOT = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()  # Chromium demands it
QUIET = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
    *_ROOT,
)


def program() -> str | None:
    """The program of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def link(url: str, key: str, collection: str) -> str:
    """The address of the dashboard for whoever has this key; what stands behind # is not sent."""
    return f"{url}/#/key?key={key}&to={quote(f'/c/{collection}', safe='')}"


def question(
    url: str, write: str, collection: str, *, read: str = "", title: str = "", segments: Mapping[str, str] | None = None
) -> str:
    """The address of the page on which a person answers, and with a key to read sees the picture grow."""
    groups = {f"segment.{name}": label for name, label in (segments or {}).items()}
    given = {"collection": collection, "key": write, **groups, "question": title, "read": read}
    return f"{url}/answer.html#" + "&".join(f"{name}={quote(text, safe='')}" for name, text in given.items() if text)


def take(address: str, path: Path) -> bool:
    """Write a picture of a page; return False if there is no browser, or it cannot."""
    browser = program()
    if browser is None:
        return False
    with tempfile.TemporaryDirectory(prefix="deniable-browser-") as profile:
        command = [
            browser,
            *QUIET,
            f"--user-data-dir={profile}",
            f"--window-size={_SIZE}",
            "--virtual-time-budget=15000",
            f"--screenshot={path.resolve()}",
            address,
        ]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and path.exists()
