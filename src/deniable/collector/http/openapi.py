"""The OpenAPI document: the table of routes in another form."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from deniable._version import __version__
from deniable.collector.http.shapes import Failure
from deniable.collector.http.table import ANYBODY, JSON, ROUTES, Parameter, Route
from deniable.wire.keys import WRITE
from deniable.wire.refusals import REASONS

_REFERENCE = "#/components/schemas/{name}"
_BYTES: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


@cache
def described() -> dict[str, Any]:
    """The document."""
    types = [kind for route in ROUTES for kind in (route.body, route.answer, route.or_else) if kind is not None]
    schemas, components = msgspec.json.schema_components([*types, Failure], ref_template=_REFERENCE)
    named = dict(zip([*map(_name, types), _name(Failure)], schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, named)
    return {
        "openapi": "3.1.0",
        "info": {"title": "deniable collector", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _name(kind: Any) -> str:
    return repr(kind)


def _operation(route: Route, named: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": route.does,
        "operationId": route.handler,
        "parameters": [*_path_parameters(route), *map(_parameter, (each for each in route.query if not each.many))],
        "responses": _responses(route, named),
    }
    if route.role != ANYBODY:
        found["security"] = [{"key": []}, *([{}] if route.role == WRITE and route.body is not None else [])]
        found["x-role"] = route.role
    if many := [f"{each.name}.NAME: {each.what}" for each in route.query if each.many]:
        found["description"] = "Further parameters: " + "; ".join(many)
    content: dict[str, Any] = dict.fromkeys(route.takes, _BYTES)
    if route.body is not None:
        content[JSON] = {"schema": named[_name(route.body)]}
    if content:
        found["requestBody"] = {"required": True, "content": content}
    return found


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.needed,
        "description": parameter.what,
        "schema": msgspec.json.schema(parameter.kind),
    }


def _responses(route: Route, named: dict[str, Any]) -> dict[str, Any]:
    content = {kind: _BYTES for kind in route.gives if kind != JSON}
    answers = [named[_name(kind)] for kind in (route.answer, route.or_else) if kind is not None]
    if answers:
        content[JSON] = {"schema": answers[0] if len(answers) == 1 else {"anyOf": answers}}
    failure = {"description": "Refused", "content": {JSON: {"schema": named[_name(Failure)]}}}
    statuses = sorted({reason.status for reason in REASONS.values()})
    found: dict[str, Any] = {str(route.status): {"description": "Done", "content": content}}
    if route.kept:
        found["304"] = {"description": "The client has it already"}
    return found | {str(status): failure for status in statuses}
