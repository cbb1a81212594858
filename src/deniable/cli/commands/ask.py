"""`deniable ask`: a question about noisy counts, from one release or from those of many parties."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import Columns, Json, Level, check_inputs
from deniable.cli.questions import command_of, read_value
from deniable.cli.running import STANDARD, CommandError, new_app
from deniable.cli.streams import echo_json
from deniable.core.defaults import LEVEL
from deniable.counts.catalogue import NOISE, QUESTIONS, Question

if TYPE_CHECKING:
    from deniable.cli.io.counts import Published
    from deniable.counts.answer import Answer

_LARGEST_PROFILE = 1000


_ABOUT = """Answer a question about noisy counts, without bias.

Each question is a command with options of its own. Questions cost no privacy
beyond that of the release, however many you ask. The answers from several files
are added, if the question allows it.

\b
Examples:
  deniable ask --list
  deniable ask median noisy.csv
  deniable ask entropy noisy.csv --total 490 --json
  deniable ask threshold clinic-*.csv --at 20
"""

app = new_app(help=_ABOUT, subcommand_metavar="QUESTION NOISY...")


def _list(wanted: bool) -> None:
    if wanted:
        from deniable.cli.io.answers import show_questions

        show_questions()
        raise typer.Exit


@app.callback()
def _questions(
    _listed: Annotated[
        bool, typer.Option("--list", callback=_list, is_eager=True, help="List all questions and exit.")
    ] = False,
) -> None:
    pass


def ask(
    asked: Question,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="NOISY", help="One release, or those of many parties; - is standard input."),
    ],
    column: Columns = None,
    best: Annotated[
        str,
        typer.Option(metavar="unbiased|auto|naive|shrunk", help="auto: the smallest estimated error, biased or not."),
    ] = "unbiased",
    combine: Annotated[
        str | None,
        typer.Option(metavar="sum|mean", help="How to combine the parties' answers, if the question does not add up."),
    ] = None,
    level: Level = LEVEL,
    as_json: Json = False,
    **parameters: Any,
) -> None:
    """Answer one question, whose parameters are given by name."""
    from deniable.cli.io.answers import Found
    from deniable.cli.io.counts import read_release
    from deniable.cli.terminal import progress

    noise = [parameters.pop(each.name) for each in NOISE]
    given = {name: value for name, value in parameters.items() if value is not None}
    _check_independent(asked, given, sources)
    several = [*sources, *_other(given)]
    check_inputs(several)
    read = {each.name: read_value(each, given[each.name]) for each in asked.parameters if each.name in given}
    published = [read_release(name, column or [], *noise) for name in several]
    if "other" in given:
        read["other"] = published.pop().release
    with warnings.catch_warnings(record=True) as caught, progress() as bar:
        warnings.simplefilter("always")
        bar.add_task("answering", total=None)
        answer = _answer(asked, published, read, best, combine)
        answer.interval(level)  # refuses a wrong level before anything is printed
        found = Found(answer, published, level, [str(warning.message) for warning in caught], bool(asked.parties))
    if as_json:
        echo_json(found.document())
    else:
        found.show()


def _check_independent(asked: Question, given: dict[str, Any], sources: list[str]) -> None:
    """Refuse releases that would be counted twice."""
    files = [name for name in [*sources, *_other(given)] if name != STANDARD]
    places = [os.path.realpath(name) for name in files]
    for place, name in zip(places, files, strict=True):
        if places.count(place) > 1:
            raise CommandError(f"{name}: the file is given twice, but the noise of two releases must be independent")
    if len(sources) > 1 and "other" in given:
        raise CommandError(f"{asked.name} with --other takes one file, because several would share its noise")


def _other(given: dict[str, Any]) -> list[str]:
    """The release that is the second input of a question, if it has one."""
    return [given["other"]] if "other" in given else []


def _answer(
    asked: Question, published: list[Published], given: dict[str, Any], best: str, combine: str | None
) -> Answer:
    """The answer from one release, or the combined answer from many parties."""
    from inspect import signature

    from deniable.core.errors import InvalidArgument
    from deniable.core.validate import choice
    from deniable.counts.combination import combine as together

    if len(published) == 1:
        options = {"best": best} if best != "unbiased" else {}
        if options and "best" not in signature(asked.function).parameters:
            raise InvalidArgument("--best", f"be unbiased for {asked.name}", best)
        return asked.function(published[0].release, **_with_names(asked, published[0], given), **options)
    how = combine or ("mean" if given.get("fraction") else asked.parties)
    if not how:
        raise CommandError(
            f"{asked.name} does not add up over parties. Ask about each file by itself, or for the mean of the "
            "answers with --combine mean."
        )
    if asked.name == "profile" and "most" not in given:
        largest = max(int(each.release.values.max()) for each in published)
        given = {**given, "most": min(max(largest, 0), _LARGEST_PROFILE)}
    choice(("sum", "mean"), **{"--combine": how})
    answers = [asked.function(each.release, **_with_names(asked, each, given)) for each in published]
    # a mean over all counts: parties with more counts weigh more
    sizes = [each.release.size for each in published]
    weights = [size / sum(sizes) for size in sizes] if combine is None and how == "mean" else None
    title = f"{answers[0].question}, {len(published)} parties together"
    if combine is not None:
        title = f"{how} over {len(published)} parties: {answers[0].question}"
    try:
        return together(answers, how="sum" if weights else how, weights=weights, question=title, best=best)
    except InvalidArgument as error:
        raise (
            InvalidArgument("--best", f"be unbiased for {asked.name}", best) if best != "unbiased" else error
        ) from None


def _with_names(asked: Question, published: Published, given: dict[str, Any]) -> dict[str, Any]:
    """Add the names of the counts that a tree needs: the columns of a matrix, or the labels of a vector."""
    if asked.name != "tree" or "columns" in given:
        return given
    if len(published.columns) > 1:
        return {**given, "columns": list(published.columns)}
    if published.labels.num_columns == 1:
        return {**given, "columns": [str(cell) for cell in published.labels.column(0).to_pylist()]}
    return given


for _question in QUESTIONS:
    app.command(_question.name)(command_of(_question, ask))
