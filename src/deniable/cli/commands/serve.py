"""`deniable serve`: a collector that takes reports over HTTP and answers with error bars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from deniable.cli.options import Json
from deniable.cli.running import CommandError, about
from deniable.cli.streams import echo, echo_json
from deniable.cli.terminal import note

if TYPE_CHECKING:
    from deniable.collector.running import Collector
    from deniable.collector.service.clock import Clock
    from deniable.collector.service.settings import Settings

_FOLDER = Path("collector")
_DAY = 86_400


def serve(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="Where reports, counts and keys are kept; default: collector."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="DENIABLE_DATABASE",
            show_envvar=False,
            help="A PostgreSQL database, which several collectors can share, in place of a folder "
            "(or DENIABLE_DATABASE, which other users of the machine cannot see).",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all, behind a proxy.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 for any that is free.")] = 8321,
    spec: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Make a collection of this spec, unless it is there already.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of that collection; default: that of the file.")
    ] = None,
    minimum: Annotated[int, typer.Option(min=1, help="Its minimum: nothing is told about fewer reports.")] = 100,
    origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="Pages that may send to it, such as https://example.org.")
    ] = None,
    spool: Annotated[
        Path | None,
        typer.Option(metavar="SPOOL", help="Write reports to Parquet files there, to be counted by `count-spool`."),
    ] = None,
    accept_clock: Annotated[
        bool,
        typer.Option(
            "--accept-clock", help="Believe the machine's clock though it is far ahead of the last time seen."
        ),
    ] = False,
    log: Annotated[
        str, typer.Option(metavar="all|refused|none", help="Requests to log, one line of JSON each on stderr.")
    ] = "refused",
    check: Annotated[
        bool, typer.Option("--check", help="Look through all that is stored, say what is damaged, and end.")
    ] = False,
    backup: Annotated[
        Path | None,
        typer.Option(metavar="COPY", help="Copy the folder's store to a new folder, though it is in use, and end."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Take reports over HTTP, and answer with error bars.

    Keys are written to files that only their owner can read, never printed. TLS is for
    a proxy in front. SIGTERM or Ctrl-C ends it when all that was taken is stored.

    \b
    Examples:
      deniable serve
      deniable serve /var/lib/deniable --port 8321 --log all
      deniable serve --spec spec.json --origin https://example.org
      deniable serve --database postgresql://deniable@localhost/deniable
      deniable serve /var/lib/deniable --check
      deniable serve /var/lib/deniable --backup /backup/monday
    """
    import sys

    from deniable.core.extras import needed
    from deniable.core.validate import choice

    with needed():
        from deniable.collector.http.logs import KINDS, Log
        from deniable.collector.http.server import address_of, listening
        from deniable.collector.running import admin_key, opened
        from deniable.collector.running import serve as run
        from deniable.collector.service.clock import Clock

    if folder is not None and database is not None:
        raise CommandError("give a folder or --database, not both")
    if database is not None and not database.startswith(("postgresql://", "postgres://")):
        raise CommandError("--database must be an address that starts with postgresql://. Give a folder without it.")
    choice(KINDS, log=log)
    home = None if database is not None else folder or _FOLDER
    if backup is not None:
        _copy(home, backup, check, as_json)
        return
    if check:
        _examine(database, home, as_json)
    wanted = None if spec is None or check else _wanted(spec, name, minimum, tuple(origin or ()))
    lines, clock = Log("none" if check else log, sys.stderr), Clock(accept=accept_clock)
    with opened(database or home or _FOLDER, log=lines, clock=clock, spool=spool) as collector:
        _doubt(clock)
        if check:
            _well(collector, as_json)
            return
        told: dict[str, Any] = {}
        written = admin_key(collector.service, home)
        if written is not None:
            told["admin_key"] = str(written)
        if spec is not None and wanted is not None:
            with about(str(spec)):
                told |= _made(collector, wanted, home)
        with about(f"{host}:{port}"):
            bound = listening(host, port)
        told = {"address": address_of(bound), **told}
        run(collector, bound, lambda: _tell(told, as_json))
        collector.log.event("stopped", requests=collector.service.outcomes.requests)


def _doubt(clock: Clock) -> None:
    """Say that the machine's clock is not believed, before somebody wonders why reports are refused."""
    if clock.ahead:
        note(
            f"The machine's clock is {clock.ahead / _DAY:,.0f} days ahead of the last time this collector saw, so it "
            "is not believed and today's reports are refused. If it is right, start once with --accept-clock."
        )


class _Wanted(NamedTuple):
    """The collection that is to be there."""

    name: str
    spec: dict[str, Any]
    settings: Settings


def _wanted(spec: Path, name: str | None, minimum: int, origins: tuple[str, ...]) -> _Wanted:
    """Read and check all that a collection is made of, before there is a store that a mistake would leave behind."""
    from deniable.collector.service.questions import Workshop
    from deniable.collector.service.settings import Settings, check, check_name
    from deniable.core.documents import read_json

    with about(str(spec)):
        wanted = _Wanted(
            name or spec.stem.lower(), read_json(spec.read_bytes()), Settings(minimum=minimum, origins=origins)
        )
        check_name(wanted.name)
        check(wanted.settings)
        Workshop().build(wanted.spec)
    return wanted


def _made(collector: Collector, wanted: _Wanted, home: Path | None) -> dict[str, Any]:
    """Make the collection at the first start, and write its keys beside the store."""
    from deniable.collector.running import ready_made

    chosen, spec, settings = wanted
    file = (home or Path()) / f"{chosen}.keys.json"
    # the collectors of a shared database need no file each
    made = ready_made(collector.service, chosen, spec, settings, file, mend=home is not None)
    if made.keys and not made.new:
        note(
            f"The collection {chosen} had no file of keys, so it has new ones. Others stay good until you revoke them."
        )
    told = {"collection": chosen, "form": f"/v1/forms/{chosen}"}
    return told if made.keys is None else {**told, "keys": str(made.keys)}


def _tell(told: dict[str, Any], as_json: bool) -> None:
    """Say where it listens and where keys are, as soon as it answers."""
    import json
    import sys

    if as_json:
        echo_json(json.dumps(told))
    else:
        echo(f"listening on {told['address']} (Ctrl-C ends it)")
        for key, what in (("admin_key", "administrator's key"), ("collection", "collection"), ("keys", "its keys")):
            if key in told:
                echo(f"{what}: {told[key]}")
    sys.stdout.flush()


def _copy(home: Path | None, copy: Path, check: bool, as_json: bool) -> None:
    """Copy the store of a folder, which a collector may be using, to a folder that can be served."""
    import json

    from deniable.collector.store.backup import backup
    from deniable.collector.store.folder import DATABASE

    if check:
        raise CommandError("give --check or --backup, not both")
    if home is None:
        raise CommandError("--backup copies a folder. A PostgreSQL database is copied by pg_dump.")
    if (home / DATABASE).exists():
        copy.mkdir(mode=0o700, parents=True, exist_ok=True)
    backup(home, copy / DATABASE)
    if as_json:
        echo_json(json.dumps({"backup": str(copy / DATABASE)}))
    else:
        echo(f"the copy is whole: {copy / DATABASE}")


def _examine(database: str | None, home: Path | None, as_json: bool) -> None:
    """Look through a store before anything is built on it; say what is damaged, and end."""
    import json
    from contextlib import closing

    from deniable.collector.store.checks import check
    from deniable.collector.store.opening import open_store

    if home is not None and not home.exists():
        raise CommandError(f"{home}: there is no such folder. Without --check it is made.")
    with closing(open_store(database or home or _FOLDER)) as store:
        found = check(store)
    if not found:
        return
    if as_json:
        echo_json(json.dumps({"status": "damaged", "findings": found}))
    else:
        for each in found:
            echo(f"damaged: {each}")
    raise CommandError(f"the store is damaged, see the {len(found)} lines above. Restore a copy of it.")


def _well(collector: Collector, as_json: bool) -> None:
    """Say what a store without damage has."""
    import json

    service = collector.service
    waiting = sum(n for _, n in service.store.waiting())
    found = {"collections": len(service.directory.desks), "keys": len(service.directory.holders), "waiting": waiting}
    if as_json:
        echo_json(json.dumps({"status": "ok", **found}))
    else:
        echo("ok: " + ", ".join(f"{count:,} {what}" for what, count in found.items()) + " (reports not counted yet)")
