"""`python -m benchmarks.collector_server collector|nothing ADDRESS`: what benchmarks/collector.py measures."""

from __future__ import annotations

import sys
from typing import Any

from deniable.collector.http.logs import NONE, Log
from deniable.collector.http.server import Server, listening
from deniable.collector.running import admin_key, opened, serve

_ANSWER = b'{"accepted":1}'
_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(_ANSWER)).encode())],
}
_BODY = {"type": "http.response.body", "body": _ANSWER}


class Nothing:
    """An application that reads the body and answers."""

    log = Log(NONE)

    async def __call__(self, _scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            more = (await receive()).get("more_body", False)
        await send(_START)
        await send(_BODY)


def main(kind: str, address: str) -> None:
    """Listen on a free port of loopback, print it, and answer until a signal."""
    bound = listening("127.0.0.1", 0)

    def tell() -> None:
        print(bound.getsockname()[1], flush=True)

    if kind == "nothing":
        Server(Nothing(), tell).run(sockets=[bound])  # type: ignore[arg-type]
        return
    with opened(address) as collector:
        admin_key(collector.service, None)
        serve(collector, bound, tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
