"""The JavaScript of the guide makes, in Node, the reports that the vectors demand, and a wrong client is noticed."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests import ROOT
from tests.docs.pages import DOCS, blocks

CLIENT = "\n".join(block.text for block in blocks(DOCS / "clients.md") if block.language == "javascript")
pytestmark = pytest.mark.may_skip  # where there is no Node; the guide has the same steps in Python, which always run
VECTOR = ROOT / "vectors" / "grr-labels.json"
RUN = """
globalThis.crypto ??= require("node:crypto").webcrypto;
const vector = JSON.parse(require("node:fs").readFileSync(process.argv[2], "utf8"));
(async () => {
  const sent = await payload(vector.spec, vector.spec.domain.labels[0]);
  console.log(await check(vector), sent.length);
})();
"""


def run(client: str) -> subprocess.CompletedProcess[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is missing: the JavaScript of docs/clients.md is not run")
    return subprocess.run([node, "-", str(VECTOR)], input=client + RUN, capture_output=True, text=True, timeout=60)


def test_the_client_matches_the_vectors() -> None:
    done = run(CLIENT)
    assert done.stderr == ""
    assert done.stdout.split() == [str(len(json.loads(VECTOR.read_text())["values"])), "1"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("word < truth", "word > truth"), ("8 * j, true", "8 * j, false"), ("[place]; //", "[0]; //")],
)
def test_a_wrong_client_is_noticed(right: str, wrong: str) -> None:
    assert CLIENT.count(right) == 1
    assert "differs" in run(CLIENT.replace(right, wrong)).stderr
