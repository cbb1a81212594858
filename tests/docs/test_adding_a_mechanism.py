"""The guide adds a mechanism in six places: in a copy of the tree they are enough, and pass the contract."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.docs.pages import DOCS, blocks
from tools import derived

NAME = "abstain"
MECHANISM = "src/deniable/mechanisms/response/abstaining_response.py"
CATALOGUE = "src/deniable/mechanisms/catalogue.py"
TESTS = "tests/mechanisms/response/test_abstaining_response.py"
VECTORS = f"vectors/{NAME}-labels.json"
GUIDE = {block.title: block.text for block in blocks(DOCS / "adding-a-mechanism.md") if block.title}

APART = (
    "docs/papers",
    "docs/methods.md",
    "docs/collector-api.md",
    "docs/audit.md",
)  # derived from other code than mechanisms
DERIVED = {path for path in (*derived.FILES, *derived.PARTS) if not path.startswith(APART)}
LONG = "docs/mechanisms/index.md"  # its numbers are computed for every mechanism
ALL_OF_IT = ("tests/contract", TESTS, "tests/randomness", "tests/tools/test_vectors.py", "tests/docs/test_snippets.py")


def contents(tree: Path) -> dict[str, bytes]:
    """Every file but what Python and the compiler keep beside the code."""
    files = (path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files}


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in that tree, with the code that is there."""
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with nothing but what the guide writes by hand, and what its commands make of it."""
    folder = tmp_path_factory.mktemp("tree") / "copy"
    for name in ("src", "tests", "tools", "benchmarks", "papers", "docs", "vectors", "changelog.d"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("mkdocs.yml", "README.md", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)
    before = contents(folder)
    for path, text in GUIDE.items():
        (folder / path).write_text(registered(folder / path, text) if path == CATALOGUE else text)
    for command in (["tools.vectors", NAME], ["tools.derived", *sorted(DERIVED - {LONG})]):
        done = run(folder, "-m", *command)
        assert done.returncode == 0, done.stderr
    changed = {path for path, data in contents(folder).items() if before.get(path) != data}
    assert changed == {*GUIDE, VECTORS, *DERIVED} - {LONG}
    return folder


def registered(catalogue: Path, line: str) -> str:
    """The catalogue with one more line."""
    text = catalogue.read_text()
    assert text.count("] = (\n") == 1
    return text.replace("] = (\n", f"] = (\n    {line}")


def test_six_places_are_written_by_hand() -> None:
    page = (DOCS / "adding-a-mechanism.md").read_text()
    numbered = re.findall(r"^\| (\d) \|", page, re.MULTILINE)
    assert numbered == re.findall(r"^## (\d)\.", page, re.MULTILINE) == list("123456")
    assert len({*GUIDE, VECTORS}) == 6
    assert f"`make vectors NAME={NAME}`" in page


def test_the_example_keeps_the_contract(tree: Path) -> None:
    done = run(tree, "-m", "pytest", "-p", "no:cacheprovider", "-k", NAME, *ALL_OF_IT)
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 60


def test_a_fault_in_the_example_is_caught(tree: Path) -> None:
    right = GUIDE[MECHANISM]
    wrong = right.replace("np.where(truthful, indices, 1 - indices)", "np.where(truthful, 1 - indices, indices)")
    assert wrong != right
    check = f"""if True:
        import deniable as dn
        from tests.contract import checks
        checks.check_batch_equals_one_by_one(dn.mechanism("{NAME}", k=2, epsilon=1.0), seed=5)"""
    assert run(tree, "-c", check).returncode == 0
    (tree / MECHANISM).write_text(wrong)
    try:
        assert run(tree, "-c", check).stderr.splitlines()[-1].startswith("AssertionError: report 0 of a batch")
    finally:
        (tree / MECHANISM).write_text(right)


def test_the_documents_name_the_example(tree: Path) -> None:
    for path in DERIVED - {LONG}:
        assert re.search(rf"\b({NAME}|AbstainingResponse)\b", (tree / path).read_text()), path
    tables = run(tree, "-c", "from tools.mechanism_pages import *; print(overview(), formulas())").stdout
    assert f"| [`{NAME}`]({NAME}.md) | abstaining response, for two values | a yes/no question" in tables
    assert f'| [`{NAME}`]({NAME}.md) | <code class="formula">T/(M - T) &lt;= e^epsilon</code>, exact |' in tables
