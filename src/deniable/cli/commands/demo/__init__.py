"""`deniable demo`: a telemetry question from beginning to end, on simulated users whose values are known."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Annotated, Any

import typer

EPSILONS = (0.5, 1.0, 2.0, 4.0)


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where pictures and files go.")] = Path("demo"),
    users: Annotated[int, typer.Option(min=1000, max=100_000_000, help="How many users to simulate.")] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, max=2**32, help="The same seed gives the same numbers.")] = 7,
    epsilon: Annotated[
        list[float] | None,
        typer.Option(help=f"An epsilon to ask at; may be given more than once. By default {EPSILONS}."),
    ] = None,
    pictures: Annotated[bool, typer.Option(help="Draw the picture and the page.")] = True,
    collector: Annotated[
        bool, typer.Option("--collector", help="Then ask people over HTTP, through a collector on this machine.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Only that, and leave the collector running until Ctrl-C.")
    ] = False,
) -> None:
    """Ask a million simulated users, and compare with the truth.

    One question, 50 possible answers, several epsilons, five methods: tables,
    pictures, and files to continue with.

    The value of each user is randomised into one report, as on a device; only the
    coins come from a seed, so that the numbers can be repeated.

    With --collector a collector is started on a free port and a temporary folder,
    100,000 people answer it by HTTP, a few of them in Chromium where there is one,
    and its answer is printed beside the truth. Their reports are real, made by
    secure randomness: only the people are simulated.

    With --serve it also asks "commute", a question that any page may use: the links,
    the page and the script of the documentation work with its keys.

    \b
    Examples:
      deniable demo
      deniable demo --users 100000 --epsilon 1 --epsilon 3 --out small
      deniable demo --collector
      deniable demo --serve
    """
    if serve:
        over_network(seed, None, stay=True)
        return
    from deniable.cli.commands.demo.output import draw, errors_table, privacy_table, values_table, write_files
    from deniable.cli.commands.demo.results import World, collect, mechanisms_for
    from deniable.cli.commands.demo.story import LABELS, QUESTION
    from deniable.cli.terminal import console
    from deniable.plots.estimates import check_installed

    start = time.perf_counter()
    if pictures:
        check_installed()
    mechanisms = mechanisms_for(epsilon or EPSILONS)
    out.mkdir(parents=True, exist_ok=True)  # before the work, in case it fails
    screen = console()
    screen.print(f"[bold]{QUESTION}[/]")
    screen.print(
        f"{users:,} simulated users, {len(LABELS)} possible answers. An expired licence or a wrong password is\n"
        "nobody's business, so each device randomises its answer before it leaves. Here values and\n"
        f"coins come from seed {seed}: [yellow]this is a simulation and protects nobody[/]. Real clients draw\n"
        "their coins from the operating system.\n"
    )
    world = World.made(users, seed)
    collections = list(collect(world, mechanisms, seed))
    shown = min(collections, key=lambda collection: abs(collection.epsilon - 1))
    screen.print(privacy_table(collections))
    screen.print(values_table(world, shown))
    screen.print(errors_table(collections))
    written = [*(draw(out, world, collections) if pictures else []), *write_files(out, world, collections)]
    for path in written:
        typer.echo(f"wrote {path}")
    name = out / shown.name
    typer.echo(f"\nContinue with: deniable estimate {name}.summary --spec {name}.spec.json --top 5")
    if collector:
        over_network(seed, out if pictures else None)
    typer.echo(f"The demo took {time.perf_counter() - start:.1f} s.")


def over_network(seed: int, out: Path | None, *, stay: bool = False) -> None:
    """Ask people through a collector, show its answer beside the truth, and stop it, at once or when told to.

    With a folder, its dashboard is drawn into it, if there is a browser.
    """
    from deniable.cli.commands.demo import network
    from deniable.cli.commands.demo.network import COLLECTION, answer_table, ask, serving
    from deniable.cli.commands.demo.results import mechanisms_for
    from deniable.cli.commands.demo.screen import link, take
    from deniable.cli.commands.demo.story import LABELS
    from deniable.cli.terminal import console

    (mechanism,) = mechanisms_for([1.0])
    with serving(mechanism) as served:
        typer.echo(f"\nA collector listens on {served.url}; {network.PEOPLE:,} people answer it over HTTP.")
        asked = ask(served, mechanism, seed, network.PEOPLE)
        console().print(answer_table(asked))
        times = f"arrived in {asked.sent:.1f} s, the answer took {1e3 * asked.answered:.0f} ms"
        typer.echo(f"{asked.answer['n']:,} reports {times}. {asked.covered} of {len(LABELS)} intervals hold the truth.")
        typer.echo(
            f"{asked.browsers} of the people answered on the page for participants, in Chromium."
            if asked.browsers
            else "There is no Chromium here that can be used, so nobody answered in a browser."
        )
        if out is not None:
            path = out / "dashboard.png"
            drawn = take(link(served.url, served.keys["read"], COLLECTION), path)
            typer.echo(f"wrote {path}" if drawn else "There is no Chromium here, so the dashboard is not drawn.")
        if stay:
            _invite(served, seed)
    typer.echo("The collector has stopped, and its temporary folder is gone.")


def _invite(served: Any, seed: int) -> None:
    """Say where everything is, and wait until somebody presses Ctrl-C."""
    from deniable.cli.commands.demo import commute, network, story
    from deniable.cli.commands.demo.screen import link, question

    url, read, write = served.url, served.keys["read"], served.keys["write"]
    own, seen = commute.open_commute(served, seed)
    release = {"release": network.RELEASES[-1]}
    demo = question(url, write, network.COLLECTION, read=read, title=story.QUESTION, segments=release)
    for name, text in (
        ("collector", url),
        ("dashboard", link(url, read, network.COLLECTION)),
        ("answer it yourself", question(url, own, commute.COLLECTION, read=seen, title=commute.QUESTION)),
        ("answer the demo", demo),
        ("form of the question", f"{url}/v1/forms/{network.COLLECTION}"),
        ("description", f"{url}/v1/openapi.json"),
        ("key to answer commute", own),
        ("key to answer the demo", write),
        ("key to read the demo", read),
        ("key of an administrator", served.admin),
    ):
        typer.echo(f"{name:<24} {text}")
    typer.echo("The keys are printed because this is a demo. Ctrl-C stops the collector and deletes what it has.")
    with suppress(KeyboardInterrupt):
        Event().wait()
