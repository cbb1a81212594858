"""The ASGI application: finds the route, checks who asks, runs the handler, and counts every request once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from deniable.collector.http.handlers import Call, Handlers
from deniable.collector.http.hot import ACCEPTED, ACCEPTED_BODY, ACCEPTED_START, BATCHES, REPORTS, Door
from deniable.collector.http.incoming import UNREAD, Headers, Reader, Receive, Scope, read_body, read_query
from deniable.collector.http.logs import Log
from deniable.collector.http.metrics import Metrics
from deniable.collector.http.pages import Pages
from deniable.collector.http.reading import Reading
from deniable.collector.http.replies import (
    BROKEN,
    NOT_STORED,
    STRICT,
    Pairs,
    Reply,
    Send,
    preflight,
    refusal,
    send_reply,
    shared_with,
)
from deniable.collector.http.routing import Routes
from deniable.collector.http.short import ShortWay
from deniable.collector.http.table import ANYBODY, Route
from deniable.collector.http.threads import Threads, answered
from deniable.collector.service.directory import Desk, Holder
from deniable.collector.service.outcomes import OK
from deniable.collector.service.service import Service, allows, as_refusal
from deniable.collector.service.settings import MOST_BODY
from deniable.core.errors import DeniableError, SpecError
from deniable.wire.keys import ADMIN, WRITE
from deniable.wire.refusals import Refused

_BODY = 2**22  # bytes of a body of JSON
_AT_ONCE = ("health", "openapi", "page", "file")  # handlers that never wait
_SLOW = frozenset(("estimate", "trend", "difference", "candidates", "heavy_hitters", "published", "export",
                   "take_summaries", "preview"))  # fmt: skip
_DOORS = {"/v1/reports": REPORTS, "/v1/batches": BATCHES}
_ELSEWHERE = "other"  # the route of requests that have none
_BUSY_SECONDS = 1.0
_NO_HEADERS = Headers()


class Application:
    """A collector over HTTP."""

    def __init__(self, service: Service, log: Log | None = None, pages: Pages | None = None) -> None:
        self.service = service
        self.log = Log() if log is None else log
        self._reader = Reader()
        self._door = Door(service, self._reader)
        self.short_way = ShortWay(service, self)
        reading = Reading(service)
        self._handlers = Handlers(service, Pages() if pages is None else pages, Metrics(service, reading.cache))
        self._routes = Routes()
        self._calls: dict[str, Callable[[Call], Reply]] = {
            route.handler: getattr(reading, route.handler, None) or getattr(self._handlers, route.handler)
            for route in self._routes.table
            if route.key not in _DOORS.values()
        }
        self._answering = Threads("deniable-answers")
        self._prompt = Threads("deniable-prompt")  # so that neither devices nor administrators wait for answers
        self._watching = ThreadPoolExecutor(1, "deniable-ready")  # so that no question keeps a monitor waiting
        self._ready: asyncio.Future[Reply] | None = None

    def close(self) -> None:
        """End the threads that answer."""
        self._answering.close()
        self._prompt.close()
        self._watching.shutdown(cancel_futures=True)
        self._door.close()
        self.log.flush()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1000})
            return
        started = time.perf_counter()
        told: dict[str, Any] = {"desk": None, "route": _ELSEWHERE}
        headers, more = _NO_HEADERS, STRICT
        kind = OK
        try:
            headers = Headers(scope)
            path = scope["path"]
            if path in _DOORS and scope["method"] == "POST":
                told["route"] = _DOORS[path]
                take = self._door.report if path == "/v1/reports" else self._door.batch
                reply = await take(scope, receive, headers, told)
            else:
                reply = await self._other(scope, receive, headers, told)
            if reply is not ACCEPTED or headers.origin is not None:
                more = _around(told, headers)
        except (Exception, asyncio.CancelledError) as error:
            kind, reply = self.told(error, scope.get(UNREAD, False))
            more = self._around_refusal(told, headers)
        self._count(told, kind, reply.status, started)
        if reply is ACCEPTED and more is STRICT:
            await send(ACCEPTED_START)
            await send(ACCEPTED_BODY)
        else:
            await send_reply(send, reply, more)

    def unread(self, error: Exception, *, count: bool = True) -> Reply:
        """Refuse a request that could not be read, and count it, unless whoever reads its body does."""
        kind, reply = self.told(error)
        if count:
            self._count({"desk": None, "route": _ELSEWHERE}, kind, reply.status, time.perf_counter())
        return reply

    def slow(self) -> Reply:
        """What a client is told whose body did not arrive in time; the request is counted by whoever reads the body."""
        return refusal(Refused("slow"))

    def told(self, error: BaseException, unread: bool = False) -> tuple[str, Reply]:
        """The reason and the answer for whatever went wrong; this itself never fails."""
        try:
            stopping = Refused("stopping", retry_after=_BUSY_SECONDS)  # as the server does when it waits no longer
            why = self.refused(error if isinstance(error, Exception) else stopping)
            return why.kind, refusal(why, unread)
        except Exception as fault:
            self.log.fault(fault)
            return "broken", BROKEN

    def _around_refusal(self, told: dict[str, Any], headers: Headers) -> Pairs:
        try:
            return _around(told, headers)
        except Exception as fault:
            self.log.fault(fault)
            return STRICT

    def _count(self, told: dict[str, Any], kind: str, status: int, started: float) -> None:
        desk: Desk | None = told["desk"]
        hour = self.service.clock.hour()
        self.service.outcomes.add(told["route"], kind, hour, 0 if desk is None else desk.number)
        self.log.request(told["route"], status, kind, started)

    def refused(self, error: Exception) -> Refused:
        """What the client is told; an unexpected fault is logged, and told without its words."""
        known = as_refusal(error)
        if known is not None:
            return known
        if isinstance(error, SpecError):
            return Refused("bad-spec", str(error))
        if isinstance(error, DeniableError):
            return Refused("bad-argument", str(error))
        self.log.fault(error)
        return Refused("broken", retry_after=_BUSY_SECONDS)

    async def _other(self, scope: Scope, receive: Receive, headers: Headers, told: dict[str, Any]) -> Reply:
        if scope["method"] == "OPTIONS":
            return self._preflight(scope["path"], headers, told)
        route, path = self._routes.find(scope["method"], scope["path"])
        told["route"] = route.key
        holder, desk = self._admit(route, path, headers, told)
        if holder is not None and route.role != WRITE:  # what devices ask for is rated by the reports it is worth
            holder.allowance.take(0)
        query = read_query(route, scope["query_string"])
        body = None
        if route.body is not None or route.takes:
            most = MOST_BODY if route.takes else _BODY
            data = await self._reader.body(scope, receive, headers.length, most)
            body = read_body(route, headers.kind, data)
        call = Call(headers, path, query, body, holder, desk)
        handler = self._calls[route.handler]
        if route.handler in _AT_ONCE:
            reply = handler(call)
        else:
            threads = self._answering if route.handler in _SLOW else self._prompt
            reply = await (self._look(handler, call) if route.handler == "ready" else threads.run(handler, call))
        return reply if reply.status != 200 or route.status == 200 else reply._replace(status=route.status)

    def _look(self, handler: Callable[[Call], Reply], call: Call) -> Awaitable[Reply]:
        """Look whether all is well, once for all who ask meanwhile."""
        if self._ready is None or self._ready.done():
            self._ready = asyncio.get_running_loop().run_in_executor(self._watching, answered, handler, call)
        return asyncio.shield(self._ready)

    def _admit(
        self, route: Route, path: dict[str, str], headers: Headers, told: dict[str, Any]
    ) -> tuple[Holder | None, Desk | None]:
        """Who asks, and about which collection; everything is refused that the table does not allow."""
        directory, name = self.service.directory, path.get("name")
        if route.role == ANYBODY:
            desk = None if name is None else directory.desk(name)
            told["desk"] = desk
            if desk is not None:
                _check_origin(desk, headers)
            return None, desk
        key = headers.key
        if key is None:
            raise Refused("no-key")
        holder = directory.holder_of(key)
        told["desk"] = holder.desk
        if not holder.may(route.role, name):
            raise Refused("wrong-key")
        desk = holder.desk if name is None else directory.desk(name)
        told["desk"] = desk
        _check_origin(desk, headers)
        assert route.role != WRITE or (desk is not None and holder.role != ADMIN), "write keys have a collection"
        return holder, desk

    def _preflight(self, path: str, headers: Headers, told: dict[str, Any]) -> Reply:
        """What a browser may do. A report names its collection in its body, so any that allows the origin will do."""
        methods = self._routes.methods(path)
        told["route"] = f"OPTIONS {self._routes.template(path)}"
        if headers.origin is None:
            return Reply(b"", "", 204, ((b"allow", ", ".join(methods).encode()),))
        directory = self.service.directory
        name = self._routes.name(path)
        desks = directory.desks.values() if name is None else [directory.desk(name)]
        if not any(allows(desk, headers.origin) for desk in desks):
            raise Refused("wrong-origin")
        return preflight(headers.origin, ", ".join(methods))


def _check_origin(desk: Desk | None, headers: Headers) -> None:
    if headers.origin is None or headers.same_site:
        return
    if desk is None or not allows(desk, headers.origin):
        raise Refused("wrong-origin")


def _around(told: dict[str, Any], headers: Headers) -> Pairs:
    """The headers of every answer."""
    desk: Desk | None = told["desk"]
    more = STRICT if told["route"].startswith("GET /v1/forms") or not headers.authorized else STRICT + NOT_STORED
    if headers.origin is not None and desk is not None and allows(desk, headers.origin):
        return [pair for pair in more if pair[0] != b"cross-origin-resource-policy"] + shared_with(headers.origin)
    return more
