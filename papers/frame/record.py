"""The record of a run: every claim with its verdict, and what the report shows, as plain JSON.

The record of the last run on the quick grid is part of the repository (docs/papers/verdicts.json). The report and the
tables of the documentation are derived from it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deniable._version import __version__
from papers.frame.cache import Cache
from papers.frame.drawing import table_cells
from papers.frame.experiment import (
    HOLDS,
    IN_PART,
    NOT_RUN,
    SLIP,
    VERDICTS,
    Claim,
    Experiment,
    Heat,
    Lines,
    Picture,
    Table,
    Verdict,
)
from papers.frame.judging import NOTHING
from papers.frame.library import PAPERS
from papers.frame.rows import Rows
from papers.frame.runner import results

SHIPPED = Path(__file__).parents[2] / "docs" / "papers" / "verdicts.json"
_STAND_IN = "stand-in"  # how the labels of data begin that stand for others

Record = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """An experiment with its results and the verdicts on its claims."""

    experiment: Experiment
    rows: Rows
    verdicts: tuple[tuple[Claim, Verdict], ...]


def judged(experiment: Experiment, cache: Cache, *, full: bool = False) -> Judged:
    """Judge an experiment on its results on disk."""
    rows = results(experiment, cache, full=full)
    if not rows:
        return Judged(experiment, rows, tuple((claim, NOTHING) for claim in experiment.claims))
    return Judged(experiment, rows, tuple(experiment.judged(rows)))


def record(entries: Iterable[Judged], *, full: bool = False) -> Record:
    """Return everything that the report tells, without the pictures themselves."""
    grid = "full" if full else "quick"
    return {"version": __version__, "grid": grid, "experiments": [_experiment(each, full) for each in entries]}


def _experiment(entry: Judged, full: bool) -> Record:
    experiment = entry.experiment
    return {
        **declared(experiment),
        "command": f"python -m papers run {experiment.id}{' --full' if full else ''}",
        "stand-ins": [label for label in entry.rows.values("data") if str(label).startswith(_STAND_IN)],
        "claims": [
            {"text": claim.text, "where": claim.where, "slip": claim.slip, **asdict(verdict)}
            for claim, verdict in entry.verdicts
        ],
        "pictures": [_picture(experiment, number, each, entry.rows) for number, each in enumerate(pictures(experiment))]
        if entry.rows
        else [],
    }


def declared(experiment: Experiment) -> Record:
    """What the record says of an experiment before it is run."""
    return {"id": experiment.id, "paper": experiment.paper, "title": experiment.title, "note": experiment.note}


def pictures(experiment: Experiment) -> tuple[Picture, ...]:
    """The pictures of an experiment."""
    return experiment.picture if isinstance(experiment.picture, tuple) else (experiment.picture,)


def file_name(experiment: Experiment, number: int) -> str:
    """The name of the file of a picture."""
    return f"{experiment.paper}-{experiment.name}{f'-{number + 1}' if number else ''}.svg"


def _picture(experiment: Experiment, number: int, picture: Picture, rows: Rows) -> Record:
    if isinstance(picture, Table):
        heading, body = table_cells(picture, rows)
        return {"heading": heading, "body": body}
    return {"file": file_name(experiment, number), "caption": _caption(picture)}


def _caption(picture: Picture) -> str:
    """What the marks of a picture mean, where they do not say it."""
    if isinstance(picture, Heat):
        return "All panels have the same colours." if picture.panels else ""
    if not isinstance(picture, Lines):
        return "One mark per run."
    lines = "Medians" if picture.median else "Means"
    bands = "the 10% to 90% quantiles" if picture.band else "one standard error"
    return f"{lines} over the runs; bands: {bands}."


def read(path: Path = SHIPPED) -> Record:
    """Read a record."""
    found: Record = json.loads(path.read_text("utf-8"))
    return found


def shipped() -> dict[tuple[str, str], str]:
    """The verdicts of the last published run, by experiment and claim; none in a checkout without them."""
    found = read()["experiments"] if SHIPPED.exists() else []
    return {(each["id"], claim["text"]): claim["kind"] for each in found for claim in each["claims"]}


def text_of(found: Record) -> str:
    """The record as text; the same record gives the same text."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def counts(experiments: Iterable[Record]) -> dict[str, int]:
    """The number of verdicts of each kind."""
    found = Counter(claim["kind"] for each in experiments for claim in each["claims"])
    return {kind: found[kind] for kind in VERDICTS}


def in_words(experiments: Sequence[Record]) -> str:
    """A line such as "4 of 5 claims hold, 1 printed slip"."""
    found = counts(experiments)
    many, good = sum(found.values()), found.pop(HOLDS)
    if found[NOT_RUN] == many:
        return NOT_RUN
    first = f"{good} of {many} claims hold" if many > 1 else f"The claim {'holds' if good else 'does not hold'}"
    words = {IN_PART: "in part", SLIP: "printed slip"}
    others = [
        f"{number} {words.get(kind, kind)}{'s' if kind == SLIP and number > 1 else ''}"
        for kind, number in found.items()
        if number
    ]
    return ", ".join([first, *others]) if many > 1 else f"{first}{''.join(f': {each[2:]}' for each in others)}"


def overview(found: Record) -> str:
    """The table of verdicts by paper, in Markdown."""
    kinds = [kind for kind in VERDICTS if kind != NOT_RUN]
    lines = [f"| paper | claims | {' | '.join(kinds)} |", "|---" * (2 + len(kinds)) + "|"]
    for paper in PAPERS:
        tally = counts(each for each in found["experiments"] if each["paper"] == paper.name)
        numbers = " | ".join(str(tally[kind]) for kind in kinds)
        lines.append(f"| [`{paper.name}`]({paper.url}) | {sum(tally.values())} | {numbers} |")
    return "\n".join(lines) + "\n"


def papers_table() -> str:
    """The table of papers, in Markdown."""
    lines = ["| name | paper |", "|---|---|"]
    lines += [f"| `{each.name}` | {each.authors} [{each.title}]({each.url}) |" for each in PAPERS]
    return "\n".join(lines) + "\n"
