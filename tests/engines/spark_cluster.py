"""A small Spark cluster on this machine: a driver, and two executors, each a process with Python workers of its own.

All checks of spark_checks.py run against one cluster, in a process of their own: Spark stays out of the process of the
tests, and several processes of tests share one run.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests import ROOT

CLASSIC, CONNECT = "classic", "connect"
TIMEOUT = 600  # seconds for all checks of a kind of session, on a machine that is busy
_COMMON = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than such small data
    "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
}


def missing() -> str:
    """What this machine lacks for Spark, in one line; nothing if it has all."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed: pip install 'deniable[spark]'"
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else shutil.which("java")
    return "" if java and os.path.exists(java) else "there is no Java on this machine"


def environment(scratch: Path) -> dict[str, str]:
    """What Spark and its workers find: this Python, the sources under test, and no address but this machine's."""
    own = {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(_home(scratch / "home")),
    }
    return {**os.environ, **own}


def _home(folder: Path) -> Path:
    """A home of Spark with all that is installed; executors write there, which the installed package need not allow."""
    import pyspark

    folder.mkdir()
    for installed in Path(pyspark.__file__).parent.iterdir():
        if installed.name != "work":
            (folder / installed.name).symlink_to(installed)
    return folder


def outcomes(kind: str, folder: Path) -> dict[str, str]:
    """The traceback of every check, empty where it passed; the first process to ask runs them, others wait for it."""
    written = folder / f"spark-{kind}.json"
    with (folder / f"spark-{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not written.exists():
            scratch = folder / f"spark-{kind}"
            scratch.mkdir()
            command = [sys.executable, "-m", "tests.engines.spark_cluster", kind, str(written), str(scratch)]
            log = scratch / "log.txt"
            with log.open("w") as out:
                process = subprocess.Popen(
                    command, cwd=ROOT, env=environment(scratch), stdout=out, stderr=out, start_new_session=True
                )
                try:
                    process.wait(TIMEOUT)
                except subprocess.TimeoutExpired:
                    written.write_text(json.dumps({"": f"Spark took longer than {TIMEOUT} s"}))
                finally:
                    _end(process)
            if not written.exists():
                written.write_text(json.dumps({"": "Spark did not start:\n" + log.read_text()[-3000:]}))
    found: dict[str, str] = json.loads(written.read_text())
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what the process started, by its own group: executors and servers are in it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def session(kind: str, scratch: Path) -> Iterator[Any]:
    """A cluster with two executors, or a session of Spark Connect to a server that this process starts."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName("deniable")
    local = {"spark.local.dir": str(scratch / "local"), "spark.sql.warehouse.dir": str(scratch / "warehouse")}
    for name, setting in {**_COMMON, **local}.items():
        builder = builder.config(name, setting)
    if kind == CONNECT:
        builder = builder.remote("local[2]")
    else:
        builder = builder.master("local-cluster[2,1,1024]").config("spark.executor.memory", "600m")
        builder = builder.config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
    made = builder.getOrCreate()
    try:
        yield made
    finally:
        made.stop()


def executors() -> list[int]:
    """The processes of the executors that this process has started, by way of the driver."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has just ended
            continue

    def ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and ours(parents[process]))

    return [process for process in found if ours(process)]


def run(kind: str, written: Path, scratch: Path) -> None:
    """Run all checks of a kind of session, and write what came of them."""
    from tests.engines import spark_checks

    results = {}
    with session(kind, scratch) as spark:
        for check in spark_checks.CHECKS[kind]:
            start = time.monotonic()
            results[check.__name__] = _outcome(check, spark, scratch / check.__name__)
            print(f"{time.monotonic() - start:6.1f} s  {check.__name__}", flush=True)  # noqa: T201
    written.write_text(json.dumps(results))


def _outcome(check: Callable[[Any, Path], None], spark: Any, folder: Path) -> str:
    folder.mkdir()
    try:
        check(spark, folder)
    except Exception:
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
