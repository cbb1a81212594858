"""A picture of the dashboard, taken by a Chromium without a window, where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SIZE = "1200,1500"
_SECONDS = 60.0
_QUIET = ("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars")


def link(url: str, key: str, collection: str) -> str:
    """The address of the dashboard for whoever has this key; what stands behind # is not sent."""
    return f"{url}/#/key?key={key}&to={quote(f'/c/{collection}', safe='')}"


def question(url: str, write: str, read: str, collection: str) -> str:
    """The address of the page on which a person answers, and sees the picture grow."""
    return f"{url}/answer.html#collection={collection}&key={write}&read={read}"


def take(address: str, path: Path) -> bool:
    """Write a picture of a page; return False if there is no browser, or it cannot."""
    browser = next(filter(None, map(shutil.which, _NAMES)), None)
    if browser is None:
        return False
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # Chromium demands it
    with tempfile.TemporaryDirectory(prefix="deniable-browser-") as profile:
        command = [
            browser,
            *_QUIET,
            *root,
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
