"""The options of `deniable ask`, made from the table of questions: names, types and help are written only there."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.cli.running import CommandError, about
from deniable.counts.catalogue import NOISE, QUESTIONS, Parameter

_TYPES: dict[str, Any] = {"whole": int, "number": float, "flag": bool}  # the other kinds are text
_METAVARS = {"numbers": "1,2,..|FILE", "json": "JSON|FILE", "release": "NOISY"}


def option_name(name: str) -> str:
    """The option that a parameter is given by."""
    return f"--{name.replace('_', '-')}"


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option per parameter of any question, in the place of its `**parameters`."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    arguments = [each for each in own if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    options = [each for each in own if each.default is not each.empty]
    shown = [*arguments, *_options(), *options]
    signature = inspect.Signature([each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in shown])
    command.__signature__ = signature  # type: ignore[attr-defined]  # typer reads it
    return command


def _options() -> Iterator[inspect.Parameter]:
    """One option per name; if several questions share it, its help says what it means for each."""
    meanings: dict[str, dict[str, list[str]]] = {}
    first: dict[str, Parameter] = {}
    for question in QUESTIONS:
        for parameter in question.parameters:
            first.setdefault(parameter.name, parameter)
            meanings.setdefault(parameter.name, {}).setdefault(parameter.help, []).append(question.name)
    for name, parameter in first.items():
        texts = [f"{', '.join(questions)}: {text}" for text, questions in meanings[name].items()]
        yield _option(parameter, f"For {'; for '.join(texts)}.")
    for parameter in NOISE:
        yield _option(parameter, f"{parameter.help[0].upper()}{parameter.help[1:]}.")


def _option(parameter: Parameter, text: str) -> inspect.Parameter:
    name = option_name(parameter.name)
    declared = f"{name}/--no-{name[2:]}" if parameter.on else name
    option = typer.Option(declared, metavar=_METAVARS.get(parameter.kind), help=text)
    kind = _TYPES.get(parameter.kind, str) | None
    return inspect.Parameter(
        parameter.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
    )


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
