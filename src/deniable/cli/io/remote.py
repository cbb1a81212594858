"""Counts that are read from a running collector by its address, with a key that is never an argument."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from deniable.cli.running import CommandError, about

if TYPE_CHECKING:
    from deniable.client.reading import Collection
    from deniable.core.estimate import Estimate

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="Of a collector's address: the file of the read key, or of all keys of the collection as JSON; "
        "by default the variable DENIABLE_READ_KEY.",
    ),
]
First = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help="Of a collector's address: the first bucket, as a date.")
]
Last = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Of a collector's address: the last bucket, included.")
]
Segments = Annotated[
    list[str] | None,
    typer.Option(
        "--segment",
        metavar="NAME=LABEL",
        help="Of a collector's address: only this label of a segment; may be given again.",
    ),
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Send the key to an address without TLS, where others can read it.")
]


class Remote(NamedTuple):
    """The options of a collector's address."""

    key_file: Path | None
    first: str | None
    last: str | None
    segments: list[str] | None
    insecure: bool


def is_address(sources: list[str]) -> bool:
    """Whether the input is a collector's address; one is not mixed with other inputs."""
    found = [name for name in sources if name.lower().startswith(("http://", "https://"))]
    if found and len(sources) > 1:
        raise CommandError("a collector's address is given alone. For several, estimate each by itself.")
    return bool(found)


def check_local(remote: Remote) -> None:
    """Refuse the options of an address where there is none."""
    names = {"--key-file": remote.key_file, "--from": remote.first, "--to": remote.last, "--segment": remote.segments}
    if given := [name for name, value in {**names, "--insecure": remote.insecure or None}.items() if value is not None]:
        raise CommandError(f"{given[0]} is for a collector's address, such as https://.../v1/collections/themes")


def check_remote(of_files: dict[str, object]) -> None:
    """Refuse the options of files where there is an address."""
    if given := [name for name, value in of_files.items() if value]:
        raise CommandError(f"{given[0]} is for files, not for a collector's address")


def estimate_at(address: str, remote: Remote, method: str | None, target: str) -> Estimate:
    """The estimate of a collector's published counts."""
    from deniable.client.errors import Unreachable
    from deniable.wire.refusals import Refused

    segments: dict[str, list[str]] = {}
    for pair in remote.segments or ():
        name, equals, label = pair.partition("=")
        if not equals:
            raise CommandError(f"--segment must be NAME=LABEL, got {pair!r}")
        segments.setdefault(name, []).append(label)
    try:
        return _collection(address, remote).estimate(
            method, target=target, first=remote.first, last=remote.last, segments=segments
        )
    except Refused as refused:
        raise CommandError(f"the collector refuses ({refused.kind}): {refused}") from refused
    except Unreachable as trouble:
        raise CommandError(str(trouble)) from trouble


def _collection(address: str, remote: Remote) -> Collection:
    from deniable.client.reading import KEY_VARIABLE, collection

    if remote.key_file is not None:
        key = _key_in(remote.key_file)
    elif not (key := os.environ.get(KEY_VARIABLE, "").strip()):
        raise CommandError(f"a collector's address needs a read key: give --key-file, or the variable {KEY_VARIABLE}")
    return collection(address, key, insecure=remote.insecure)


def _key_in(path: Path) -> str:
    """The key in a file: alone, or as the member `read` of the JSON that `deniable serve` writes."""
    with about(str(path)):
        text = path.read_text("utf-8").strip()
    if not text.startswith("{"):
        return text
    try:
        found = json.loads(text).get("read")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, str):
        raise CommandError(f"{path}: there is no read key in this file")
    return found
