"""The commands of `deniable ask`, made from the table of questions: names, types and help are written only there."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.cli.running import CommandError, about
from deniable.cli.shares import share
from deniable.counts.catalogue import NOISE, Parameter, Question

_TYPES: dict[str, Any] = {"whole": int, "number": float, "share": float, "flag": bool}  # the other kinds are text
_METAVARS = {"numbers": "1,2,..|FILE", "json": "JSON|FILE", "release": "NOISY", "share": "SHARE"}
_EXAMPLES = {"whole": "2", "number": "0.5", "numbers": "1,2,3", "json": "tree.json", "release": "other.csv"}


def option_name(name: str) -> str:
    """The option that a parameter is given by."""
    return f"--{name.replace('_', '-')}"


def command_of(question: Question, answer: Callable[..., None]) -> Callable[..., None]:
    """Make the command of one question: it calls `answer` with the question, and has its parameters as options.

    They take the place of the `**parameters` of `answer`.
    """
    own = list(inspect.signature(answer, eval_str=True).parameters.values())[1:]
    arguments = [each for each in own if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    options = [each for each in own if each.default is not each.empty]
    shown = [*arguments, *map(_option, [*question.parameters, *NOISE]), *options]

    def command(**given: Any) -> None:
        answer(question, **given)

    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in shown]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]  # typer reads it
    command.__doc__ = f"{_sentence(question.help)}\n\n\b\nExamples:\n  " + "\n  ".join(_examples(question))
    return command


def _examples(question: Question) -> Iterator[str]:
    given = "".join(
        f" {option_name(each.name)} {_EXAMPLES[each.kind]}" for each in question.parameters if each.required
    )
    line = f"deniable ask {question.name}"
    yield f"{line} noisy.csv{given}"
    if question.parties:
        yield f"{line} clinic-*.csv{given} --json"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _option(parameter: Parameter) -> inspect.Parameter:
    name = option_name(parameter.name)
    declared = f"{name}/--no-{name[2:]}" if parameter.on else name
    reader: dict[str, Any] = {"parser": share} if parameter.kind == "share" else {}
    option = typer.Option(declared, metavar=_METAVARS.get(parameter.kind), help=_sentence(parameter.help), **reader)
    kind = _TYPES.get(parameter.kind, str)
    annotation: Any = Annotated[kind, option] if parameter.required else Annotated[kind | None, option]
    default = inspect.Parameter.empty if parameter.required else None
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def read_value(parameter: Parameter, given: Any) -> Any:
    """Turn an option into what the question takes: numbers and JSON may be in files."""
    if parameter.kind == "json":
        inline = given.lstrip()[:1] in tuple("{[")
        name, text = (option_name(parameter.name), given) if inline else (given, _contents(given))
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{name}: this is not JSON: {error}") from None
    if parameter.kind == "numbers":
        inline = not Path(given).is_file()
        words = given.split(",") if inline else _contents(given).split()
        try:
            return [float(word) for word in words]
        except ValueError:
            where = option_name(parameter.name) if inline else given
            raise CommandError(
                f"{where}: this is not a list of numbers. Separate them by commas, or give a file with one per line."
            ) from None
    return given


def _contents(name: str) -> str:
    with about(name):
        return Path(name).read_bytes().decode("utf-8-sig")
