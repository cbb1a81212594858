"""The command that asks noisy counts: any question of the table, of one release or of those of many parties."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.errors import STANDARD, CommandError, about
from deniable.cli.options import Columns, Json, Level, check_inputs
from deniable.core.defaults import LEVEL

if TYPE_CHECKING:
    from deniable.cli.io.counts import Published
    from deniable.counts.answer import Answer
    from deniable.counts.ask import Parameter, Question

_LARGEST_PROFILE = 1000


def _list(wanted: bool) -> None:
    if wanted:
        from deniable.cli.io.answers import show_questions

        show_questions()
        raise typer.Exit


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Such as entropy or median: see --list.")],
    sources: Annotated[
        list[str],
        typer.Argument(metavar="NOISY", help="Releases: one, or those of many parties; - is standard input."),
    ],
    _listed: Annotated[
        bool, typer.Option("--list", callback=_list, is_eager=True, help="List all questions and exit.")
    ] = False,
    power: Annotated[int | None, typer.Option(help="Of moment.")] = None,
    at: Annotated[int | None, typer.Option(help="Of threshold: the least count that is counted.")] = None,
    most: Annotated[int | None, typer.Option(help="Of profile: the largest count to ask for.")] = None,
    fraction: Annotated[bool | None, typer.Option("--fraction", help="Of profile: shares, not numbers.")] = None,
    share: Annotated[float | None, typer.Option(help="Of quantile: the share of counts below it.")] = None,
    k: Annotated[int | None, typer.Option(help="Of order-statistic: the k-th smallest. Of stars: edges.")] = None,
    total: Annotated[
        int | None, typer.Option(help="Of entropy, divergence, simpson, gini: the sum of true counts, if public.")
    ] = None,
    base: Annotated[float | None, typer.Option(help="Of entropy: the base of the logarithm.")] = None,
    other: Annotated[str | None, typer.Option(metavar="NOISY", help="Of divergence, ratio: another release.")] = None,
    other_total: Annotated[int | None, typer.Option(help="Of divergence: the sum of the other true counts.")] = None,
    replacement: Annotated[
        bool | None,
        typer.Option("--replacement/--no-replacement", help="Of simpson, gini: whether draws are put back."),
    ] = None,
    values: Annotated[str | None, typer.Option(metavar="1,2,..|FILE", help="Of mean: the value of each count.")] = None,
    beta: Annotated[float | None, typer.Option(help="Of partition: the rate.")] = None,
    edges: Annotated[int | None, typer.Option(help="Of triangles: the number of edges, which is public.")] = None,
    coefficients: Annotated[
        str | None, typer.Option(metavar="1,2,..|FILE", help="Of degree-polynomial: from the constant on.")
    ] = None,
    tree: Annotated[str | None, typer.Option(metavar="JSON|FILE", help="Of tree: nested objects.")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="JSON|FILE", help="Of tree: the names of the counts, if the file has none.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Of noisy counts in a file that does not say it.")] = None,
    sensitivity: Annotated[int | None, typer.Option(help="The same; 1 by default.")] = None,
    column: Columns = None,
    best: Annotated[
        str, typer.Option(metavar="unbiased|auto|naive|shrunk", help="auto: the least estimated error, biased or not.")
    ] = "unbiased",
    combine: Annotated[
        str | None,
        typer.Option(
            metavar="sum|mean", help="Of many parties' answers; for questions that do not add up by themselves."
        ),
    ] = None,
    level: Level = LEVEL,
    as_json: Json = False,
) -> None:
    """Answer a question about noisy counts, without bias.

    As many questions as you like cost no more privacy than the release did.
    Of several files, the answers are added where the question adds up.

    \b
    Examples:
      deniable ask --list
      deniable ask median noisy.csv
      deniable ask entropy noisy.csv --total 490 --json
      deniable ask threshold clinic-*.csv --at 20
    """
    from deniable.cli.io.answers import Found
    from deniable.cli.io.counts import read_release
    from deniable.cli.terminal import progress
    from deniable.counts.ask import question as find

    asked = find(question)
    given = {
        "power": power,
        "at": at,
        "most": most,
        "fraction": fraction,
        "share": share,
        "k": k,
        "total": total,
        "base": base,
        "other": other,
        "other_total": other_total,
        "replacement": replacement,
        "values": values,
        "beta": beta,
        "edges": edges,
        "coefficients": coefficients,
        "tree": tree,
        "columns": columns,
    }
    _check(asked, given, sources)
    check_inputs([*sources, *([other] if other is not None else [])])
    read = {name: _read(_parameter(asked, name), text) for name, text in given.items() if text is not None}
    if other is not None:
        read["other"] = read_release(other, column or [], epsilon, sensitivity).release
    published = [read_release(name, column or [], epsilon, sensitivity) for name in sources]
    with warnings.catch_warnings(record=True) as caught, progress() as bar:
        warnings.simplefilter("always")
        bar.add_task("answering", total=None)
        answer = _answer(asked, published, read, best, combine)
        answer.interval(level)  # refuses a wrong level before anything is printed
        found = Found(answer, published, level, [str(warning.message) for warning in caught], bool(asked.parties))
    if as_json:
        typer.echo(found.document())
    else:
        found.show()


def _check(asked: Question, given: dict[str, Any], sources: list[str]) -> None:
    """Refuse options of other questions, missing ones, and releases that would be counted twice."""
    own = [parameter.name for parameter in asked.parameters]
    for name, value in given.items():
        if value is not None and name not in own:
            listed = ", ".join(map(_option, own)) or "none"
            raise CommandError(f"{_option(name)} is no parameter of {asked.name}, which has {listed}")
    for parameter in asked.parameters:
        if parameter.required and given[parameter.name] is None:
            raise CommandError(f"{asked.name} needs {_option(parameter.name)}: {parameter.help}")
    several = [*sources, *([given["other"]] if given["other"] is not None else [])]
    places = [os.path.realpath(name) for name in several if name != STANDARD]
    for place, name in zip(places, [name for name in several if name != STANDARD], strict=True):
        if places.count(place) > 1:
            raise CommandError(f"{name}: is given twice, but the noise of two releases must be independent")
    if len(sources) > 1 and given["other"] is not None:
        raise CommandError(f"{asked.name} with --other takes one file: several would share its noise")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _parameter(asked: Question, name: str) -> Parameter:
    return next(parameter for parameter in asked.parameters if parameter.name == name)


def _read(parameter: Parameter, given: Any) -> Any:
    """What an option stands for: numbers and JSON may be in files."""
    import json

    if parameter.kind == "json":
        name, text = (_option(parameter.name), given) if given.lstrip()[:1] in tuple("{[") else (given, _file(given))
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{name}: is not JSON: {error}") from None
    if parameter.kind == "numbers":
        inline = not Path(given).is_file()
        words = given.split(",") if inline else _file(given).split()
        try:
            return [float(word) for word in words]
        except ValueError:
            where = _option(parameter.name) if inline else given
            raise CommandError(
                f"{where}: must be numbers with commas between them, or a file with one a line"
            ) from None
    return given


def _file(name: str) -> str:
    with about(name):
        return Path(name).read_bytes().decode("utf-8-sig")


def _answer(
    asked: Question, published: list[Published], given: dict[str, Any], best: str, combine: str | None
) -> Answer:
    """The answer of one release, or the answers of many parties together."""
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
            f"{asked.name} does not add up over parties: ask each file by itself, or for the mean of the parties' "
            "answers with --combine mean"
        )
    if asked.name == "profile" and "most" not in given:
        largest = max(int(each.release.values.max()) for each in published)
        given = {**given, "most": min(max(largest, 0), _LARGEST_PROFILE)}
    choice(("sum", "mean"), **{"--combine": how})
    answers = [asked.function(each.release, **_with_names(asked, each, given)) for each in published]
    # a mean over all counts: parties with more of them weigh more
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
    """For a tree, the names of the counts: of the columns of a matrix, or the labels of a vector."""
    if asked.name != "tree" or "columns" in given:
        return given
    if len(published.columns) > 1:
        return {**given, "columns": list(published.columns)}
    if published.labels.num_columns == 1:
        return {**given, "columns": [str(cell) for cell in published.labels.column(0).to_pylist()]}
    return given
