"""Options that several commands share, worded once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.running import STANDARD, CommandError, about
from deniable.cli.shares import share

if TYPE_CHECKING:
    from deniable.mechanisms.base.mechanism import Mechanism

TABLES = (".csv", ".parquet", ".json")

SpecFile = Annotated[Path, typer.Option("--spec", metavar="FILE", help="The spec that the reports are made under.")]
FoundSpec = Annotated[
    Path | None,
    typer.Option(
        "--spec",
        metavar="FILE",
        help="The spec of the reports; by default the .json file in their folder that has their fingerprint.",
    ),
]
Collected = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Reports (Parquet, folders of it, or CSV) and summaries, in any mix; - is standard input.",
    ),
]
AllowRepeats = Annotated[
    bool,
    typer.Option("--allow-repeats", help="Count inputs that seem to hold the same reports, or a total and its parts."),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads that count Parquet files; by default one per core.")]
SkipMalformed = Annotated[
    bool,
    typer.Option("--skip-malformed", help="Leave out malformed rows of Parquet files, and say how many there were."),
]
By = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMNS",
        help="Make one summary for each group: columns of the files or folders, with commas. Keys of folders are "
        "text, or what day:date,version:int says.",
    ),
]
Level = Annotated[
    float, typer.Option(parser=share, metavar="SHARE", help="Confidence level of the intervals, such as 95%.")
]
Target = Annotated[
    str,
    typer.Option(
        help="What errors refer to: the users who reported, or the population from which they were drawn.",
        metavar="users|population",
    ),
]
Simultaneous = Annotated[bool, typer.Option("--simultaneous", help="Make the intervals hold for all values at once.")]
Together = Annotated[
    bool | None,
    typer.Option(
        "--simultaneous/--per-value",
        help="Intervals that hold for all values at once, or for each named beforehand; by default at once where the "
        "most frequent values are shown, and per value in a list of all.",
        show_default=False,
    ),
]
TableFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Also write all values: .csv, .parquet or .json."),
]
PictureFile = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Also draw the most frequent values: .png, .svg, .pdf or .html."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A column of counts, if there are several; may be given more than once."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the mechanism, such as w=5; may be given more than once. By default the best choice.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace reports that were made before, if they were never sent.")
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Make reports that can be repeated. For simulation only: a seed protects nobody."),
]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Quote a wrong value in the error message, which may end in a log.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def mechanism_names() -> list[str]:
    """List the mechanisms, for a shell to complete."""
    from deniable.mechanisms.catalogue import ALL

    return sorted({name for name, *_ in ALL})


def settings(given: list[str] | None, mechanism: str) -> dict[str, Any]:
    """Read `--set name=value` options, each a parameter of this mechanism; a value that is not JSON is text."""
    from deniable.mechanisms.registry import parameters_of

    known, found = parameters_of(mechanism), dict[str, Any]()
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"--set must have the form NAME=VALUE, got {text!r}")
        if name not in known:
            listed = ", ".join(known) or "no parameters"
            raise CommandError(f"--set {name}: {mechanism} has no such parameter. It takes {listed}.")
        if name in found:
            raise CommandError(f"--set {name}: the parameter is given twice")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def mechanism_of(path: Path) -> Mechanism:
    """Read a spec file and make its mechanism, deriving its thresholds again."""
    from deniable.core.limits import OWN
    from deniable.mechanisms.registry import from_spec

    with about(str(path)):
        return from_spec(path.read_bytes(), limits=OWN)


def spec_beside(sources: list[str]) -> Path:
    """Find the spec of the first input: the .json file in its folder with its fingerprint."""
    from deniable.cli.io.reports import fingerprint_of
    from deniable.core.errors import DeniableError
    from deniable.core.limits import OWN
    from deniable.core.spec import Spec

    if sources[0] == STANDARD:
        raise CommandError("--spec must be given with standard input")
    wanted, folder = fingerprint_of(sources[0]), Path(sources[0]).parent
    for path in sorted(folder.glob("*.json")):
        try:
            if Spec.from_json(path.read_bytes(), limits=OWN).fingerprint == wanted:
                return path
        except (DeniableError, OSError):
            continue  # some other kind of file
    raise CommandError(f"{sources[0]}: no spec in its folder has its fingerprint ({wanted[:12]}...). Give --spec.")


def check_outputs(table: Path | None, picture: Path | None) -> None:
    """Refuse names that do not say how an answer is to be written or drawn, before any work."""
    if picture is not None:
        from deniable.plots.estimates import check_suffix

        check_suffix(picture)
    if table is not None and table.suffix.lower() not in TABLES:
        raise CommandError(f"{table}: an estimate is written to {', '.join(TABLES)} files")


def check_new(output: Path, epsilon: float, overwrite: bool) -> None:
    """Refuse to replace a file of reports, because reports about the same people would be made twice."""
    if output.is_file() and not overwrite:
        raise CommandError(
            f"{output}: the file exists. A second set of reports from the same people spends epsilon {epsilon:g} "
            f"again, {2 * epsilon:g} in total. If the first was never sent, replace it with --overwrite."
        )


def check_inputs(inputs: list[str]) -> None:
    """Refuse to read standard input twice."""
    if inputs.count(STANDARD) > 1:
        raise CommandError("- (standard input) can be given only once")
