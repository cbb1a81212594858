"""What `make serve` prints works: the link, the page of the docs and the script of the docs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.people import PATIENCE
from tests.browser.test_person import elsewhere, example
from tests.docs.pages import DOCS, blocks

expect.set_options(timeout=PATIENCE)
FEW = """
import sys
from deniable.cli import main
from deniable.cli.commands.demo import network
network.PEOPLE = 4_000
sys.exit(main(["demo", "--serve"]))
"""


@pytest.fixture(scope="module")
def printed() -> Iterator[str]:
    """What `deniable demo --serve` says, while it runs."""
    process = subprocess.Popen([sys.executable, "-c", FEW], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line)
            if "Ctrl-C" in line:
                break
        yield "".join(lines)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def found(printed: str, name: str) -> str:
    """What is printed beside a name."""
    match = re.search(rf"^{name} +(\S+)$", printed, re.MULTILINE)
    assert match is not None, printed
    return match[1]


def opened(chromium: Browser, address: str) -> Page:
    page = chromium.new_context().new_page()
    page.goto(address)
    return page


@pytest.mark.parametrize("name", ["answer it yourself", "answer the demo"])
def test_a_printed_link_lets_one_answer(printed: str, chromium: Browser, name: str) -> None:
    page = opened(chromium, found(printed, name))
    page.get_by_role("radio").nth(3).check()
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="See what would be sent").click()
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("heading", name="Thank you. Your report has arrived.")).to_be_visible()
    expect(page.get_by_text("people answered")).to_be_visible()
    page.context.close()


def test_the_page_of_the_docs_works_from_another_port(printed: str, chromium: Browser, tmp_path: Path) -> None:
    url, key = found(printed, "collector"), found(printed, "key to answer commute")
    text = example().replace("http://127.0.0.1:8321", url).replace("dnw_...", key)
    (tmp_path / "index.html").write_text(text)
    with elsewhere(tmp_path) as origin:
        page = opened(chromium, origin)
        expect(page.locator("body")).to_contain_text("Thank you")
        page.context.close()


def test_the_script_of_the_docs_works(printed: str, tmp_path: Path) -> None:
    (script,) = (
        block.text
        for block in blocks(DOCS / "python-client.md")
        if block.language == "python" and "print(client.entry().sentence)" in block.text
    )
    head = f"url, key = {found(printed, 'collector')!r}, {found(printed, 'key to answer commute')!r}\n"
    done = subprocess.run([sys.executable, "-c", head + script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "delivered" in done.stdout
