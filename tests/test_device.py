"""What a device installs and loads: three packages and the two they need, which is all that making a report takes."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

import deniable as dn
from tests import ROOT

DEVICE = {"numpy", "cryptography", "cffi", "pycparser", "rfc8785"}

# Refuses every third-party package but these, as if the others were not installed.
BLOCKED = f"""
import json, sys
ALLOWED = {DEVICE | {"_cffi_backend", "deniable"}!r} | set(sys.stdlib_module_names)
class Only:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        return self.finder.find_spec(name, path, target) if name.partition(".")[0] in ALLOWED else None
sys.meta_path[:] = map(Only, sys.meta_path)
"""


def run(program: str, *, stdin: str = "") -> str:
    code = BLOCKED + program
    done = subprocess.run([sys.executable, "-c", code], input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def requirement(line: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", line)
    assert found is not None
    return found[0]


def test_a_device_installs_five_packages() -> None:
    wanted = set(map(requirement, tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]))
    queue = list(wanted)
    while queue:
        lines = importlib.metadata.requires(queue.pop()) or []
        needed = {
            requirement(line) for line in lines if "extra ==" not in line and "PyPy" not in line.partition("!=")[0]
        }
        needed = {name for name in needed if name not in {"typing-extensions"}}  # for older releases of Python
        queue += sorted(needed - wanted)
        wanted |= needed
    assert wanted == DEVICE
    locked = re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / "device.txt").read_text(), re.MULTILINE)
    assert set(locked) == DEVICE


def test_those_packages_take_less_than_100_megabytes() -> None:
    total = 0
    for name in DEVICE:
        files = importlib.metadata.files(name) or []
        total += sum(size for file in files if (size := _size(file.locate())) and "__pycache__" not in str(file))
    assert total < 100e6


def _size(path: object) -> int:
    file = Path(str(path))
    return file.stat().st_size if file.is_file() else 0


def test_reports_of_every_mechanism_are_made_and_sent_without_other_packages() -> None:
    specs = []
    for name in dn.list_mechanisms():
        given = {
            "design": {"blocks": [[0, 1], [1, 2], [0, 2]]},
            "matrix": {"matrix": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]},
        }.get(name, {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dn.DesignWarning)
            specs.append(dn.mechanism(name, k=3 if given else 40, epsilon=1.0, **given).spec.to_json())
    program = """
import deniable as dn
for spec in json.load(sys.stdin):
    m = dn.from_spec(spec)
    report = m.privatize_one(1)
    assert m.decode(m.encode(report)) == report
    batch = m.privatize([i % m.k for i in range(200)])
    assert m.decode_many(m.encode_many(batch)) == batch
    assert m.guarantee().ratio >= 1
print(*sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)))
"""
    loaded = set(run(program, stdin=json.dumps(specs)).split()) - {"__main__", "__mp_main__"}
    own = {"deniable", "_cffi_backend", "_openssl", "_distutils_hack"}  # parts of the package, cryptography and Python
    assert loaded <= DEVICE | own
    assert {"numpy", "cryptography", "rfc8785"} <= loaded


@pytest.mark.parametrize(
    ("call", "command"),
    [
        ("m.privatize([1, 2, 0]).to_arrow()", "pip install 'deniable[server]'"),
        ("m.estimate(m.privatize([1, 2, 0])).interval(exact=True)", "pip install 'deniable[server]'"),
        ("m.summarize(np.zeros(3_000_000, np.uint32))", "pip install 'deniable[server]'"),
        ("dn.compare(3, 1.0).plot()", "pip install 'deniable[plots]'"),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_installs_it(call: str, command: str) -> None:
    program = f"""
import numpy as np, deniable as dn
m = dn.mechanism("grr", k=3, epsilon=1.0)
try:
    {call}
except dn.MissingExtra as error:
    print(error)
"""
    assert command in run(program)


def test_the_command_line_says_what_to_install() -> None:
    program = "from deniable.cli import main; sys.stderr = sys.stdout; print(main(['--help']))"
    assert run(program) == (
        "deniable: error: this call uses typer and needs an optional package: pip install 'deniable[cli]'\n2\n"
    )
