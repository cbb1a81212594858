"""`deniable load`: load for a collector on the same machine, and a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.commands.simulate import whole_number
from deniable.cli.options import Json
from deniable.cli.shares import share

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.collector.load.tally import Tally
    from deniable.collector.load.verdict import Verdict
    from deniable.wire.keys import Key

KEY_VARIABLE = "DENIABLE_ADMIN_KEY"
NOT_GOOD = 1


def load(
    url: Annotated[str, typer.Argument(metavar="URL", help="A collector on this machine: http://127.0.0.1:8321.")],
    users: Annotated[
        int, typer.Option(parser=whole_number, metavar="NUMBER", help="How many people report, such as 1e6.")
    ] = 100_000,
    batch: Annotated[int, typer.Option(min=1, metavar="REPORTS", help="Reports per request; 1: single reports.")] = 1,
    ids: Annotated[bool, typer.Option("--ids", help="Reports in batches have ids of their own.")] = False,
    connections: Annotated[int, typer.Option(min=1, help="Connections, each with one request under way.")] = 16,
    rate: Annotated[
        float | None, typer.Option(metavar="REPORTS", help="Reports per second; by default as fast as it goes.")
    ] = None,
    replays: Annotated[
        float, typer.Option(parser=share, metavar="SHARE", help="Share of requests that are sent twice.")
    ] = 0.0,
    malformed: Annotated[
        float, typer.Option(parser=share, metavar="SHARE", help="Share of requests that must be refused.")
    ] = 0.0,
    seconds: Annotated[float, typer.Option(help="Send no longer than this.")] = 60.0,
    spec: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The question; by default 1,024 values by randomised response."),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"The administrator's key; by default the variable {KEY_VARIABLE}."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the people; the coins of their reports have none.")] = 0,
    as_json: Json = False,
) -> None:
    """Load a local collector, and judge what became of the reports.

    The reports are real: their coins come from secure randomness. Only the people are
    simulated. They go into a collection that is made for this run and closed after it.

    At the end the counts of the collector are compared, one by one, with those of the
    reports that it acknowledged. The exit code is 1 if a report was lost, counted
    twice, or taken although it was malformed, or if the counters of the collector
    disagree. Any address that is not of this machine is refused.

    \b
    Examples:
      deniable load http://127.0.0.1:8321 --key-file collector/admin.key
      deniable load http://localhost:8321 --batch 10000 --users 1e7 --connections 4
      deniable load http://localhost:8321 --replays 10% --malformed 5% --seconds 10
    """
    from deniable.cli.options import mechanism_of
    from deniable.cli.streams import echo_json
    from deniable.collector.load.address import Address
    from deniable.collector.load.plan import Plan
    from deniable.collector.load.run import run

    plan = Plan(users, batch, ids, connections, rate, replays, malformed, seconds, seed)
    address, key = Address.loopback(url), read_key(key_file)
    mechanism = None if spec is None else mechanism_of(spec)
    with _live() as watch:
        verdict = run(address, key, plan, mechanism, watch=watch)
    if as_json:
        echo_json(json.dumps(verdict.to_dict()))
    else:
        _show(verdict, users)
    if not verdict.good:
        raise typer.Exit(NOT_GOOD)


def read_key(path: Path | None) -> Key:
    """Read the administrator's key from a file, or from the environment: never from an argument, which others see."""
    import os

    from deniable.cli.running import CommandError, about
    from deniable.wire.keys import Key

    if path is None:
        text = os.environ.get(KEY_VARIABLE)
        if text is None:
            raise CommandError(f"the administrator's key must be given: by --key-file, or in {KEY_VARIABLE}")
        return Key.read(text.strip())
    with about(str(path)):
        return Key.read(path.read_text().strip())


@contextmanager
def _live() -> Iterator[Callable[[Tally], None]]:
    """Show the table while it changes, if standard error is a terminal."""
    import sys

    from rich.console import Console
    from rich.live import Live

    if not sys.stderr.isatty():
        yield lambda _tally: None
        return
    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
        yield lambda tally: live.update(_table(tally))


def _table(tally: Tally) -> Table:
    from deniable.cli.terminal import table

    made = table("", "", "requests", "reports", "reports/s")
    speed = tally.acknowledged / tally.seconds if tally.seconds else 0.0
    made.add_row("sent", "", f"{tally.sent:,}", "")
    made.add_row("acknowledged", f"{tally.acknowledged_requests:,}", f"{tally.acknowledged:,}", f"{speed:,.0f}")
    if tally.again:
        made.add_row("acknowledged again", f"{tally.again:,}", "", "")
    for kind, count in sorted(tally.refusals.items()):
        made.add_row(f"refused: {kind}", f"{count:,}", "", "")
    for kind, count in sorted(tally.waits.items()):
        made.add_row(f"asked to wait: {kind}", f"{count:,}", "", "")
    if tally.unanswered:
        made.add_row("connection lost", f"{tally.unanswered:,}", "", "")
    return made


def _show(verdict: Verdict, users: int) -> None:
    from deniable.cli.streams import echo
    from deniable.cli.terminal import console

    tally, found = verdict.tally, _table(verdict.tally)
    found.add_row("counted", "", f"{verdict.counted:,}", "")
    console().print(found)
    times = f"answers after {tally.milliseconds(0.5):.1f} ms (median), {tally.milliseconds(0.99):.1f} ms (99%)"
    echo(f"{tally.seconds:.1f} s, {tally.requests / max(tally.seconds, 1e-9):,.0f} requests/s, {times}")
    if tally.sent < users:
        echo(f"{users - tally.sent:,} of {users:,} people did not report, because the time was up")
    for sentence in verdict.sentences:
        echo(sentence)
    echo("every acknowledged report was counted once" if verdict.good else "THE COLLECTOR FAILED THIS RUN")
