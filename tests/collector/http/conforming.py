"""Answers held against the OpenAPI document: their status, their type, and the schema of their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema

from deniable.collector.http.openapi import described
from deniable.collector.http.routing import Routes
from deniable.wire.refusals import Refused

JSON = "application/json"
_BODILESS = (204, 304)
_ROUTES = Routes()


def check(method: str, path: str, status: int, headers: Mapping[str, str], document: Any) -> None:
    """Fail where an answer is not what the document says; `document` is the JSON of an answer of this type."""
    try:
        template = _ROUTES.template(path)
    except Refused:
        template = "/health"  # what is answered elsewhere is a refusal, and these are the same everywhere
    method = "GET" if method == "HEAD" else method
    operations = described()["paths"][template]
    operation = operations.get(method.lower())
    if operation is None:
        assert status >= 400 or method == "OPTIONS", (method, path, status)
        return
    found = operation["responses"]
    assert str(status) in found, f"{method} {template} answered {status}, of which the document says nothing"
    kind = headers.get("content-type", "").partition(";")[0]
    if status in _BODILESS:
        assert "content" not in found[str(status)]
        return
    assert kind in found[str(status)]["content"], f"{method} {template} answered {kind}"
    if kind == JSON:
        _validator(method, template, status).validate(document)


@cache
def _validator(method: str, template: str, status: int) -> jsonschema.Draft202012Validator:
    document = described()
    schema = document["paths"][template][method.lower()]["responses"][str(status)]["content"][JSON]["schema"]
    return jsonschema.Draft202012Validator({**schema, "components": document["components"]})
