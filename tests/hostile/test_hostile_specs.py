"""Specs that cost far more than their bytes are refused at once: each row of a table of attacks."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.limits import DEFAULT, OWN, Cost, Limits
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.registry import registered
from tests.hostile import costly

LARGE = 10**7


def spec(mechanism: str, parameters: dict[str, Any], k: int = 10, **members: Any) -> str:
    """The JSON of a spec without thresholds."""
    domain = {"kind": "integers", "low": 0, "high": k - 1}
    document = {"deniable": 1, "domain": domain, "mechanism": mechanism, "parameters": {"epsilon": 1, **parameters}}
    return json.dumps({**document, "thresholds": {}, "version": 1, **members})


def csr(k: int, **sets: Any) -> str:
    return spec("csr", {"loss": 1, "sets": sets}, k)


def cyclotomy(
    modulus: int, classes: int, chosen: list[int], root: int, k: int = 1000, cohorts: Sequence[int] = (0,)
) -> str:
    return csr(k, modulus=modulus, classes=classes, chosen=chosen, zero=False, cohorts=list(cohorts), root=root)


def mss(moduli: list[int], sizes: list[int] | None = None) -> str:
    return spec("mss", {"moduli": moduli, "sizes": sizes or [m // 4 for m in moduli]}, 2**20)


@cache
def primes() -> list[int]:
    """The primes below 2^20."""
    prime = np.ones(2**20, np.bool_)
    for number in range(2, 2**10):
        prime[number * number :: number] = False
    return [int(number) for number in np.flatnonzero(prime)[2:]]


def rows() -> Iterator[tuple[str, str]]:
    """Attacks by name, as text."""
    yield "values", spec("grr", {}, 2**31)
    yield "label", spec("grr", {}, domain={"kind": "categories", "labels": ["a", "x" * LARGE]})
    yield "labels", spec("grr", {}, domain={"kind": "categories", "labels": [str(i) for i in range(10**6)]})
    yield "short labels", spec("grr", {}, domain={"kind": "categories", "labels": list(range(10**5))})
    yield "mechanism's name", spec("x" * LARGE, {})
    yield "domain's kind", spec("grr", {}, domain={"kind": "x" * LARGE})
    yield "member's name", spec("grr", {}, **{"x" * LARGE: 1})
    yield "salt", spec("blh", {"salt": "x" * LARGE})
    yield "deep", "[" * 10**5
    yield "thresholds", spec("grr", {}, thresholds={str(i): "1" for i in range(10**6)})
    yield "fewer thresholds", spec("grr", {}, thresholds={str(i): "1" for i in range(10**5)})
    yield "parameters", spec("grr", {str(i): 1 for i in range(10**5)})
    for k in (2**17, 2**20):
        yield f"mss {k}", spec("mss", {}, k)
        yield f"mss null {k}", spec("mss", {"moduli": None, "sizes": None}, k)
        yield f"mss max_bits {k}", spec("mss", {"max_bits": 1000}, k)
        yield f"csr padding {k}", spec("csr", {"padding": False}, k)
        yield f"csr max_bits {k}", spec("csr", {"max_bits": 21}, k)
        yield f"pgr rule {k}", spec("pgr", {"rule": "published"}, k)
    for k, count in ((2**18, 1), (2**20, 256), (2**24, 1), (2**31, 1)):
        yield f"csr random {k}", csr(k, modulus=k, size=k // 4, count=count, seed=0)
    yield "csr part", cyclotomy(2**31 - 1, 3, [0], 7)
    yield "csr smaller part", cyclotomy(16777213, 4, [0], 5)
    yield "csr half", cyclotomy(8677829, 2, [0], 2)  # of two cohorts that are no pair
    yield "csr two of three", cyclotomy(2785423, 3, [0], 3, cohorts=[0, 2])
    yield "csr pair twice", cyclotomy(8388617, 8, [0], 3, cohorts=[0, 1, 4, 5])
    yield "csr classes", cyclotomy(2**31 - 1, 2**31 - 2, list(range(10**5)), 7)
    yield "pgr", spec("pgr", {"q": 2, "t": 31, "polynomial": []}, 1000)
    yield "pgr powers", spec("pgr", {"q": 10**4000, "t": 10**4000, "polynomial": []}, 1000)
    yield "hpgr", spec("hpgr", {"q": 2, "t": 24, "h": 64, "polynomial": []}, 1000)
    for count in (5000, 20_000):
        yield f"mss {count} primes", mss(primes()[2 : 2 + count])
    for count in (2, 100, 1000):
        yield f"mss {count} large primes", mss(primes()[-count:])
    yield "ss", spec("ss", {"w": 2**19}, 2**20)
    yield "cms", spec("cms", {"cohorts": 2**16, "buckets": 1024, "candidates": 2**20, "seed": 0}, 2**20)
    yield "cms rank", spec("cms", {"cohorts": 1, "buckets": 2**24, "candidates": 2, "seed": 0}, 2)
    yield "orappor", spec("orappor", {"cohorts": 2**16, "buckets": 9, "candidates": 9, "seed": 0, "hashes": 64}, 9)
    yield "tall matrix", spec("matrix", {"matrix": [[1.0]] * 11_000}, 11_000)
    yield "tall matrix of two", spec("matrix", {"matrix": [[0.5 + n / 1e5, 0.5 - n / 1e5] for n in range(5000)]}, 5000)
    yield "tall matrix for few values", spec("matrix", {"matrix": [[1.0]] * 11_000}, 2)
    yield "wide matrix", spec("matrix", {"matrix": [[1 / 11_000] * 11_000] * 2}, 2)
    yield "design", spec("design", {"blocks": [[0]] * 10**6})
    yield "fewer blocks", spec("design", {"blocks": [[0], [1]] * 10**5}, 2)
    yield "design of one block", spec("design", {"blocks": [[0] * 10**6]})
    yield "design of one smaller block", spec("design", {"blocks": [[0] * 5 * 10**5]})


@pytest.fixture(scope="module")
def attacks() -> dict[str, str]:
    return dict(rows())


def test_every_attack_is_refused_before_its_work_is_done_in_few_words(attacks: dict[str, str]) -> None:
    for name, text in attacks.items():
        start = time.process_time()
        with pytest.raises((dn.SpecError, dn.InvalidArgument)) as refused:
            dn.from_spec(text)
        # without limits many of these take a minute, or all memory; the soak test below allows half a second
        assert time.process_time() - start < 5, name
        assert len(str(refused.value)) < 600, name
        with pytest.raises(dn.SpecError):
            dn.HeavyHitters.from_json(text)


@pytest.mark.soak
def test_every_attack_is_refused_within_half_a_second(
    attacks: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    costly.warm_up()
    taken = {}
    for name, text in attacks.items():
        start = time.process_time()
        with pytest.raises((dn.SpecError, dn.InvalidArgument)):
            dn.from_spec(text)
        taken[name] = time.process_time() - start
    slowest = max(taken, key=taken.__getitem__)
    record_property("figure", f"{len(taken)} hostile specs refused, the slowest in {taken[slowest]:.3f} s ({slowest})")
    assert taken[slowest] < costly.MOST_SECONDS, slowest


def _allow(room: int) -> None:
    """Let this process take no more than so many bytes beyond what it has."""
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + room, held + room))


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is set as Linux does")
def test_no_attack_needs_256_mebibytes() -> None:
    done = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(list(rows()))} refused\n"


def in_little_memory() -> int:
    """Read every attack with 256 MiB to spare; return how many were refused."""
    texts = list(rows())
    for name in dn.list_mechanisms():
        registered(name)  # load the code
    _allow(2**28)
    refused = 0
    for _, text in texts:
        try:
            dn.from_spec(text)
        except (dn.SpecError, dn.InvalidArgument):
            refused += 1
    return refused


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("document", spec("grr", {}, domain={"kind": "categories", "labels": ["a", "x" * LARGE]}), "10,000,1"),
        ("labels", spec("grr", {}, domain={"kind": "categories", "labels": list(range(10**5))}), "100,000"),
        ("thresholds", spec("grr", {}, thresholds={str(i): "1" for i in range(20_000)}), "20,000"),
        ("cells", spec("grr", {}, 2**25), "33,554,432"),
        ("moduli", mss(primes()[:300], [1] * 300), "300"),
        ("blocks", spec("design", {"blocks": [[0], [1]] * 5000}, 2), "10,000"),
        ("tables", spec("pgr", {"q": 2, "t": 23, "polynomial": []}, 1000), "8,388,607"),
        ("seconds", spec("ss", {"w": 2**20 - 1}, 2**20), "about 0.65 s"),
        ("memory", cyclotomy(2**21, 4, [0], 3, cohorts=[0]), "419,431,600"),
    ],
)
def test_a_refusal_names_the_limit_the_value_and_what_to_do(name: str, text: str, value: str) -> None:
    with pytest.raises(dn.SpecError, match=rf"limit {name}=") as refused:
        dn.from_spec(text)
    assert value in str(refused.value)
    assert f"limits=Limits({name}=...)" in str(refused.value)


@pytest.mark.parametrize("limits", [None, Limits(cells=2**25), OWN], ids=["none", "more cells", "own"])
def test_a_limit_can_be_raised(limits: Limits | None) -> None:
    text = dn.mechanism("grr", k=2**25, epsilon=1.0).spec.to_json()
    assert dn.from_spec(text, limits=limits).k == 2**25
    with pytest.raises(dn.SpecError, match="cells=16,777,216"):
        dn.from_spec(text)


def test_a_server_can_lower_the_limits(tmp_path: Any) -> None:
    m = dn.mechanism("grr", k=100, epsilon=1.0)
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    for source in (m.spec, m.spec.to_json(), m.spec.to_dict(), tmp_path / "spec.json"):
        assert dn.from_spec(source) == m
        with pytest.raises(dn.SpecError, match="needs 100 cells"):
            dn.from_spec(source, limits=Limits(cells=99))
    for source in (m.spec.to_json(), tmp_path / "spec.json"):
        with pytest.raises(dn.SpecError, match="bytes of JSON"):
            dn.from_spec(source, limits=Limits(document=10))


@pytest.mark.parametrize("value", [float("nan"), -1, None, True, "9"])
@pytest.mark.parametrize("name", asdict(DEFAULT))
def test_a_limit_that_is_none_is_refused(name: str, value: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match=f"^{name} must be"):
        Limits(**{name: value})


def test_no_limit_is_taken_from_what_are_no_limits() -> None:
    m, protocol = dn.mechanism("grr", k=5, epsilon=1.0), dn.HeavyHitters.new(epsilon=1.0, max_bytes=3)
    wrong: Any
    for wrong in (5, {"cells": 3}, "none", False):
        for read in (
            lambda wrong=wrong: dn.from_spec(m.spec.to_json(), limits=wrong),
            lambda wrong=wrong: dn.from_spec(m.spec, limits=wrong),
            lambda wrong=wrong: dn.HeavyHitters.from_json(protocol.to_json(), limits=wrong),
        ):
            with pytest.raises(dn.InvalidArgument, match="limits must be Limits"):
                read()
    assert dn.from_spec(m.spec, limits=Limits(seconds=float("inf"), cells=np.int64(5))) == m


def test_levels_of_heavy_hitters_count_together() -> None:
    protocol = dn.HeavyHitters.new(epsilon=2.0, max_bytes=8)
    text = protocol.to_json()
    assert dn.HeavyHitters.from_json(text) == protocol
    each = max(level.layout.cells for level in protocol.levels)
    with pytest.raises(dn.SpecError, match="cells"):
        dn.HeavyHitters.from_json(text, limits=Limits(cells=each))
    assert dn.HeavyHitters.from_json(text, limits=None) == protocol


def test_no_level_is_built_before_all_are_known_to_be_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = dn.HeavyHitters.new(epsilon=2.0, max_bytes=8)
    built: list[int] = []
    monkeypatch.setattr(CohortMechanism, "__post_init__", lambda level: built.append(level.cohorts))
    dear = json.loads(protocol.to_json())
    dear["levels"][-1]["parameters"]["cohorts"] = 2**17
    for text, limits in (
        (protocol.to_json(), Limits(cells=protocol.levels[0].layout.cells)),
        (json.dumps(dear), DEFAULT),
    ):
        with pytest.raises(dn.SpecError, match="above the limit"):
            dn.HeavyHitters.from_json(text, limits=limits)
    assert not built


def test_costs_add_up_and_enormous_ones_are_refused() -> None:
    assert Cost(cells=1, nanoseconds=2) + Cost(cells=3, report=4) == Cost(cells=4, report=4, nanoseconds=2)
    for cost in (Cost(cells=10**4000), Cost(nanoseconds=10**4000)):
        with pytest.raises(dn.SpecError, match=r"over 2\^132"):
            DEFAULT.check(cost)


def test_the_threat_model_states_the_limits_of_the_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "threat-model.md").read_text()
    stated = re.findall(r"^\| `(\w+)` \| ([\d.,]+) \|", page, re.MULTILINE)
    assert {name: float(most.replace(",", "")) for name, most in stated} == asdict(DEFAULT)
    assert repr(DEFAULT) == "Limits()"


if __name__ == "__main__":
    sys.stdout.write(f"{in_little_memory()} refused\n")
