"""All mechanisms side by side for one question: error, size of a report, time and attack rate."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.domain import MAX_SIZE, Domain
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.validate import choice, whole
from deniable.mechanisms.base.definition import checked_epsilon
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import list_mechanisms, mechanism
from deniable.simulation import simulate

_TIMED_USERS = 20_000  # at most: enough to measure a client
_SKEW = 1.3  # of the Zipf data that is simulated


@dataclass(frozen=True)
class Costs:
    """What one mechanism costs for one question.

    `error` is the root mean squared error of the unbiased estimate of a rare value, by formula; `loss` and
    `simulated_loss` are mean squared errors over the asymptotic optimum 4e/(n(e - 1)^2), by formula and
    measured; `simulated_loss_error` is not a number after a single run; `attack` is how often the best guess of
    a value from one report is right.
    """

    mechanism: str
    error: float
    loss: float
    simulated_loss: float
    simulated_loss_error: float
    bits: int
    client_ns: float
    server_ms: float
    attack: float


@dataclass(frozen=True)
class Comparison:
    """Costs of the mechanisms that support the setting, most exact first; the others by name, each with the reason."""

    k: int
    epsilon: float
    n: int
    rows: tuple[Costs, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Costs]:
        return iter(self.rows)

    def to_json(self) -> str:
        """One JSON document; what was not measured is null."""
        clean = [{name: None if value != value else value for name, value in asdict(row).items()} for row in self]
        document = {"k": self.k, "epsilon": self.epsilon, "n": self.n, "mechanisms": clean}
        return json.dumps({**document, "left_out": dict(self.left_out)}, indent=1)

    def __str__(self) -> str:
        lines = ["  ".join(line) for line in _aligned([_HEADINGS, *map(_cells, self.rows)])]
        return "\n".join([*lines, *self._omission])

    def __rich__(self) -> Any:
        with needed():
            from rich.table import Table

        caption = next(iter(self._omission), None)
        table = Table(title=self._title, title_justify="left", caption=caption, caption_justify="left")
        for place, heading in enumerate(_HEADINGS):
            table.add_column(heading, justify="right" if place else "left")
        for row in self.rows:
            table.add_row(*_cells(row))
        return table

    def plot(self, path: str | Path | None = None) -> Any:
        """Error against bits; the size of a dot is the server's time."""
        from deniable.plots.costs import draw_costs

        return draw_costs(self.rows, path, title=self._title)

    @property
    def _title(self) -> str:
        return f"k={self.k:,}, epsilon={self.epsilon:g}, n={self.n:,}"

    @property
    def _omission(self) -> list[str]:
        """One line about the mechanisms that are not in the table, if there are any."""
        count, all_ = len(self.left_out), len(self.left_out) + len(self.rows)
        listed = ", ".join(self.left_out)
        return [f"left out, not possible for this setting ({count} of {all_}): {listed}"] if count else []


def compare(
    k: int,
    epsilon: float,
    n: int = 10_000,
    *,
    names: Iterable[str] | None = None,
    repeats: int = 3,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare mechanisms for k values, epsilon and n users: error by formula and simulated, bits, times, attack rate.

    The simulation has n users with Zipf data and is repeated; times are measured on this machine. Mechanisms that do
    not support the setting are left out: `left_out` has the reason for each.

    >>> import deniable as dn
    >>> [row.mechanism for row in dn.compare(50, 1.0, n=1000, names=["grr"], repeats=1)]
    ['grr']
    """
    if isinstance(names, str) or not isinstance(names, (Iterable, type(None))):
        raise InvalidArgument("names", "be a list of mechanisms", names)
    chosen = list_mechanisms() if names is None else [choice(list_mechanisms(), names=name) for name in names]
    k, epsilon = Domain.of(whole(2, MAX_SIZE, k=k)).k, checked_epsilon(epsilon)
    whole(1, n=n)
    whole(1, repeats=repeats)
    rows, left_out = [], {}
    for name in chosen:
        if progress is not None:
            progress(name)
        try:
            made = mechanism(name, k=k, epsilon=epsilon)
        except InvalidArgument as error:
            left_out[name] = str(error)
            continue
        rows.append(_costs(made, n, repeats, seed))
    return Comparison(k, float(epsilon), n, tuple(sorted(rows, key=lambda row: row.loss)), left_out)


def _costs(m: Mechanism, n: int, repeats: int, seed: int) -> Costs:
    shares = np.arange(1, m.k + 1) ** -_SKEW
    true = np.floor(n * shares / shares.sum()).astype(np.int64)
    true[0] += n - true.sum()
    optimum = 4 * math.exp(m.epsilon) / (n * math.expm1(m.epsilon) ** 2)
    places = np.linspace(0, n - 1, min(n, _TIMED_USERS)).astype(np.int64)  # users from all over the data
    users = np.searchsorted(np.cumsum(true), places, side="right")
    m.privatize(m.domain.all_labels()[:1] * 100, seed=seed)  # compiled before it is timed
    client = _seconds(lambda: m.payloads(users, _fresh()))
    errors, server = [], math.inf
    for run in range(repeats):
        summary = simulate(m, true, seed=seed + run)
        started = time.process_time()
        found = m.unbiased(summary)
        server = min(server, time.process_time() - started)  # tables are made by the first run
        errors.append(float(((found - true / n) ** 2).mean()) / optimum)
    return Costs(
        m.name,
        error=math.sqrt(m.variance(0.0, n)),
        loss=m.variance(0.0, n) / optimum,
        simulated_loss=float(np.mean(errors)),
        simulated_loss_error=float(np.std(errors, ddof=1) / math.sqrt(repeats)) if repeats > 1 else math.nan,
        bits=m.report_bits,
        client_ns=1e9 * client / len(users),
        server_ms=1e3 * server,
        attack=float(m.reconstruction_rate()),
    )


def _fresh() -> Any:
    from deniable.randomness.keystream import Keystream

    return Keystream.fresh()


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return max(time.process_time() - started, 1e-9)


_HEADINGS = ["mechanism", "rms error", "loss", "simulated", "bits", "client", "server", "attack"]


def _cells(row: Costs) -> list[str]:
    spread = "" if math.isnan(row.simulated_loss_error) else f" ± {row.simulated_loss_error:.3f}"
    client = f"{row.client_ns:.0f} ns" if row.client_ns < 1e4 else f"{row.client_ns / 1e3:.0f} us"
    return [
        row.mechanism,
        f"{row.error:.3%}",
        f"{row.loss:.4f}",
        f"{row.simulated_loss:.3f}{spread}",
        f"{row.bits:,}",
        client,
        f"{row.server_ms:.2f} ms",
        f"{row.attack:.3%}",
    ]


def _aligned(lines: list[list[str]]) -> list[list[str]]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [[line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines]
