"""What is shipped is pinned, listed, and made again byte for byte."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tools import advisories, sbom
from tools.locked import ALL, DEVICE, ROOT, is_expression, locked

FILES = ("device", "demo", "dev")


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_pinned_and_hashed_and_names_no_host(name: str) -> None:
    packages = locked(name)
    assert packages
    assert all(each.hashes for each in packages)
    assert "://" not in (ROOT / "requirements" / f"{name}.txt").read_text()


def test_one_version_of_the_build_backend_is_named_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (pinned,) = project["build-system"]["requires"]
    assert re.fullmatch(r"hatchling==[0-9.]+", pinned)
    assert pinned in project["project"]["optional-dependencies"]["dev"]
    assert pinned in (ROOT / "requirements" / "build.in").read_text().splitlines()
    for name in ("demo", "dev"):
        assert pinned in {f"{each.name}=={each.version}" for each in locked(name)}


def test_the_notice_names_the_packages_of_the_default_install() -> None:
    assert (ROOT / "NOTICE").read_text() == sbom.notice(), "run python -m tools.sbom --notice"
    for package in locked(DEVICE):
        assert re.search(f"^- {package.name}: [A-Z]", sbom.notice(), re.MULTILINE)


def test_the_bill_of_materials_lists_every_locked_package_once(tmp_path: Path) -> None:
    sbom.main([str(tmp_path / "sbom.json")])
    text = (tmp_path / "sbom.json").read_text()
    assert text == sbom.document()
    found = json.loads(text)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    listed = [(each["name"], each["version"]) for each in found["components"]]
    assert listed == sorted((each.name, each.version) for each in locked(ALL))
    assert len({each["bom-ref"] for each in found["components"]}) == len(listed)
    assert all(each["hashes"] for each in found["components"])
    unlicensed = {each["name"] for each in found["components"] if "licenses" not in each}
    assert unlicensed <= {"colorama", "tzdata"}  # for Windows only, so not installed here
    assert not re.search(r"://|timestamp|serialNumber|/home|/tmp", text)


def test_spdx_expressions_are_told_from_names() -> None:
    assert is_expression("MIT")
    assert is_expression("(Apache-2.0 OR BSD-3-Clause) AND Zlib")
    assert not is_expression("Apache Software License")
    assert not is_expression("BSD License")


def answer(vulnerable: str) -> Any:
    def asked(question: dict[str, Any]) -> Any:
        names = [each["package"]["name"] for each in question["queries"]]
        return {"results": [{"vulns": [{"id": "X-1"}]} if name == vulnerable else {} for name in names]}

    return asked


def test_an_advisory_fails_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert advisories.main(answer("cryptography")) == 1
    assert re.fullmatch(r"cryptography [0-9.]+: X-1\n", capsys.readouterr().out)
    assert advisories.main(answer("none")) == 0
    assert "no known advisory" in capsys.readouterr().out


@pytest.mark.parametrize("reply", [OSError("no route"), {"results": []}, {}, None, []], ids=repr)
def test_without_an_answer_nothing_passes_for_checked(reply: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def asked(_: dict[str, Any]) -> Any:
        if isinstance(reply, Exception):
            raise reply
        return reply

    assert advisories.main(asked) == 0
    out = capsys.readouterr().out
    assert out.startswith("not checked: ")
    assert out.count("\n") == 1


def wheel(folder: Path, modified: int) -> bytes:
    """Build the wheel from a copy of the sources in this folder, all modified at this time."""
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "vectors", source / "vectors")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source)
    for path in source.rglob("*"):
        os.utime(path, (modified, modified))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
    (made,) = (folder / "dist").glob("*.whl")
    return made.read_bytes()


def test_the_wheel_is_the_same_from_another_folder_at_another_time(tmp_path: Path) -> None:
    one, other = wheel(tmp_path / "one", 1_600_000_000), wheel(tmp_path / "a" / "longer" / "name", 1_650_000_000)
    assert hashlib.sha256(one).digest() == hashlib.sha256(other).digest()
    with zipfile.ZipFile(io.BytesIO(one)) as contents:
        assert {"LICENSE", "NOTICE"} <= {Path(name).name for name in contents.namelist()}
        published = {path.name for path in (ROOT / "vectors").glob("*.json")}
        assert {f"deniable/vectors/{name}" for name in published} <= set(contents.namelist())
