"""Measure what a large alphabet costs, and write the table of docs/large-alphabets.md.

Run from the project's root: `python docs/measure_growth.py`, or `make growth`. Each mechanism and size runs in a
process of its own, with limits on time and memory, one after the other; results are kept in
docs/measured/growth.json, each with the date when its run began. The script measures what is missing and what is older
than the newest run, so that it may be stopped, and goes on where it was. `--again` begins a new run; with
`--only csr,clh` or `--sizes` it measures these rows anew, as part of the newest run.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE, RESULTS = HERE / "large-alphabets.md", HERE / "measured" / "growth.json"
START, END = "<!-- measured growth: written by docs/measure_growth.py -->", "<!-- end of measured growth -->"

SIZES = (1024, 2**14, 2**17, 2**20, 2**24)
EPSILON, REPORTS, REPORT_BYTES = 1.0, 100_000, 2**28  # fewer reports where they would take more memory than this
SECONDS, MEMORY = 600, 12 * 2**30  # for all steps of one process together
DRAWN_ONE_BY_ONE = ("mss",)  # whose simulated reports cost as much as real ones
STEPS = ("make", "privatize_one", "one_more", "privatize", "summarize", "estimate", "again", "interval", "top")
NOT_SCALED = ("design", "matrix")  # whose blocks and matrices are given, not chosen by k


def names() -> list[str]:
    """The mechanisms that choose their own parameters for any k."""
    import deniable as dn

    return [name for name in dn.list_mechanisms() if name not in NOT_SCALED]


def measured(name: str, k: int) -> dict[str, Any]:
    """Run all steps in this process; return seconds, of the processor and of the clock, peak memory, and refusals."""
    import numpy as np

    import deniable as dn

    warnings.simplefilter("ignore")
    found: dict[str, Any] = {"clock": {}}

    def timed(step: str, call: Callable[[], Any]) -> Any:
        before, clock = time.process_time(), time.perf_counter()
        result = call()
        found[step], found["clock"][step] = time.process_time() - before, time.perf_counter() - clock
        return result

    try:
        _warm_up(name)
        m = timed("make", lambda: dn.mechanism(name, k=k, epsilon=EPSILON))
        timed("privatize_one", lambda: m.privatize_one(k // 2))
        timed("one_more", lambda: m.privatize_one(k // 3))
        n = found["n"] = int(min(REPORTS, max(1, REPORT_BYTES // m.layout.empty(1).nbytes)))
        ranks = np.arange(1, k + 1, dtype=float)
        values = np.random.default_rng(0).choice(k, n, p=ranks**-1.0 / (ranks**-1.0).sum())
        reports = timed("privatize", lambda: m.privatize(values, seed=1))
        summary = timed("summarize", lambda: m.summarize(reports))
        if n < REPORTS and name not in DRAWN_ONE_BY_ONE:
            frequencies = np.random.default_rng(0).choice(k, REPORTS, p=ranks**-1.0 / (ranks**-1.0).sum())
            summary = dn.simulate(m, np.bincount(frequencies, minlength=k), seed=1)
        found["estimated"] = summary.n
        estimate = timed("estimate", lambda: m.estimate(summary))
        timed("again", lambda: m.estimate(summary))
        timed("interval", lambda: estimate.interval(0.95))
        timed("top", lambda: estimate.top(10))
    except dn.DeniableError as error:
        found["refused"] = str(error)
    except MemoryError:
        found["refused"] = f"more than {MEMORY >> 30} GiB of memory"
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10  # kibibytes, on Linux
    return found


def _warm_up(name: str) -> None:
    """Compile and import what the steps need, on few values."""
    import numpy as np

    import deniable as dn

    m = dn.mechanism(name, k=64, epsilon=EPSILON)
    m.privatize_one(0)
    summary = m.summarize(m.privatize(np.arange(REPORTS) % 64, seed=1))
    m.estimate(summary).top(3)
    m.estimate(summary).interval(0.95)


def in_own_process(name: str, k: int) -> dict[str, Any]:
    """Measure in a process with limits; what it prints last is the result."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    command = [sys.executable, __file__, "--one", name, str(k)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, preexec_fn=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"refused": f"more than {SECONDS} s for all steps"}
    if done.returncode:
        return {"refused": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def table(results: dict[str, dict[str, Any]]) -> str:
    """A row per mechanism and size: processor seconds of each step, clock seconds of estimates, and peak memory."""
    heads = ("mechanism", "k", "reports", "make", "one report", "one more", "privatize", "summarize", "estimate of")
    heads = (*heads, "seconds", "by the clock", "interval", "top 10", "MiB")
    lines = [f"| {' | '.join(heads)} |", f"|---|{'--:|' * (len(heads) - 1)}"]
    for key, found in results.items():
        name, k = key.split()
        cells = [f"`{name}`", f"{int(k):,}"]
        if "make" not in found:
            lines.append(f"| {' | '.join(cells)} | refused | {' | '.join([''] * (len(heads) - 3))} |")
            continue
        cells.append(f"{found['n']:,}" if "n" in found else "")
        clock = found.get("clock", {})
        cells.extend(_cell(found, step) for step in ("make", "privatize_one", "one_more", "privatize", "summarize"))
        cells.append(f"{found.get('estimated', found.get('n', 0)):,}")
        cells.extend((_cell(found, "estimate"), seconds(clock["estimate"]) if "estimate" in clock else ""))
        cells.extend(_cell(found, step) for step in ("interval", "top"))
        cells.append(f"{found['peak']:,}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(found: dict[str, Any], step: str) -> str:
    return seconds(found[step]) if step in found else "refused" if "refused" in found else ""


def seconds(number: float) -> str:
    """Processor seconds with two digits, as far as a millisecond."""
    return "< 0.001" if number < 0.001 else f"{number:.3f}" if number < 0.1 else f"{number:.2g}"


def write(results: dict[str, dict[str, Any]]) -> None:
    """Keep the results, and put their table between the page's marks."""
    order = {f"{name} {k}": (name, k) for name in names() for k in SIZES}
    kept = {key: results[key] for key in order if key in results}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    page = PAGE.read_text()
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n{table(kept)}\n{END}{after}")


def newest(results: dict[str, dict[str, Any]]) -> str:
    """When the newest run began; nothing if no row has a run."""
    return max((found.get("run", "") for found in results.values()), default="")


def due(results: dict[str, dict[str, Any]], keys: Iterable[str], run: str) -> list[str]:
    """The rows that this run has not measured yet."""
    return [key for key in keys if results.get(key, {}).get("run") != run]


def main() -> None:
    """Measure what the newest run, or a new one, has not measured yet, and write the page after every row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of mechanisms, with commas between them")
    parser.add_argument("--sizes", default="", help="numbers of values, with commas between them")
    parser.add_argument("--again", action="store_true", help="begin a new run, or measure the rows named anew")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "K"), help="measure one in this process, and print it")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one[0], int(given.one[1]))))  # noqa: T201
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    sizes = [int(size) for size in given.sizes.split(",")] if given.sizes else SIZES
    keys = [f"{name} {k}" for name in (given.only.split(",") if given.only else names()) for k in sizes]
    some, now = bool(given.only or given.sizes), datetime.now(UTC).isoformat(timespec="seconds")
    run = now if given.again and not some else newest(results) or now
    for key in keys if given.again else due(results, keys, run):
        name, k = key.split()
        results[key] = found = {**in_own_process(name, int(k)), "run": run}
        steps = {step: round(found[step], 3) for step in STEPS if step in found}
        print(key, steps, found.get("peak"), found.get("refused", ""), flush=True)  # noqa: T201
        write(results)
    print(f"All rows asked for are of the run that began {run}; --again begins a new one.")  # noqa: T201


if __name__ == "__main__":
    main()
