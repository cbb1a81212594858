"""Audits on the command line: exit codes for CI, JSON, and clear answers to wrong input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dn
from deniable.auditing.audit import audit
from tests.cli.command import check_refusal, run, succeed
from tests.contract import cases

CODE = """
def keeps(value, words):
    return value if words[0] < 8 else words[1] % 3


def floats(value, words):
    return value + words[0] / 16
"""
ADAPTER = """
import numpy as np

VALUES, EPSILON = 3, 1.0


def sample(value, n):
    return np.full(n, value)
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.json"
    path.write_text(dn.mechanism("grr", labels=["tea", "coffee", "milk"], epsilon=1.0).spec.to_json())
    return path


def test_a_sound_spec_prints_one_screen_and_exits_with_0(spec: Path) -> None:
    printed = succeed("audit", spec)
    assert printed == f"{audit(spec)}\n"
    assert printed.count("\n") < 15
    for part in ("keeps its promise", "largest ratio", "epsilon spent", "slack", "witness", "attack rate", "vectors"):
        assert part in printed


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_every_mechanism_is_audited_on_one_screen(name: str, tmp_path: Path) -> None:
    made = [cases.of(name).one(), *([] if name in ("design", "matrix") else [dn.mechanism(name, k=100, epsilon=1.0)])]
    for m in made:
        path = tmp_path / "spec.json"
        path.write_text(m.spec.to_json())
        printed = succeed("audit", path).splitlines()
        assert len(printed) < 15
        assert max(map(len, printed)) <= 160
        assert len(printed) + len(str(audit(m, trials=2000).empirical).splitlines()) < 30


def test_trials_add_a_bound_and_its_failure_probability(spec: Path) -> None:
    document = json.loads(succeed("audit", spec, "--trials", "2e4", "--alpha", "1e-6", "--json"))
    assert document["passed"]
    assert document["empirical"]["trials"] == 20_000
    assert 0.7 < document["empirical"]["bound"] < 1.0
    assert document["empirical"]["alpha"] == 1e-6
    assert document["exact"]["epsilon"].startswith("0.9999999999")


def test_a_spec_that_claims_too_much_exits_with_1(spec: Path) -> None:
    assert run("audit", spec, "--promised", 0.9).code == 1
    document = json.loads(spec.read_text())
    document["parameters"]["epsilon"] = 0.5
    spec.write_text(json.dumps(document))
    outcome = run("audit", spec, "--json", "--trials", "1e4")
    assert outcome.code == 1
    found = json.loads(outcome.out)
    assert found["exact"]["exceeds"]
    assert "clients refuse this spec" in found["exact"]["faults"][0]
    assert found["empirical"] is None


def test_matrices_are_audited(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0.5,0.5\n0.25,0.75\n")
    assert "2.00000000000000000000... = 2/1" in succeed("audit", path, "--promised", 0.7)
    assert run("audit", path, "--promised", 0.6).code == 1
    path.write_text("0.5,0.5,0\n0.25,0.5,0.25\n")
    assert run("audit", path, "--promised", 9).code == 1
    path.write_text("0.5,0.5\n0.25,0.5\n")
    check_refusal(run("audit", path), "row 2 must sum to 1, got 0.75")


def test_code_is_named_by_its_module_and_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audited_code.py").write_text(CODE)
    named = ("audit", "audited_code:keeps", "--values", 3, "--words", 2, "--bits", 4)
    assert "all 256 words of 2 x 4 bits" in succeed(*named, "--promised", 2)
    check_refusal(run("audit", "audited_code:floats", "--values", 2, "--words", 1), "last bits of a float")
    check_refusal(run("audit", "audited_code:none", "--values", 2, "--words", 1), "cannot import none")
    check_refusal(run("audit", "audited_code:CODE"), "cannot import CODE")
    check_refusal(run("audit", "audited_code:__name__"), "must be a function")


def test_an_adapter_that_gives_values_away_exits_with_1(tmp_path: Path) -> None:
    path = tmp_path / "box.py"
    path.write_text(ADAPTER)
    outcome = run("audit", path, "--trials", 20_000)
    assert outcome.code == 1
    assert "EXCEEDS what was promised" in outcome.out


def test_reports_made_under_ids_are_audited(tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text(dn.mechanism("clh", k=20, epsilon=1.0).spec.to_json())
    assert "reports made under ids" in succeed("audit", path, "--trials", 5000, "--by-id")
    path.write_text(dn.mechanism("grr", k=20, epsilon=1.0).spec.to_json())
    check_refusal(run("audit", path, "--trials", 5000, "--by-id"), "public coins, such as clh")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("none.json",), "no such file"),
        (("spec.json", "--trials", "many"), "must be a whole number, such as 1000000 or 1e6"),
        (("spec.json", "--trials", "10"), "trials must be"),
        (("spec.json", "--trials", "1e4", "--alpha", "2"), "alpha must"),
        (("spec.json", "--promised", "-1"), "promised must be positive"),
        (("spec.json", "--promised", "1e9"), "promised must be below 1000"),
        (("m.csv", "--promised", "1000"), "promised must be below 1000"),
        (("spec.txt",), "must end in"),
        (("damaged.json",), "damaged.json: spec must be JSON"),
        (("m.csv", "--trials", "1e4"), "be given for a spec or an Adapter"),
    ],
)
def test_wrong_input_is_refused_with_one_line(
    arguments: tuple[str, ...], reason: str, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spec.parent)
    Path("damaged.json").write_text("{")
    Path("spec.txt").write_text("")
    Path("m.csv").write_text("0.5,0.5\n0.25,0.75\n")
    check_refusal(run("audit", *arguments), reason)


def test_results_have_cards_and_short_descriptions(spec: Path) -> None:
    found = audit(spec, trials=2000)
    assert repr(found).startswith("Audit(keeps its promise, no excess found")
    assert found._repr_html_().count("dn-card") >= 2
    assert found.exact is not None
    assert found.empirical is not None
    assert "epsilon=1" in repr(found.exact)
    assert "alpha=1e-09" in repr(found.empirical)


MEMO = """
cache = {}


def remembers(value, words):
    return cache.setdefault(words, value if words[0] < 12 else words[1] % 4)


def sound(value, words):
    return value if words[0] < 12 else words[1] % 4

"""


def test_code_of_a_file_runs_once_more_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("memo_code.py").write_text(MEMO)
    sizes = ("--values", 4, "--words", 2, "--bits", 4, "--promised", 2.6)
    check_refusal(run("audit", "memo_code:remembers", *sizes), "It keeps state, or draws by itself")
    assert "again in a process of its own" in succeed("audit", "memo_code:sound", *sizes)


ENDING = {
    "at import": ("import sys\nVALUES, EPSILON = 3, 1.0\nsys.exit(0)\n", "the adapter must run to its end"),
    "in sample": (
        "import sys\nVALUES, EPSILON = 3, 1.0\ndef sample(value, n): sys.exit(0)\n",
        "sample(value, n) must run to its end, got sys.exit(0)",
    ),
    "ends the process": (
        "import os\nVALUES, EPSILON = 3, 1.0\ndef sample(value, n): os._exit(0)\n",
        "the code must run to its end, got the end of its process, with exit code 0",
    ),
    "ends the process at import": ("import os\nos._exit(0)\n", "got the end of its process, with exit code 0"),
    "is killed": (
        "import os, signal\nVALUES, EPSILON = 3, 1.0\ndef sample(value, n): os.kill(os.getpid(), signal.SIGKILL)\n",
        "got the end of its process, by SIGKILL",
    ),
    "an error of its own": (
        "VALUES, EPSILON = 3, 1.0\nclass Own(Exception): pass\ndef sample(value, n): raise Own('x')\n",
        "sample(value, n) must run to its end, got Own (x)",
    ),
    "raises": ("VALUES, EPSILON = 3, 1.0\ndef sample(value, n): raise KeyError('x')\n", "got KeyError ('x')"),
    "no Python": ("def sample(:\n", "got a syntax error in line 1"),
    "no promise": ("VALUES, EPSILON = 3, 'x'\ndef sample(value, n): return [0] * n\n", "must be"),
}


@pytest.mark.parametrize("fault", ENDING)
def test_an_adapter_that_fails_or_ends_the_process_exits_with_2(fault: str, tmp_path: Path) -> None:
    text, reason = ENDING[fault]
    path = tmp_path / "box.py"
    path.write_text(text)
    check_refusal(run("audit", path, "--trials", 2000), reason)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("exits_when_called", "import sys\ndef code(value, words): sys.exit(0)\n"),
        ("exits_when_imported", "import sys\nsys.exit(0)\ndef code(value, words): return 0\n"),
        ("ends_its_process", "import os\ndef code(value, words): os._exit(0)\n"),
        ("ends_its_process_when_imported", "import os\nos._exit(0)\n"),
        ("raises_when_called", "def code(value, words): raise OSError(2, 'gone')\n"),
        ("wrong_syntax", "def code(:\n"),
        (
            "exits_elsewhere",
            "import os, sys\nif sys.argv[-1].endswith('digests'): os._exit(0)\ndef code(value, words): return 0\n",
        ),
    ],
)
def test_code_that_fails_or_ends_the_process_exits_with_2(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"{name}.py").write_text(text)
    check_refusal(run("audit", f"{name}:code", "--values", 2, "--words", 1, "--bits", 2), "must run")


def test_what_audited_code_prints_is_no_part_of_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("talks.py").write_text(
        "import os\nprint('in')\ndef code(value, words):\n    os.write(1, b'x')\n    return 0\n"
    )
    command = [sys.executable, "-m", "deniable", "audit", "talks:code", "--values", "2", "--words", "1", "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(found.stdout)["passed"]
    assert found.stderr.startswith("in\nxxx")


def test_code_that_leaves_threads_and_children_behind_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("leaves.py").write_text(LEAVING)
    sizes = ("--values", 2, "--words", 1, "--bits", 2, "--promised", 1)
    printed = succeed("audit", "leaves:code", *sizes)
    for child in Path("children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
    assert "keeps its promise" in printed


LEAVING = """
import subprocess, sys, threading, time

child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("children", "a") as file:
    print(child.pid, file=file)
threading.Thread(target=time.sleep, args=(600,)).start()


def code(value, words):
    return words[0] % 2
"""
