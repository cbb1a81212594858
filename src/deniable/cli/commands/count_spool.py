"""`deniable count-spool`: reports that collectors wrote to files, counted once each and added to a collector."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.client.web import Web
    from deniable.collector.spool.counting import Question
    from deniable.collector.spool.layout import Partition
    from deniable.grouping.table import SummaryTable
    from deniable.wire.keys import Key

_SECONDS = 60.0


def count_spool(
    spool: Annotated[Path, typer.Argument(metavar="SPOOL", help="The folder that `serve --spool` writes to.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="The collector that answers questions about the counts.")],
    key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The administrator's key; by default the variable DENIABLE_ADMIN_KEY."),
    ] = None,
) -> None:
    """Count reports from files, each once, for a collector.

    A partition is counted when the window of its collection has passed: no collector
    takes its reports any more. Reports that were sent several times, to whatever
    collectors, are counted once. Run it again at any time: what was added is not
    added twice. What cannot be counted is named at the end, after all the rest.

    \b
    Example:
      deniable count-spool /mnt/spool https://reports.example.org --key-file admin.key
    """
    from deniable.cli.commands.load import read_key
    from deniable.cli.streams import echo
    from deniable.client.web import Web, site_of
    from deniable.collector.spool import counting
    from deniable.grouping.parquet import parquet_bytes

    web, key = Web(site_of(url), _SECONDS), read_key(key_file)
    questions: dict[tuple[str, str], Question] = {}

    def question(partition: Partition) -> Question:
        place = partition[:2]
        if place not in questions:
            questions[place] = _question(lambda path: _reply(web, "GET", path, key), partition)
        return questions[place]

    def deliver(partition: Partition, name: bytes, table: SummaryTable) -> None:
        path = f"/v1/collections/{partition.collection}/summaries?id={name.hex()}"
        _reply(web, "POST", path, key, parquet_bytes(table.to_arrow()))

    done = 0
    for partition, rows, n in counting.count_spool(spool, int(time.time() // 3600), question, deliver):
        done += n
        echo(f"{partition.collection}, hour {partition.hour}: {rows:,} rows, {n:,} reports")
    echo(f"{done:,} reports counted")


def _reply(web: Web, method: str, path: str, key: Key, body: bytes | None = None) -> dict[str, Any]:
    """What the collector answers. If it is away there is no sense in asking for the next partition."""
    from deniable.cli.running import CommandError
    from deniable.client.errors import Unreachable

    try:
        reply = web.request(method, path, body, key.text)
        reply.raise_refusal(web.site)
    except Unreachable as error:
        raise CommandError(str(error)) from error
    return reply.members or {}


def _question(ask: Callable[[str], dict[str, Any]], partition: Partition) -> Question:
    """Ask the collector what is in a partition; specs that devices use no more are among those it knows."""
    import json

    from deniable.collector.service.questions import Workshop
    from deniable.collector.service.settings import read_settings
    from deniable.collector.spool.counting import Question
    from deniable.core.errors import SpecError

    path = f"/v1/collections/{partition.collection}"
    settings, workshop = read_settings(json.dumps(ask(path)["settings"])), Workshop()
    for spec in ask(f"{path}/specs?fingerprint={partition.fingerprint}")["specs"]:
        counted = workshop.build(spec).question
        if counted.fingerprint == partition.fingerprint:
            names = tuple(each.name for each in settings.segments)
            return Question(counted, settings.buckets, names, settings.window)
    raise SpecError(f"collection {partition.collection} has no spec {partition.fingerprint[:12]}...")
