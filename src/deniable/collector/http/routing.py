"""Paths and the rows of the table that they stand for."""

from __future__ import annotations

from starlette.routing import compile_path

from deniable.collector.http.table import ROUTES, Route
from deniable.wire.refusals import Refused

_LONGEST_PATH = 500


class Routes:
    """Finds the row of a request; two rows may share a path."""

    def __init__(self, table: tuple[Route, ...] = ROUTES) -> None:
        self.table = table
        paths = dict.fromkeys(route.path for route in table)
        self._patterns = [(path, compile_path(path)[0]) for path in paths]
        self._rows = {(route.method, route.path): route for route in table}

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The row, and the parameters of the path."""
        template, parameters = self._match(path)
        route = self._rows.get(("GET" if method == "HEAD" else method, template))
        if route is None:
            raise Refused("wrong-method", f"this address takes {', '.join(self.methods(path))}")
        return route, parameters

    def methods(self, path: str) -> list[str]:
        """The methods that a path takes."""
        template = self._match(path)[0]
        return [method for method, own in self._rows if own == template]

    def template(self, path: str) -> str:
        """The path of the row, with the names of its parameters."""
        return self._match(path)[0]

    def name(self, path: str) -> str | None:
        """The collection that a path names."""
        return self._match(path)[1].get("name")

    def _match(self, path: str) -> tuple[str, dict[str, str]]:
        if len(path) <= _LONGEST_PATH:
            for template, pattern in self._patterns:
                found = pattern.match(path)
                if found is not None:
                    return template, found.groupdict()
        raise Refused("not-found")
