"""The tables of docs/collector-api.md: routes, settings and reasons, from the code that has them."""

from __future__ import annotations

import msgspec

from deniable.collector.http.table import ROUTES, Parameter, Route
from deniable.collector.service.settings import Settings
from deniable.wire import frames as wire_frames
from deniable.wire.refusals import REASONS


def routes() -> str:
    """Every route with who may use it."""
    lines = ["| request | key | what it does |", "|---|---|---|"]
    lines += [f"| `{_address(each)}` | {each.role} | {each.does} |" for each in ROUTES]
    return "\n".join([*lines, ""])


def _address(route: Route) -> str:
    query = "&".join(_parameter(each) for each in route.query)
    return f"{route.method} {route.path}{'?' if query else ''}{query}"


def _parameter(parameter: Parameter) -> str:
    return f"{parameter.name}.NAME" if parameter.many else parameter.name


def frames() -> str:
    """The layout of frames, as its module states it."""
    return f"```text\n{(wire_frames.__doc__ or '').strip()}\n```\n"


def settings() -> str:
    """Every setting with its default, and what it says."""
    lines = ["| setting | default | |", "|---|---|---|"]
    described = msgspec.json.schema_components([Settings])[1]["Settings"]["properties"]
    for name, value in msgspec.to_builtins(Settings()).items():
        what = described[name].get("description", "")
        lines.append(f"| `{name}` | `{msgspec.json.encode(value).decode()}` | {what} |")
    return "\n".join([*lines, ""])


def reasons() -> str:
    """Every reason with its status, and whether the same bytes may be accepted later."""
    lines = ["| kind | status | meaning | again? |", "|---|---|---|---|"]
    for name, reason in REASONS.items():
        lines.append(f"| `{name}` | {reason.status} | {reason.meaning} | {'yes' if reason.again else 'no'} |")
    return "\n".join([*lines, ""])
