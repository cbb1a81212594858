"""How the demo shows its results: tables on the terminal, pictures, and files to continue with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from deniable.cli.commands.demo.results import Collection, World
from deniable.cli.commands.demo.story import LABELS, QUESTION
from deniable.cli.io.files import replacing, writing
from deniable.cli.terminal import table
from deniable.core.defaults import LEVEL
from deniable.plots.estimates import Panel, comparison_page, draw_comparison

if TYPE_CHECKING:
    from rich.table import Table

PICTURED = "mle"
_TOP, _RARE = 12, 3


def privacy_table(collections: Sequence[Collection]) -> Table:
    """What each epsilon means for one person, computed from the integers of the mechanism."""
    made = table(
        "Privacy and cost",
        *("epsilon", "mechanism", "largest ratio", "slack", "report", "best guess right", "blind", "made in"),
        left=2,
    )
    for collection in collections:
        asked = collection.mechanism
        guarantee = asked.guarantee()
        made.add_row(
            f"{asked.epsilon:g}",
            asked.name,
            f"{float(guarantee.ratio):.6f}",
            f"{guarantee.slack:.1e}",
            f"{asked.report_bits} bits",
            f"{float(asked.reconstruction_rate()):.1%}",
            f"{1 / asked.k:.1%}",
            f"{collection.seconds:.2f} s",
        )
    return made


def values_table(world: World, collection: Collection) -> Table:
    """The most frequent labels, and some that nobody has, by each method."""
    order = world.by_share()
    places = [*order[:_TOP], *order[-_RARE:]]
    title = f"Truth and estimates at epsilon {collection.epsilon:g}, in % (interval: {LEVEL:.0%}, of {PICTURED})"
    made = table(title, "error message", "truth", *collection.answers, "interval")
    intervals = collection.answers[PICTURED].rows(places)
    for position, (place, interval) in enumerate(zip(places, intervals, strict=True)):
        found = [f"{100 * answer.estimate.frequencies[place]:.2f}" for answer in collection.answers.values()]
        span = f"{100 * interval.low:.2f} .. {100 * interval.high:.2f}"
        made.add_row(LABELS[place], f"{100 * world.truth[place]:.2f}", *found, span, end_section=position == _TOP - 1)
    return made


def errors_table(collections: Sequence[Collection]) -> Table:
    """How far each method is from the truth at every epsilon."""
    headings = ("MSE", "L1", "largest error", f"truth in {LEVEL:.0%} interval", "time")
    made = table("Errors over all labels", "epsilon", "method", *headings, left=2)
    for collection in collections:
        last = list(collection.answers)[-1]
        for method, answer in collection.answers.items():
            errors = np.abs(answer.errors)
            made.add_row(
                f"{collection.epsilon:g}",
                method,
                f"{np.mean(errors**2):.2e}",
                f"{errors.sum():.4f}",
                f"{errors.max():.3%}",
                f"{answer.covered().sum()} of {len(errors)}",
                f"{1e3 * answer.seconds:.2f} ms",
                end_section=method == last,
            )
    return made


def write_files(folder: Path, world: World, collections: Sequence[Collection]) -> list[Path]:
    """All numbers as CSV, and the spec and summary of each epsilon; returns their paths."""
    numbers = folder / "numbers.csv"
    with writing(numbers) as file:
        pyarrow.csv.write_csv(pa.Table.from_pylist(_entries(world, collections)), file)
    contents = {}
    for collection in collections:
        contents[folder / f"{collection.name}.spec.json"] = f"{collection.mechanism.spec.to_json()}\n".encode()
        contents[folder / f"{collection.name}.summary"] = collection.summary.to_bytes()
    for path, content in contents.items():
        with writing(path) as file:
            file.write(content)
    return [numbers, *contents]


def draw(folder: Path, world: World, collections: Sequence[Collection]) -> list[Path]:
    """The picture and the page; returns their paths."""
    order = world.by_share()
    n = collections[0].summary.n
    panels = [
        Panel(f"epsilon {each.epsilon:g}", world.truth[order].tolist(), each.answers[PICTURED].rows(order))
        for each in collections
    ]
    title = f"{QUESTION}\nTruth, and {PICTURED} estimate with {LEVEL:.0%} intervals, from {n:,} simulated users"
    picture, page = folder / "estimates.png", folder / "estimates.html"
    with replacing(picture) as partial:
        draw_comparison(panels, partial, title=title)
    with replacing(page) as partial:
        heading = [f"{LEVEL:.0%} intervals, from {n:,} simulated users. Choose epsilon and method below."]
        comparison_page(_entries(world, collections), partial, title=QUESTION, subtitle=heading)
    return [picture, page]


def _entries(world: World, collections: Sequence[Collection]) -> list[dict[str, Any]]:
    """Every number, one entry per epsilon, method and label."""
    order = world.by_share()
    return [
        {
            "epsilon": collection.epsilon,
            "method": method,
            "label": str(row.label),
            "truth": float(world.truth[place]),
            **{name: number for name, number in row._asdict().items() if name != "label"},
            "covered": bool(covered),
        }
        for collection in collections
        for method, answer in collection.answers.items()
        for place, row, covered in zip(order, answer.rows(order), answer.covered()[order], strict=True)
    ]
