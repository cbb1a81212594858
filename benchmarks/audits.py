"""Measure what the audit by trials certifies, how often it errs, and what the detectors of liars see.

    python -m benchmarks.audits                                  everything: about 20 minutes on a quiet core
    python -m benchmarks.audits --only shares --seconds 60       a part of it, for so long
    python -m benchmarks.audits --honest 20000                   more honest batches: no alarm in n says rarer than 3/n

Results are kept in docs/measured/audits.json after every step: the script may be stopped, goes on where it was, and
`--again` measures a part anew. The tables are written into docs/audit.md. Seconds are those of the processor, all
threads together, so that they hold on a busy machine too.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from benchmarks import audits_page
from benchmarks.audits_page import EPSILONS, RESULTS, Results
from benchmarks.liars import batch, padded_lies
from benchmarks.records import cpu
from deniable.auditing.attacks.detectors import threshold
from deniable.auditing.attacks.pairs import ALARM, pair_test, pairs_of
from deniable.auditing.empirical import game
from deniable.auditing.empirical.adapters import Adapter
from deniable.auditing.empirical.mechanisms import Source, audit_mechanism
from deniable.auditing.empirical.search import audit_black_box
from deniable.mechanisms.base.mechanism import Mechanism

TRIALS, ALPHA, RUNS = 10_000_000, 1e-9, 2
OVER = ("grr", "sue", "clh", "ss")
OVER_RUNS, OVER_TRIALS, OVER_ALPHA = 2_000, 100_000, 0.05  # runs of each
DETECTORS, HONEST, LYING = ("oue", "ss"), 5_000, 300  # each
USERS, LIARS, TARGETS = 100_000, 0.003, 10
FAULTY_VALUES, FAULTY_TRIALS = 25, 4_000_000
_STEP = 25  # runs between two savings
_PLANE = (0, 1, 3, 13, 32, 36, 43, 52)  # a line of the plane of order 7: every difference modulo 57 once


def names() -> list[str]:
    """The mechanisms that are audited; a matrix has no channel of its own."""
    return [name for name in dn.list_mechanisms() if name != "matrix"]


def mechanism(name: str, epsilon: float) -> Mechanism:
    """The mechanism for 100 values; designs are given, here for 57 values in blocks of 8."""
    if name == "design":
        blocks = [[(place + shift) % 57 for place in _PLANE] for shift in range(57)]
        return dn.mechanism(name, k=57, epsilon=epsilon, blocks=blocks)
    return dn.mechanism(name, k=100, epsilon=epsilon)


def certified(name: str, epsilon: float, trials: int = TRIALS) -> dict[str, Any]:
    """The share of epsilon that so many reports certify, and the seconds that takes; or why there is none."""
    try:
        made = mechanism(name, epsilon)
    except dn.InvalidArgument as error:
        return {"refused": str(error)}
    _compiled(name)
    began = time.process_time()
    found = audit_mechanism(made, trials, ALPHA)
    seconds = time.process_time() - began
    assert found.expected is not None
    return {
        "shares": [round(found.share, 5)],
        "expected": round(found.expected / found.promised, 5),
        "seconds": round(seconds, 1),
        "trials": trials,
        "wrong": [*found.faults, *([found.below] if found.below else []), *(["exceeds"] if found.exceeds else [])],
    }


@cache
def _compiled(name: str) -> None:
    """Have the mechanism's loops compiled, once in a run."""
    audit_mechanism(mechanism(name, 2.0), 1000, ALPHA)


def faulty(values: int = FAULTY_VALUES, trials: int = FAULTY_TRIALS, seed: int | None = None) -> dict[str, Any]:
    """What a search finds of the published fault of an OUE client, which promises epsilon 1 and spends 1.551."""
    random = np.random.default_rng(seed)
    q = 1 / (math.e + 1)

    def sample(value: int, n: int) -> Any:
        bits = random.random((n, values), np.float32) < q
        bits[:, value] |= random.random(n) < 0.5  # the bit of the noise is not cleared before the value's own coin
        return bits

    began = time.process_time()
    found = audit_black_box(Adapter(sample, values, epsilon=1.0), trials, ALPHA, generator=random)
    seconds = time.process_time() - began
    # set in 1 - (1 - q)/2 of the reports of the value, against q; clear in (1 - q)/2, against 1 - q
    p = 1 - (1 - q) / 2
    truth = math.log(p * (1 - q) / (q * (1 - p)))
    return {"bound": round(found.bound, 4), "truth": round(truth, 4), "seconds": round(seconds, 1)}


def over(name: str, first: int, runs: int) -> int:
    """In how many runs the bound exceeds the truth."""
    m = dn.mechanism(name, k=10, epsilon=1.0)
    source = Source(game.fresh_reports(m))  # without the companions, which have no part in the bound
    seeds = (np.random.default_rng(seed) for seed in range(first, first + runs))
    bounds = [audit_mechanism(m, OVER_TRIALS, OVER_ALPHA, source=source, generator=seed).bound for seed in seeds]
    return sum(bound > m.guarantee().epsilon for bound in bounds)


def detected(name: str, kind: str, first: int, runs: int) -> dict[str, float]:
    """Alarms in honest batches, or in those with liars, and how many of these had all targets named."""
    m = dn.mechanism(name, k=128, epsilon=1.0)
    pairs = pairs_of(m)
    assert pairs is not None
    sums: dict[str, float] = {"alarms": 0, "above": 0, "named": 0}
    for seed in range(first, first + runs):
        data = batch(m, USERS, seed)
        found = pair_test(m, pairs, data if kind == "honest" else padded_lies(m, data, LIARS, TARGETS))
        sums["alarms"] += found.statistic > ALARM
        sums["above"] += found.statistic > threshold(0.01)
        sums["named"] += found.alarm and found.named.tolist() == list(range(m.k - TARGETS, m.k))
    return {key: int(value) for key, value in sums.items()}


def steps(results: Results, only: str, honest: int) -> Iterator[None]:
    """Measure what is missing, one step at a time."""
    for part in audits_page.PARTS:
        if only in ("", part):
            yield from _STEPS[part](results.setdefault(part, {}), honest)


def _shares(record: Results, _: int) -> Iterator[None]:
    for name in names():
        for epsilon in EPSILONS:
            found = record.setdefault(f"{name} {epsilon:g}", {"shares": []})
            while "refused" not in found and len(found["shares"]) < RUNS:
                run = certified(name, epsilon)
                if "refused" in run:
                    found.clear()
                else:
                    run["shares"] = [*found["shares"], *run["shares"]]
                    run["seconds"] = max(run["seconds"], found.get("seconds", 0.0))
                    run["wrong"] = [*found.get("wrong", []), *run["wrong"]]
                found |= _dated(run)
                yield


def _faulty(record: Results, _: int) -> Iterator[None]:
    if "oue" not in record:
        record["oue"] = _dated(faulty())
        yield


def _over(record: Results, _: int) -> Iterator[None]:
    for name in OVER:
        found = record.setdefault(name, {"runs": 0, "over": 0})
        while found["runs"] < OVER_RUNS:
            found["over"] += over(name, found["runs"], _STEP)
            found["runs"] += _STEP
            found |= _dated({})
            yield


def _detector(record: Results, honest: int) -> Iterator[None]:
    for kind, wanted in (("lying", LYING), ("honest", honest)):
        for name in DETECTORS:
            found = record.setdefault(f"{name} {kind}", {"runs": 0})
            while found["runs"] < wanted:
                runs = min(_STEP, wanted - found["runs"])
                for key, value in detected(name, kind, found["runs"], runs).items():
                    found[key] = found.get(key, 0) + value
                found["runs"] += runs
                found |= _dated({})
                yield


_STEPS = {"shares": _shares, "faulty": _faulty, "over": _over, "detector": _detector}


def _dated(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "date": datetime.now(UTC).date().isoformat(), "machine": cpu()}


def save(results: Results, path: Path = RESULTS) -> None:
    """Write the record, whole or not at all."""
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    partial.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=audits_page.PARTS, default="", help="measure this part")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time; 0 only writes the page")
    parser.add_argument("--honest", type=int, default=HONEST, help="honest batches of each mechanism")
    parser.add_argument("--again", action="store_true", help="forget what was measured of the part, or of all")
    given = parser.parse_args()
    warnings.simplefilter("ignore", dn.DesignWarning)
    results = audits_page.read()
    if given.again:
        for part in [given.only] if given.only else audits_page.PARTS:
            results.pop(part, None)
    began = time.monotonic()
    todo = steps(results, given.only, given.honest)
    while time.monotonic() - began < given.seconds and next(todo, todo) is not todo:
        save(results)
    audits_page.write(results)


if __name__ == "__main__":
    main()
