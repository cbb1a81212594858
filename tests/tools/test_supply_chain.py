"""What is shipped is pinned, listed, and made again byte for byte."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tools import advisories, sbom
from tools.locked import DEVICE, NPM, REQUIREMENTS, ROOT, everything, is_expression, locked, npm_locked


def test_every_lock_file_is_known_and_described() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    requirements = {f"requirements/{path.name}" for path in (ROOT / "requirements").glob("*.txt")}
    locks = requirements | {path for path in tracked if path.endswith("package-lock.json")}
    assert everything().keys() >= locks
    described = re.findall(r"^\| `(\S+)` \|", (ROOT / "docs" / "supply-chain.md").read_text(), re.MULTILINE)
    assert described == list(everything())


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_pinned_and_hashed_and_names_no_host(name: str) -> None:
    packages = locked(name)
    assert packages
    assert all(each.hashes for each in packages)
    assert "://" not in (ROOT / "requirements" / f"{name}.txt").read_text()


@pytest.mark.parametrize("folder", NPM)
def test_pages_and_client_need_nothing_but_tools_of_one_version_whose_files_are_hashed(folder: str) -> None:
    project = json.loads((ROOT / folder / "package.json").read_text())
    assert project.keys() & {"dependencies", "peerDependencies", "optionalDependencies"} == set()
    assert all(re.fullmatch(r"[0-9.]+", version) for version in project["devDependencies"].values())
    packages = {each.name: each for each in npm_locked(folder)}
    assert {name: packages[name].version for name in project["devDependencies"]} == project["devDependencies"]
    assert all(len(each.hashes[0]) == 128 and each.licence for each in packages.values())
    text = (ROOT / folder / "package-lock.json").read_text()
    assert "://" not in text
    own = json.loads(text)["packages"][""]
    assert own["devDependencies"] == project["devDependencies"]
    assert "omit-lockfile-registry-resolved=true" in (ROOT / folder / ".npmrc").read_text().split()


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


def named_in(component: dict[str, Any]) -> list[str]:
    return [each["value"] for each in component["properties"] if each["name"] == "deniable:locked-in"]


def test_the_bill_of_materials_lists_every_locked_package_once(tmp_path: Path) -> None:
    sbom.main([str(tmp_path / "sbom.json")])
    text = (tmp_path / "sbom.json").read_text()
    assert text == sbom.document()
    found = json.loads(text)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    listed = {each["purl"]: each for each in found["components"]}
    assert len(listed) == len(found["components"])
    places = {(each.name, each.version, place) for place, packages in everything().items() for each in packages}
    assert places == {(each["name"], each["version"], place) for each in listed.values() for place in named_in(each)}
    assert all(each["hashes"] for each in listed.values())
    assert {"pkg:npm/%40esbuild/linux-x64@0.28.2"} <= listed.keys()
    unlicensed = {each["name"] for each in listed.values() if "licenses" not in each}
    unlicensed -= {each.name for each in locked("peers")}  # not installed here, as what other systems need:
    assert unlicensed <= {"appnope", "colorama", "pywin32", "tzdata"}
    assert not re.search(r"://|timestamp|serialNumber|/home|/tmp", text)


def test_the_bill_of_materials_lists_what_every_extra_takes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {re.match(r"[\w-]+", each)[0] for each in wanted} - {"deniable"}  # type: ignore[index]
    assert {"duckdb", "polars", "pyspark"} < names
    assert names <= {each["name"] for each in sbom.components()}


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
    assert re.fullmatch(r"cryptography [0-9.]+ \(PyPI\): X-1\n", capsys.readouterr().out)
    assert advisories.main(answer("axe-core")) == 1  # of the pages
    assert re.fullmatch(r"axe-core [0-9.]+ \(npm\): X-1\n", capsys.readouterr().out)
    assert advisories.main(answer("none")) == 0
    assert "no known advisory" in capsys.readouterr().out


def test_the_database_is_asked_about_every_locked_package_once() -> None:
    asked: list[tuple[str, str, str]] = []

    def remember(question: dict[str, Any]) -> Any:
        asked.extend(
            (each["package"]["ecosystem"], each["package"]["name"], each["version"]) for each in question["queries"]
        )
        return {"results": [{}] * len(question["queries"])}

    assert advisories.main(remember) == 0
    every = {(each.ecosystem, each.name, each.version) for packages in everything().values() for each in packages}
    assert sorted(asked) == sorted(every)
    assert {("PyPI", "pyspark"), ("PyPI", "pure-ldp"), ("npm", "esbuild")} <= {each[:2] for each in asked}


def test_a_database_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as closed:  # bound, but nobody listens
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setattr(advisories, "_DATABASE", f"http://127.0.0.1:{closed.getsockname()[1]}/")
        assert advisories.main() == 0
    assert re.fullmatch(r"not checked: .*refused.*\n", capsys.readouterr().out)


def test_continuous_integration_prints_advisories_and_never_fails_for_them(tmp_path: Path) -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines.index("make test") < len(lines) - 1
    assert "python -m tools.advisories" in lines[-1]
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    for status in (0, 1, 2):
        python.write_text(f"#!/bin/sh\necho numpy 1.0: X-1\nexit {status}\n")
        python.chmod(0o755)
        script = f"set -euo pipefail\n{lines[-1]}\n"
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert done.stdout.startswith("numpy 1.0: X-1\n")
        assert (f"status {status}" in done.stdout) == (status != 0)


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
