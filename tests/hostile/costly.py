"""Specs that are valid and as costly as they may be: parameters drawn by size, not by mutation.

`python -m tests.hostile.costly 10000` reads that many, each as a server and a device would: it makes the mechanism,
one report and an empty summary; prints the slowest and the largest; and fails above the stated limits. `make soak`
runs some with fresh seeds. Every block of specs has a process of its own, so that what earlier ones left in caches is
soon gone.
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import deniable as dn
from deniable.mechanisms.designs import singer
from deniable.mechanisms.designs.cyclotomy import Cyclotomy
from deniable.mechanisms.designs.random_sets import RandomSets
from deniable.mechanisms.numbers import divisors, is_prime, primitive_root
from deniable.mechanisms.registry import list_mechanisms, registered

Drawn = tuple[Any, dict[str, Any]]
MOST_SECONDS, MOST_BYTES = 0.5, 2**28
BLOCK = 500  # specs that one process reads


def near(source: random.Random, most: int, least: int = 2) -> int:
    """A number whose size is uniform, so that small and large ones are equally likely."""
    return max(least, min(most, round(2 ** source.uniform(least.bit_length() - 1, most.bit_length()))))


def prime_from(number: int) -> int:
    """The first prime from a number on."""
    while not is_prime(number):
        number += 1
    return number


def _csr(source: random.Random) -> Drawn:
    if source.random() < 0.4:
        k = near(source, 2**26, 4)
        return k, {"sets": asdict(RandomSets(k, near(source, k - 1, 1), near(source, 256, 1), 0)), "loss": 1.0}
    modulus = prime_from(near(source, 2**28, 5))
    classes = source.choice([n for n in divisors(modulus - 1) if n < modulus - 1])
    every = range(min(classes, 600))
    chosen = sorted(source.sample(every, near(source, max(1, len(every) - 1), 1)))
    cohorts = sorted(source.sample(every, near(source, len(every), 1)))
    sets = Cyclotomy(modulus, classes, tuple(chosen), source.random() < 0.5, tuple(cohorts), primitive_root(modulus))
    return near(source, modulus), {"sets": asdict(sets), "loss": 1.0}


def _mss(source: random.Random) -> Drawn:
    count, largest = near(source, 2000, 1), near(source, 2**20, 3)
    width = 1 + min(largest, 20 * count)
    moduli = sorted({prime_from(max(2, largest - source.randrange(width))) for _ in range(count)})
    k = min(2**20, max(moduli[-1], sum(moduli) - len(moduli)))
    moduli = [m for m in moduli if m <= k]
    return k, {"moduli": moduli, "sizes": [near(source, m - 1, 1) if m > 2 else 1 for m in moduli]}


def _pgr(source: random.Random) -> Drawn:
    t = source.randint(2, 24)
    q = source.choice([2, 3, 4, 5, 7, 8, 9, prime_from(near(source, 2 ** max(2, 30 // (t - 1))))])
    points = singer.points(q, t)
    return near(source, min(points, 2**31)), {"q": q, "t": t, "polynomial": _polynomial(q, t)}


def _polynomial(q: int, t: int) -> list[int]:
    return list(singer.polynomial(q, t)) if q**t < 2**40 else []


def _hpgr(source: random.Random) -> Drawn:
    k, parameters = _pgr(source)
    return k, {**parameters, "h": near(source, 2**24, 1)}


def _design(source: random.Random) -> Drawn:
    k = near(source, 2**11)
    if source.random() < 0.5:
        return k, {"blocks": [[value] for value in range(k)] * near(source, 2**12, 1)}
    return k, {"blocks": [[other for other in range(k) if other != value] for value in range(min(k, 600))]}


def _matrix(source: random.Random) -> Drawn:
    """A matrix of any shape, square in a third of the cases; there may be more or fewer values than rows."""
    entries = near(source, 2**17, 4)
    rows = math.isqrt(entries) if source.random() < 1 / 3 else near(source, entries, 1)
    reports = max(1, entries // rows)
    other = 1 / (reports + 1)
    matrix = [[2 * other if row % reports == report else other for report in range(reports)] for row in range(rows)]
    return (near(source, 2**24) if source.random() < 0.1 else max(2, rows)), {"matrix": matrix}


def _cohorts(name: str) -> Callable[[random.Random], Drawn]:
    def drawn(source: random.Random) -> Drawn:
        cohorts, buckets = near(source, 2**16, 1), near(source, 2**24)
        buckets = 1 << buckets.bit_length() if name == "hcms" else buckets
        k = near(source, 2**24)
        parameters = {"cohorts": cohorts, "buckets": buckets, "candidates": k, "seed": source.randrange(2**32)}
        if name == "orappor":
            parameters["hashes"] = near(source, 32, 1)
        return (dn.Domain.open() if source.random() < 0.5 else k), parameters

    return drawn


def _other(name: str) -> Callable[[random.Random], Drawn]:
    def drawn(source: random.Random) -> Drawn:
        k = near(source, 2**31)
        own: dict[str, Callable[[], dict[str, Any]]] = {
            "ss": lambda: {"w": near(source, k - 1, 1)},
            "she": lambda: {"reach": source.randint(0, 127)},
            "the": lambda: {"theta": source.uniform(0.5, 1)},
            "hr": lambda: {"blocks": 1 << source.randint(0, 30)},
            "rhr": lambda: {"bits": source.randint(1, 31), "salt": ""},
            "blh": lambda: {"salt": ""},
            "olh": lambda: {"g": prime_from(near(source, 2**20)), "salt": ""},
            "flh": lambda: {"g": prime_from(near(source, 2**20)), "salt": ""},
            "clh": lambda: _classes(source, k),
        }
        return k, own.get(name, dict)()

    return drawn


def _classes(source: random.Random, k: int) -> dict[str, Any]:
    modulus = prime_from(max(3, min(k, 2**30)))
    return {"modulus": modulus, "classes": source.choice(divisors(modulus - 1)[1:]), "salt": ""}


def _maker(name: str) -> Callable[[random.Random], Drawn]:
    if name in ("orr", "orappor", "cms", "hcms"):
        return _cohorts(name)
    own = {"csr": _csr, "mss": _mss, "pgr": _pgr, "hpgr": _hpgr, "design": _design, "matrix": _matrix}
    return own.get(name) or _other(name)


def costly(seed: int) -> str:
    """A spec by number, without its thresholds."""
    source = random.Random(seed)
    name = source.choice(list_mechanisms())
    k, parameters = _maker(name)(source)
    domain = dn.Domain.of(k)
    document = {
        "deniable": 1,
        "mechanism": name,
        "version": 1,
        "domain": domain.to_dict(),
        "parameters": {"epsilon": source.choice([0.1, 1.0, 2.0, 4.0]), **parameters},
        "thresholds": {},
    }
    return json.dumps(document)


def read(text: str) -> tuple[bool, float]:
    """Read a spec and, if its cost is allowed, make a report and a summary; whether it was made, and the seconds."""
    start = time.process_time()
    try:
        dn.from_spec(text)
    except dn.DeniableError as error:
        seconds = time.process_time() - start
        if "limit" in str(error):
            return False, seconds
    document = json.loads(text)  # its cost is allowed, but its thresholds are missing
    parameters = {name: value for name, value in document["parameters"].items() if name != "loss"}
    (cls,) = registered(document["mechanism"])
    try:
        made = cls(dn.Domain.from_dict(document["domain"]), **parameters)
    except dn.DeniableError:
        return False, seconds
    start = time.process_time()
    made.encode(made.privatize_one(made.domain.label(0) if hasattr(made.domain, "low") else "value"))
    made.empty_summary()
    return True, seconds + time.process_time() - start


def warm_up() -> None:
    """Load the compiled loops, which a process does once; what that takes is not part of a spec's cost."""
    for name, k in (("ss", 2**15), ("mss", 2**15), ("grr", 10)):
        made = dn.mechanism(name, k=k, epsilon=1.0)
        list(made.encode_many(made.privatize([0] * 100)))


def growth(work: Callable[[], object]) -> int:
    """The most memory that this process takes for some work, in bytes, beyond what it holds before."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)  # what was freed earlier goes back to the system: else it is taken again unseen
    Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from now on
    held = _peak()
    work()
    return _peak() - held


def _peak() -> int:
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024  # type: ignore[index]


class Reading(NamedTuple):
    """What reading one spec took."""

    seconds: float
    bytes: int
    seed: int
    made: bool
    name: str


def measured(seed: int) -> Reading:
    """Read the spec of this number and measure it."""
    text = costly(seed)
    made, seconds = False, 0.0

    def work() -> None:
        nonlocal made, seconds
        made, seconds = read(text)

    taken = growth(work)
    return Reading(seconds, taken, seed, made, json.loads(text)["mechanism"])


def block(first: int, count: int) -> list[Reading]:
    """Measure so many specs in this process."""
    warm_up()
    gc.freeze()  # what is loaded stays, and need not be searched for garbage before each spec
    return [measured(seed) for seed in range(first, first + count)]


def readings(count: int, first: int = 0) -> Iterator[Reading]:
    """Measure so many specs, each block in a fresh process."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        starts = range(first, first + count, BLOCK)
        for found in processes.map(block, starts, (min(BLOCK, first + count - start) for start in starts)):
            yield from found


def summary(found: list[Reading]) -> str:
    """What was read, and the extremes of it in one line."""
    slowest, largest = max(found), max(found, key=lambda each: each.bytes)
    return (
        f"{len(found):,} costly specs, {sum(each.made for each in found):,} made, the others refused; slowest "
        f"{slowest.seconds:.3f} s ({slowest.name}), largest {largest.bytes / 2**20:.0f} MiB ({largest.name})"
    )


def too_costly(found: list[Reading]) -> list[Reading]:
    """Those above the stated limits."""
    return [each for each in found if each.seconds > MOST_SECONDS or each.bytes > MOST_BYTES]


def main(count: int, first: int = 0) -> int:
    """Read this many specs, print the extremes, and return how many took too much."""
    found = list(readings(count, first))
    extremes = (*sorted(found, reverse=True)[:10], *sorted(found, key=lambda each: -each.bytes)[:10])
    lines = [summary(found)]
    lines += [f"{one.seconds:.3f} s  {one.bytes / 2**20:6.0f} MiB  {one.name} seed {one.seed}" for one in extremes]
    sys.stdout.write("\n".join(lines) + "\n")
    return len(too_costly(found))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
