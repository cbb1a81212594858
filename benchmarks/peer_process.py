"""Run a job on our data in the peers' environment."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.clock import last_line
from benchmarks.goals import TIME, Measured
from benchmarks.peers import JOBS, NOT_INSTALLED

_ROOT = Path(__file__).resolve().parent.parent
_REPEATS = 3

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PeerRun:
    """The peers' times for a job, and the arrays they returned."""

    measured: Measured
    answers: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Peers:
    """The interpreter of the peers' environment; None or a missing file means that no peer is installed."""

    python: Path | None

    def run(self, job: str, arrays: Mapping[str, Array], per: int = 1, **parameters: Any) -> PeerRun:
        """Every peer's time for the job, divided by the number of users it handled."""
        if self.python is None or not self.python.exists():
            return PeerRun(Measured(missing=dict.fromkeys(JOBS[job], NOT_INSTALLED)))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for stem, array in arrays.items():
                np.save(folder / f"{stem}.npy", array)
            request = {"job": job, "parameters": parameters, "repeats": _REPEATS}
            (folder / "request.json").write_text(json.dumps(request))
            # not resolved: a virtual environment is recognised by the link to its interpreter
            command = [str(self.python.absolute()), "-m", "benchmarks.peers", name]
            finished = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)
            if finished.returncode:
                why = f"peer failed: {last_line(finished.stderr)}"
                return PeerRun(Measured(missing=dict.fromkeys(JOBS[job], why)))
            found = json.loads(finished.stdout)
            answers = {path.stem: np.load(path) for path in folder.glob("answers/*.npy")}
        ran = {peer: result for peer, result in found.items() if "seconds" in result}
        figures = {peer: {TIME: result["seconds"] / per} for peer, result in ran.items()}
        missing = {peer: result["missing"] for peer, result in found.items() if peer not in ran}
        return PeerRun(Measured(figures, missing), answers)
