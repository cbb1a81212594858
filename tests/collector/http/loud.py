"""`deniable serve` with libraries that have something to say, as they do when a database or a socket fails.

Run as `python -m tests.collector.http.loud FOLDER OPTIONS`.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import warnings

from deniable.cli.program import main
from deniable.collector.http.server import Server

SECRET = "secret words"


def speak() -> None:
    """Say what nobody should read, in every way there is."""
    try:
        raise RuntimeError(SECRET)
    except RuntimeError:
        logging.getLogger("sqlalchemy.pool.impl.QueuePool").error("Exception during reset or similar", exc_info=True)
        logging.getLogger("elsewhere").error(f"a message that is put together: {SECRET}")
    asyncio.get_running_loop().call_soon(fail, SECRET)
    threading.Thread(target=fail, args=(SECRET,)).start()
    warnings.warn(SECRET, stacklevel=1)


def fail(words: str) -> None:
    raise RuntimeError(words)


class Loud(Server):
    """A server that speaks as soon as it listens."""

    async def startup(self, sockets: object = None) -> None:
        await super().startup(sockets)  # type: ignore[arg-type]
        speak()


if __name__ == "__main__":
    import deniable.collector.running as running

    running.Server = Loud  # type: ignore[misc]
    sys.argv[0] = "deniable"
    sys.exit(main())
