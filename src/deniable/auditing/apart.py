"""A call in a process of its own, for code that may end its process: whoever calls then learns that it did.

There, what the code prints goes to standard error, and standard input is empty.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from deniable.auditing.foreign import CodeEnded
from deniable.core.errors import DeniableError, InvalidArgument, shown

_SOURCES = Path(__file__).parents[2]  # where this package is imported from
_REQUEST, _PROGRESS, _ANSWER = "request", "progress", "answer"
_SECONDS = 0.1  # between looks at the progress

Progress = Callable[[int], None]


def environment() -> dict[str, str]:
    """The environment of a process that is to import this package."""
    paths = [str(_SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def apart(call: Callable[..., Any], *given: Any, progress: Progress | None = None) -> Any:
    """What `call(*given, progress=...)` returns or raises in a process of its own; CodeEnded if that ends before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / _REQUEST).write_bytes(pickle.dumps((sys.path, call, given)))
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, name], env=environment(), stdin=subprocess.DEVNULL, stdout=_errors()
        )
        try:
            _wait(process, folder / _PROGRESS, progress)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if not (folder / _ANSWER).exists():
            raise CodeEnded(_ended(process.returncode))
        made, answer = pickle.loads((folder / _ANSWER).read_bytes())
    if not made:
        raise answer
    return answer


def _errors() -> int:
    """Standard error, for what is printed; nowhere if it is closed."""
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2


def _wait(process: subprocess.Popen[bytes], path: Path, progress: Progress | None) -> None:
    """Wait for the end, and pass on how far the process says that it is."""
    said = 0
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS if progress is not None else None)
        if progress is not None and path.exists():
            numbers = path.read_text().split("\n")[:-1]  # what follows the last line may be half written
            for number in numbers[said:]:
                progress(int(number))
            said = len(numbers)
        if process.returncode is not None:
            return


def _ended(code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    return f"by {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"by signal {-code}"


def _plain(error: Exception) -> Exception:
    """The same error where another process can read it, which does not know the classes of the code."""
    if isinstance(error, InvalidArgument):
        error.value = shown(error.value)  # the message is made
    return error if isinstance(error, DeniableError | OSError | MemoryError) else RuntimeError(repr(error))


def main(name: str) -> None:
    """Answer the request in a folder."""
    folder = Path(name)
    paths, call, given = pickle.loads((folder / _REQUEST).read_bytes())
    sys.path[:] = paths

    def say(number: int) -> None:
        with open(folder / _PROGRESS, "a") as file:
            file.write(f"{number}\n")

    try:
        answer = True, call(*given, progress=say)
    except KeyboardInterrupt:
        os._exit(1)
    except Exception as error:
        answer = False, _plain(error)
    (folder / "written").write_bytes(pickle.dumps(answer))
    (folder / "written").replace(folder / _ANSWER)
    # threads and exit handlers of the code are not waited for
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
