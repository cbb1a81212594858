"""`deniable count-spool`: reports that collectors wrote to files, counted once each and added to a collector."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from deniable.client.web import Web
    from deniable.collector.spool.counting import Question
    from deniable.collector.spool.layout import Partition
    from deniable.grouping.table import SummaryTable

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
    added twice.

    \b
    Example:
      deniable count-spool /mnt/spool https://reports.example.org --key-file admin.key
    """
    from deniable.cli.commands.load import read_key
    from deniable.cli.streams import echo
    from deniable.client.web import Web, site_of
    from deniable.collector.spool import counting

    web, key = Web(site_of(url), _SECONDS), read_key(key_file)
    questions: dict[tuple[str, str], Question] = {}

    def question(partition: Partition) -> Question:
        place = partition[:2]
        if place not in questions:
            questions[place] = _question(web, partition)
        return questions[place]

    def deliver(partition: Partition, name: bytes, table: SummaryTable) -> None:
        path = f"/v1/collections/{partition.collection}/summaries?id={name.hex()}"
        web.request("POST", path, _parquet(table), key.text).raise_refusal(web.site)

    done = 0
    for partition, rows, n in counting.count_spool(spool, int(time.time() // 3600), question, deliver):
        done += n
        echo(f"{partition.collection}, hour {partition.hour}: {rows:,} rows, {n:,} reports")
    echo(f"{done:,} reports counted")


def _question(web: Web, partition: Partition) -> Question:
    """Ask the collector what is in a partition."""
    import json

    from deniable.cli.running import CommandError
    from deniable.collector.spool.counting import Question
    from deniable.mechanisms.registry import from_spec
    from deniable.wire.buckets import Buckets

    found = web.request("GET", f"/v1/forms/{partition.collection}")
    found.raise_refusal(web.site)
    form = json.loads((found.members or {})["form"])
    for spec in form["specs"]:
        counted = from_spec(spec)
        if counted.fingerprint == partition.fingerprint:
            names = tuple(each["name"] for each in form["segments"])
            return Question(counted, Buckets.of(form["bucket"]), names, int(form["window"]))
    raise CommandError(f"collection {partition.collection} has no spec {partition.fingerprint[:12]}...")


def _parquet(table: SummaryTable) -> bytes:
    import io

    import pyarrow.parquet

    file = io.BytesIO()
    pyarrow.parquet.write_table(table.to_arrow(), file)
    return file.getvalue()
