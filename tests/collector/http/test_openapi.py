"""The OpenAPI document is that of the table, and requests made from it are answered as it says, without a fault."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from deniable.collector.http.table import ROUTES
from tests.collector.http.running import Running

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis

from deniable.collector.http.openapi import described
from tests.running.figures import Record

SCHEMA = schemathesis.openapi.from_dict(described())
EXAMPLES, MANY = 6, 300


@pytest.fixture(scope="module")
def any_collector() -> Iterator[Running]:
    """A collector that many requests share."""
    made = Running()
    made.make()
    made.make("other")
    yield made
    made.close()


def test_the_document_has_every_route_with_its_body_and_answer() -> None:
    document = described()
    found = {(method.upper(), path) for path, own in document["paths"].items() for method in own}
    assert found == {(route.method, route.path) for route in ROUTES}
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        assert ("security" in operation) == (route.role != "anybody"), route.key
        assert ("requestBody" in operation) == (route.body is not None or bool(route.takes)), route.key
        named = {each["name"] for each in operation["parameters"]}
        assert {each.name for each in route.query if not each.many} <= named


def meets_no_fault(case: Any, any_collector: Running) -> None:
    """Send a request; `Running.ask` holds its answer against the document."""
    path = case.formatted_path
    if any_collector.service.outcomes.requests % 2 and "{name}" in case.path:
        path = case.path.replace("{name}", "themes").replace("{id}", "00" * 16)
    query = "&".join(f"{name}={value}" for name, value in (case.query or {}).items())
    body = case.body if isinstance(case.body, (bytes, dict, list, str, int, float, type(None))) else None
    before = any_collector.service.outcomes.requests
    answer = any_collector.ask(
        case.method, f"{path}?{query}".encode("ascii", "replace").decode().rstrip("?"), body, any_collector.admin
    )
    assert answer.status < 500 or answer.kind == "stopping", answer
    assert answer.kind == "" or answer.status >= 400
    assert any_collector.service.outcomes.requests == before + 1
    assert any_collector.faults == []


@pytest.mark.filterwarnings("ignore:Skipped test cases with unsupported payload")  # Parquet
@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
def test_requests_made_from_the_document_meet_no_fault(case: Any, any_collector: Running) -> None:
    meets_no_fault(case, any_collector)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:Skipped test cases with unsupported payload")
@SCHEMA.parametrize()
@settings(max_examples=MANY, database=None, suppress_health_check=list(HealthCheck))
def test_many_requests_made_from_the_document_meet_no_fault(
    case: Any, any_collector: Running, request: pytest.FixtureRequest, record_property: Record
) -> None:
    meets_no_fault(case, any_collector)
    asked, label = any_collector.service.outcomes.requests, case.operation.label
    request.node.user_properties.clear()  # what the last of its requests says is enough
    record_property("figure", f"{asked:,} requests made from the OpenAPI document, up to {label}: no fault")
