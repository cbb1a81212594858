"""The files of deploy/ can be read by what reads them, and name options, variables and routes that exist."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from deniable.collector.http.table import ROUTES
from tests import ROOT
from tests.cli.command import succeed
from tests.docs.pages import DOCS, rows

DEPLOY = ROOT / "deploy"
VARIABLE = re.compile(r"\bDENIABLE_[A-Z_]+\b")
OF_THE_PROXY = {"DENIABLE_SITE"}  # which only Caddy reads


@pytest.fixture(scope="module")
def options() -> set[str]:
    """The options of `deniable serve`, as its help lists them."""
    return set(re.findall(r"--[a-z][a-z-]*", succeed("serve", "--help")))


def compose() -> dict[str, Any]:
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert isinstance(found, dict)
    return found


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "deniable.service")
    return parser


def lines(name: str) -> list[tuple[str, str]]:
    """The instructions of the Containerfile, each with its arguments on one line."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", (DEPLOY / name).read_text(), flags=re.MULTILINE))
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line.strip()]


def command_in(file: str) -> list[str]:
    """The arguments of `deniable` in a file."""
    if file == "Containerfile":
        return list(json.loads(dict(lines(file))["CMD"]))
    if file == "compose.yaml":
        return list(compose()["services"]["collector"]["command"])
    return shlex.split(unit()["Service"]["ExecStart"])[1:]


@pytest.mark.parametrize("file", ["Containerfile", "compose.yaml", "deniable.service"])
def test_the_command_of_each_file_is_one_that_the_program_takes(file: str, options: set[str]) -> None:
    command, *arguments = command_in(file)
    assert command == "serve"
    named = {word for word in arguments if word.startswith("--")}
    assert {"--host", "--port"} <= named <= options
    assert arguments[arguments.index("--port") + 1] == "8321"
    assert "8321" in (DEPLOY / "Caddyfile").read_text()
    assert "127.0.0.1:8321" in (DEPLOY / "nginx.conf").read_text()


@pytest.mark.parametrize("path", [*sorted(DEPLOY.iterdir()), DOCS / "deployment.md"], ids=lambda path: path.name)
def test_every_variable_is_read_by_the_program(path: Path) -> None:
    known = set().union(*(VARIABLE.findall(file.read_text()) for file in (ROOT / "src").rglob("*.py")))
    assert set(VARIABLE.findall(path.read_text())) - OF_THE_PROXY <= known


def test_variables_of_the_compose_file_are_given_where_they_are_used() -> None:
    services = compose()["services"]
    assert services["collector"]["environment"].keys() == {"DENIABLE_DATABASE", "DENIABLE_ADMIN_KEY"}
    assert set(services["proxy"]["environment"]) == OF_THE_PROXY
    assert "{$DENIABLE_SITE}" in (DEPLOY / "Caddyfile").read_text()
    password = services["database"]["environment"]["POSTGRES_PASSWORD"]
    assert password in services["collector"]["environment"]["DENIABLE_DATABASE"]


def test_only_the_proxy_can_be_reached_from_outside_and_nobody_reaches_the_database_but_the_collector() -> None:
    found = compose()
    services = found["services"]
    assert [name for name, each in services.items() if "ports" in each] == ["proxy"]
    assert [name for name, each in services.items() if "back" in each["networks"]] == ["collector", "database"]
    assert found["networks"]["back"]["internal"] is True
    assert {"database", "certificates"} == found["volumes"].keys()


def test_nothing_runs_as_root() -> None:
    instructions = lines("Containerfile")
    names = [name for name, _ in instructions]
    assert dict(instructions)["USER"] == "10001"
    assert names.index("USER") < names.index("CMD")
    assert "deniable warm-up" in dict(instructions)["RUN"]  # the last one
    assert compose()["services"]["collector"]["cap_drop"] == ["ALL"]
    assert unit()["Service"]["DynamicUser"] == "yes"
    assert "MemoryDenyWriteExecute" not in unit()["Service"]  # loops are compiled while it runs


def test_the_image_is_built_from_files_that_are_there() -> None:
    sources = [words.split()[:-1] for name, words in lines("Containerfile") if name == "COPY" and "--from" not in words]
    wanted = {name for each in sources for name in each}
    assert all((ROOT / name).exists() for name in wanted)
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert wanted == allowed


@pytest.mark.parametrize("file", ["Caddyfile", "nginx.conf"])
def test_a_proxy_forwards_nothing_about_a_person_and_writes_no_log(file: str) -> None:
    text = re.sub(r"#.*", "", (DEPLOY / file).read_text())
    assert text.count("{") == text.count("}")
    for header in ("X-Forwarded-For", "User-Agent", "Cookie", "Referer"):
        removed = rf"header_up -{header}$" if file == "Caddyfile" else rf'proxy_set_header {header} "";'
        assert re.search(removed, text, re.MULTILINE), header
    logs = re.findall(r"^\s*\w*log\b.*", text, re.MULTILINE)
    assert [line.strip() for line in logs] == (
        [] if file == "Caddyfile" else ["access_log off;", "error_log /dev/null crit;"]
    )


def test_files_and_page_name_routes_that_exist() -> None:
    paths = {route.path for route in ROUTES}
    named = set(re.findall(r"/(?:ready|health|metrics)\b", " ".join(each.read_text() for each in DEPLOY.iterdir())))
    assert {"/ready", "/metrics"} <= named <= paths


def test_options_on_the_page_exist(options: set[str]) -> None:
    text = (DOCS / "deployment.md").read_text()
    own = {word for line in text.splitlines() if "deniable serve" in line for word in re.findall(r"--[a-z-]+", line)}
    assert {"--spec", "--check"} <= own <= options
    loading = set(re.findall(r"--[a-z][a-z-]*", succeed("load", "--help")))
    used = {word for line in text.splitlines() if "deniable load" in line for word in re.findall(r"--[a-z-]+", line)}
    assert {"--key-file", "--connections"} <= used <= loading


def test_the_page_lists_every_metric_and_no_other(tmp_path: Path) -> None:
    from deniable.collector.http.metrics import Metrics
    from deniable.collector.running import opened
    from deniable.collector.service.answers.cache import Cache

    with opened(tmp_path / "store") as collector:
        text = Metrics(collector.service, Cache()).text(None)
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    wanted = {f"{name}_total" if kind == "counter" else name: kind for name, kind in kinds.items()}
    listed = {
        name: cells[1]
        for cells in rows("deployment.md")
        if cells[0].startswith("`deniable_")
        for name in re.findall(r"`(\w+)`", cells[0])
    }
    assert listed == wanted


def test_limits_on_the_page_are_those_of_the_program() -> None:
    from deniable.collector.http import threads
    from deniable.collector.service import settings, writing

    text = (DOCS / "deployment.md").read_text()
    defaults = settings.Settings()
    assert f"{defaults.body_bytes // 2**20} MiB by default and {settings.MOST_BODY // 2**20} MiB at most" in text
    assert f"{defaults.reports_per_batch:,} by default" in text
    assert f"{defaults.window_hours // 24} days by default" in text
    assert f"{writing.MOST_WAITING:,} requests and {writing.MOST_BYTES // 2**20} MiB in a process" in text
    assert f"{threads.MOST_WAITING} in a process, {threads.MOST_OF_A_KEY} of them of one key" in text
    assert f"{defaults.requests_per_second:,.0f} requests a second for an administrator's" in text
    assert "max_size 64MiB" in (DEPLOY / "Caddyfile").read_text()
    assert settings.MOST_BODY == 64 * 2**20
