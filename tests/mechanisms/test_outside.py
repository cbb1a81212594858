"""Mechanisms from outside: known by name once they are registered or declared, and never in place of another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable import ext
from deniable.mechanisms.registry import registered
from tests.mechanisms.channels.examples import nearby


class Nearby(ext.FiniteChannel):
    """Values near the true one are likelier."""

    name = "nearby"
    version = 1

    def ideal(self) -> list[list[float]]:
        return nearby(self.k, self.epsilon)


class NewerNearby(Nearby):
    """The same, with another meaning."""

    version = 2


@pytest.fixture
def known() -> Iterator[None]:
    assert ext.register(Nearby) is Nearby
    yield
    ext.unregister("nearby")
    assert "nearby" not in dn.list_mechanisms()


@pytest.mark.usefixtures("known")
def test_a_registered_class_is_known_wherever_names_are() -> None:
    m = dn.mechanism("Nearby", k=4, epsilon=1.0)
    assert type(m) is Nearby
    assert dn.from_spec(m.spec.to_json()) == m
    assert "nearby" in dn.list_mechanisms()
    assert registered("nearby") == (Nearby,)
    with pytest.raises(dn.InvalidArgument, match="Did you mean 'nearby'"):
        dn.mechanism("nearbi", k=4, epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match="parameters must be known to nearby"):
        dn.mechanism("nearby", k=4, epsilon=1.0, w=2)


@pytest.mark.usefixtures("known")
def test_compare_takes_it_by_name_by_class_and_made_and_by_itself() -> None:
    m = dn.mechanism("nearby", k=6, epsilon=2.0)
    found = dn.compare(6, 2.0, n=500, names=["nearby", Nearby, m, "grr"], simulated=True, repeats=2)
    errors = [row.error for row in found if row.mechanism == "nearby"]
    assert errors == [pytest.approx(m.variance(0.0, 500) ** 0.5)] * 3
    assert "nearby" in [row.mechanism for row in dn.compare(6, 2.0)]


@pytest.mark.usefixtures("known")
def test_versions_live_side_by_side_and_the_newest_is_made() -> None:
    old = dn.mechanism("nearby", k=4, epsilon=1.0)
    ext.register(NewerNearby)
    assert type(dn.mechanism("nearby", k=4, epsilon=1.0)) is NewerNearby
    assert type(dn.from_spec(old.spec)) is Nearby
    ext.unregister("nearby", version=2)
    assert type(dn.mechanism("nearby", k=4, epsilon=1.0)) is Nearby


@pytest.mark.usefixtures("known")
def test_a_taken_name_and_version_is_refused_unless_it_is_the_same_class() -> None:
    assert ext.register(Nearby) is Nearby
    again = type("Again", (Nearby,), {})
    with pytest.raises(dn.InvalidArgument, match=r"version must be free for nearby, got 1\. .*Nearby has it"):
        ext.register(again)


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"name": "grr", "version": 7}, "name must be another than those of the package, got 'grr'"),
        ({"name": "auto"}, "name must be lower-case letters"),
        ({"name": "Near By"}, "name must be lower-case letters"),
        ({"version": 0}, "version must be"),
        ({"version": True}, "version must be"),
        ({"default_method": None}, "default_method must be"),
    ],
)
def test_what_no_spec_could_name_is_refused(members: dict[str, Any], complaint: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=complaint):
        ext.register(type("Odd", (Nearby,), members))
    assert "nearby" not in dn.list_mechanisms()


def test_what_is_no_class_of_mechanisms_is_refused() -> None:
    for wrong in (int, "grr", dn.mechanism("grr", k=2, epsilon=1.0)):
        with pytest.raises(dn.InvalidArgument, match="cls must be a class of mechanisms"):
            ext.register(wrong)  # type: ignore[type-var]
    with pytest.raises(dn.InvalidArgument, match=r"It must define ideal\."):
        ext.register(ext.FiniteChannel)
    with pytest.raises(dn.InvalidArgument, match="name must be registered"):
        ext.unregister("grr")


PACKAGE = """
from deniable import ext

class Near(ext.FiniteChannel):
    name = "{name}"
    version = 1

    def ideal(self):
        return [[(2 if x == y else 1) / (self.k + 1) for y in range(self.k)] for x in range(self.k)]
"""


def installed(folder: Path, declared: str, name: str) -> dict[str, str]:
    """An environment with a package that declares a mechanism."""
    (folder / "nearpackage.py").write_text(PACKAGE.format(name=name))
    metadata = folder / "nearpackage-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: nearpackage\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[deniable.mechanisms]\n{declared} = nearpackage:Near\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def test_a_declared_mechanism_is_found_by_name_on_the_command_line_too(tmp_path: Path) -> None:
    environment = installed(tmp_path, "near", "near")
    program = """
import sys
import deniable as dn
dn.mechanism("grr", k=3, epsilon=1.0)
assert "near" in dn.list_mechanisms() and "nearpackage" not in sys.modules
from deniable.cli import main
assert main(["spec", "new", "--k", "3", "--epsilon", "1", "--mechanism", "near"]) == 0
"""
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert dn.Spec.from_json(done.stdout).mechanism == "near"


def test_a_declaration_must_agree_with_the_class(tmp_path: Path) -> None:
    environment = installed(tmp_path, "near", "far")
    program = "import deniable as dn; dn.mechanism('near', k=3, epsilon=1.0)"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert "InvalidArgument: name must be near, got 'far'. nearpackage:Near is declared under it." in done.stderr


def test_all_names_of_ext_are_there_and_described() -> None:
    page = (Path(__file__).parents[2] / "docs" / "outside-mechanisms.md").read_text()
    assert sorted(ext.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)) == ext.__all__
    assert [name for name in ext.__all__ if not hasattr(ext, name) or f"`{name}`" not in page] == []
