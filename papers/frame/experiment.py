"""The declaration of an experiment: what is measured on which grid, what is claimed, how it is drawn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from papers.frame.rows import Row, Rows

HOLDS, IN_PART, UNDECIDED, SLIP, FAILS, NOT_RUN = (
    "holds",
    "holds in part",
    "not decided",
    "printed slip",
    "contradicted",
    "not run",
)
VERDICTS = (HOLDS, IN_PART, UNDECIDED, SLIP, FAILS, NOT_RUN)

Measure = Callable[..., Sequence[Row]]  # called with a seed and the grid's parameters by keyword; a module's function


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, a sentence with the numbers behind it, how sure it is, and what could have been seen."""

    kind: str
    numbers: str
    confidence: str
    power: str = ""

    def __post_init__(self) -> None:
        if self.kind not in VERDICTS:
            raise ValueError(f"a verdict is one of {VERDICTS}, not {self.kind!r}")


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, in one line, and the function that judges it on the results.

    `slip` tells what a printed formula or sentence should say instead, where its failure matters to nothing else.
    """

    text: str
    judge: Callable[[Rows], Verdict]
    where: str = ""  # section, theorem or figure of the paper
    slip: str = ""

    def judged(self, rows: Rows) -> Verdict:
        """Return the verdict on these results, in which a slip in print is told from a contradiction."""
        verdict = self.judge(rows)
        return replace(verdict, kind=SLIP) if self.slip and verdict.kind in (IN_PART, FAILS) else verdict


@dataclass(frozen=True)
class Grid:
    """All combinations of some parameters, each with several seeds. Later parameters vary fastest."""

    parameters: Mapping[str, Sequence[Any]]
    repeats: int = 1
    first_seed: int = 0

    def cells(self) -> Iterator[dict[str, Any]]:
        """Yield the arguments of the measure, including the seed, in a fixed order."""
        names = list(self.parameters)
        for values in itertools.product(*self.parameters.values()):
            for seed in range(self.first_seed, self.first_seed + self.repeats):
                yield {**dict(zip(names, values, strict=True)), "seed": seed}

    def __len__(self) -> int:
        size = self.repeats
        for values in self.parameters.values():
            size *= len(values)
        return size


@dataclass(frozen=True)
class Lines:
    """Lines of y against x, one per value of `by`, in panels, with a band of one standard error around the mean.

    `band` names two metrics to use as the ends of the band instead, such as quantiles; `only` selects the rows to draw.
    """

    x: str
    y: str
    by: str
    panels: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False
    median: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    band: tuple[str, str] | None = None
    only: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Heat:
    """A coloured grid of a number against x and y, in panels; with `diverging`, zero is white."""

    x: str
    y: str
    value: str
    panels: tuple[str, ...] = ()
    diverging: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scatter:
    """A dot per row at x and y, in panels, with one colour per value of `by`."""

    x: str
    y: str
    by: str
    panels: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """The means of some metrics for each combination of `by`."""

    by: tuple[str, ...]
    metrics: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)


Picture = Lines | Heat | Scatter | Table


@dataclass(frozen=True)
class Experiment:
    """One figure, table or theorem of a paper.

    `note` says what differs from the paper, and politely where the paper has a slip. If `timed`, cells measure time:
    they run one at a time, and differ from run to run.
    """

    paper: str
    name: str
    title: str
    measure: Measure
    quick: Grid
    full: Grid
    claims: tuple[Claim, ...]
    picture: Picture | tuple[Picture, ...]
    note: str = ""
    data: tuple[str, ...] = ()  # files to read if they are found
    timed: bool = False

    @property
    def id(self) -> str:
        """The name on the command line: paper/name."""
        return f"{self.paper}/{self.name}"

    def grid(self, *, full: bool) -> Grid:
        """The quick grid, which takes minutes, or the full one."""
        return self.full if full else self.quick

    def judged(self, rows: Rows) -> list[tuple[Claim, Verdict]]:
        """Return every claim with its verdict on these results."""
        return [(claim, claim.judged(rows)) for claim in self.claims]
