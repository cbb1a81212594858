"""The program around the commands: help in sections, light imports, shell completion."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import deniable as dn
from deniable.cli import commands
from deniable.cli.program import app
from tests.cli.command import run, succeed

HEAVY = ("altair", "flint", "matplotlib", "numba", "numpy", "pyarrow", "scipy")
WIDTH = 80


def all_commands(group: Any = None, before: str = "") -> Iterator[str]:
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from all_commands(command, f"{before}{name} ")
        else:
            yield before + name


COMMANDS = list(all_commands())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text_with_an_example(command: str) -> None:
    text = succeed(*command.split(), "--help")
    assert f"deniable {command}" in text.partition("Example")[2]


def test_no_arguments_at_all_show_the_help() -> None:
    assert succeed() == succeed("--help")


def test_the_help_lists_every_command_once_on_one_line_under_its_section() -> None:
    lines = succeed("--help").splitlines()
    for heading, summaries in commands.SECTIONS.items():
        start = lines.index(f"{heading}:") + 1
        listed = [line.split(maxsplit=1) for line in lines[start : start + len(summaries)]]
        assert listed == [[name, summary] for name, summary in summaries.items()]
    assert max(map(len, lines)) <= WIDTH
    files = {path.stem for path in Path(commands.__path__[0]).iterdir() if not path.name.startswith("_")}
    assert {name.replace("-", "_") for each in commands.SECTIONS.values() for name in each} == files


@pytest.mark.parametrize(
    ("name", "summary"), [pair for section in commands.SECTIONS.values() for pair in section.items()]
)
def test_a_summary_in_the_list_is_the_first_line_of_the_commands_help(name: str, summary: str) -> None:
    assert succeed(name, "--help").splitlines()[2].strip() == summary


def loaded_by(code: str) -> list[str]:
    """Which heavy packages this code loads in a process of its own."""
    code += f"; import sys; print(*sorted({set(HEAVY)} & sys.modules.keys()), file=sys.stderr)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()


def test_no_help_loads_anything_heavy() -> None:
    helps = [["--help"], *([*command.split(), "--help"] for command in COMMANDS)]
    assert loaded_by(f"from deniable.cli import main; [main(words) for words in {helps}]") == []
    assert loaded_by("from deniable.cli import main; main(['mechanisms'])") != []


def test_the_list_of_commands_loads_none_of_them() -> None:
    code = "import sys; from deniable.cli import main; main(['--help'])"
    code += "; sys.exit(any(name.startswith('deniable.cli.commands.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_the_version_is_the_packages() -> None:
    assert succeed("--version") == f"deniable {dn.__version__}\n"


def test_the_package_runs_as_a_program() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "deniable", "--version"], capture_output=True, text=True, check=True
    )
    assert finished.stdout == f"deniable {dn.__version__}\n"


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("deniable est", ["estimate"]),
        ("deniable spec ", ["new", "show", "check"]),
        ("deniable estimate --si", ["--simultaneous"]),
        ("deniable heavy-hitters find --alp", ["--alphabet"]),
        ("deniable ask sim", ["simpson"]),
    ],
)
def test_a_shell_can_complete_commands_and_options(
    line: str, completed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = line.split(" ")
    for name, value in {
        "_DENIABLE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }.items():
        monkeypatch.setenv(name, value)
    assert [word for word in succeed().split("\n") if word] == completed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_the_shell_in_use(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))
    assert "_DENIABLE_COMPLETE" in succeed("--show-completion")
    assert run("--install-completion").code == 0
    assert any("_DENIABLE_COMPLETE" in path.read_text() for path in tmp_path.rglob("*deniable*") if path.is_file())


def test_the_readme_names_every_command() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    line = next(line for line in readme.splitlines() if line.startswith("| command line |"))
    named = set(re.findall(r"`([a-z-]+)`", line)) - {"deniable"}
    assert named == {name for section in commands.SECTIONS.values() for name in section}
