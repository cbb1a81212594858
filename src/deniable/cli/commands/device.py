"""`deniable device`: answer a question from this machine, once, and see to it that the answer arrives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from deniable.cli.options import Json
from deniable.cli.running import STANDARD, CommandError, new_app
from deniable.cli.streams import echo, echo_json
from deniable.cli.terminal import note

if TYPE_CHECKING:
    from deniable.client import Client, Entry

app = new_app(help="Answer a collector's question once, and send the answer.")

Url = Annotated[str, typer.Option(metavar="URL", envvar="DENIABLE_URL", help="The collector's address.")]
WriteKey = Annotated[
    str,
    typer.Option(
        "--key",
        metavar="KEY",
        envvar="DENIABLE_KEY",
        help="The collection's write key. The variable DENIABLE_KEY keeps it from other users of the machine.",
    ),
]
Collection = Annotated[str, typer.Option(metavar="NAME", help="The collection.")]
StoreFile = Annotated[
    Path, typer.Option("--store", metavar="FILE", help="Where answers are kept; all questions share one file.")
]
Person = Annotated[str, typer.Option(metavar="NAME", help="Whose answer it is, where several people share a store.")]


class _Unquoted(TyperCommand):
    """A command whose argument is a person's value: parts of it that are taken for something else are not quoted."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        try:
            return super().parse_args(context, arguments)
        except Exception as error:  # a usage error, of typer or of click
            taken_for_option = not str(getattr(error, "option_name", STANDARD * 2)).startswith(STANDARD * 2)
            if not taken_for_option and "extra argument" not in str(error):
                raise
            hint = f"Put it in quotes, or give it on standard input: then VALUE is {STANDARD}."
            raise CommandError(f"VALUE must be one argument that does not begin with {STANDARD}. {hint}") from None


@app.command(cls=_Unquoted)
def answer(
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value; - reads it from standard input.")],
    url: Url,
    key: WriteKey,
    collection: Collection,
    store: StoreFile,
    person: Person = "",
    consent: Annotated[bool, typer.Option("--consent", help="The person agrees to answer this collection.")] = False,
    spec: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A spec or a signed form, to answer without asking the collector."),
    ] = None,
    pinned: Annotated[
        str | None, typer.Option(metavar="HEX", help="Trust only this signing key or this fingerprint of a spec.")
    ] = None,
    segment: Annotated[
        list[str] | None, typer.Option(metavar="NAME=LABEL", help="The label of a segment; may be given again.")
    ] = None,
    cap: Annotated[
        float, typer.Option(min=0, metavar="EPSILON", help="The most epsilon that all answers together may spend.")
    ] = 10.0,
    delay: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="The report waits a random time of up to this.")
    ] = 3600.0,
    as_json: Json = False,
) -> None:
    """Answer a question, unless it was answered: then the report of that time stands.

    What is due is sent at once, the rest by deniable device send, for instance
    from cron. Arguments are visible to other users of the machine and end in the
    history of the shell: - takes the value from standard input.

    \b
    Examples:
      deniable device answer - --consent --url https://reports.example.org \\
        --collection commute --store answers.sqlite < value.txt
    """
    from deniable.client import ConsentMissing
    from deniable.client.entries import BEGUN

    options = {"spec": spec, "pinned": pinned, "segments": _segments(segment), "cap": cap, "delay": delay}
    client = _client(url, key, collection, store, person, **options)
    if consent:
        client.consent(True)
    if not client.consent():
        raise ConsentMissing(collection)
    entry = client.entry()
    if entry is None or entry.state == BEGUN:
        client.answer(_value(client, value))
    client.send()
    _tell_entry(client, as_json)


@app.command()
def send(
    url: Url,
    key: WriteKey,
    collection: Collection,
    store: StoreFile,
    person: Person = "",
    wait: Annotated[
        float, typer.Option(min=0, max=86_400, metavar="SECONDS", help="Go on for so long while something waits.")
    ] = 0.0,
    now: Annotated[
        bool, typer.Option("--now", help="Do not wait for the random time, or after a failure: it tells the time.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send what is due; failures are kept for the next time.

    \b
    Examples:
      deniable device send --url https://reports.example.org --collection commute \\
        --store answers.sqlite --wait 60
    """
    _existing(store)
    found = _client(url, key, collection, store, person).send(wait, hurry=now)
    if as_json:
        echo_json(json.dumps(found._asdict(), indent=2))
        return
    waits = "nothing waits" if found.next_due is None else "the rest waits"
    trouble = f" ({found.trouble})" if found.trouble else ""
    echo(f"sent {found.sent}, given up {found.refused}, withdrawn {found.withdrawn}; {waits}{trouble}")


@app.command()
def status(
    store: StoreFile,
    person: Person = "",
    explain: Annotated[bool, typer.Option("--explain", help="Say what was sent, and what can be concluded.")] = False,
    cap: Annotated[float, typer.Option(min=0, metavar="EPSILON", help="The cap that --explain compares with.")] = 10.0,
    delta: Annotated[
        float | None, typer.Option(help="Also say what all answers spend but for this probability, such as 1e-6.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what was answered from here, and what it has spent.

    \b
    Examples:
      deniable device status --store answers.sqlite
      deniable device status --store answers.sqlite --delta 1e-6
      deniable device status --store answers.sqlite --explain
    """
    from deniable.client.explaining import explained
    from deniable.client.ledger import composed, entries, spent
    from deniable.client.store import Store
    from deniable.core.rounding import rounded_up

    _existing(store)
    with Store(store).transaction() as database:
        found, total = entries(database, person), rounded_up(spent(database, person))
        together = None if delta is None else composed(database, person, delta)
    explanations = [explained(entry, total, cap) for entry in found] if explain else []
    if as_json:
        answers: list[Any] = [each.to_dict() for each in explanations or found]
        document: dict[str, Any] = {"spent": total, "answers": answers}
        if together is not None:
            document["composed"] = together.to_dict()
        echo_json(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for entry in found:
        echo(_line(entry))
    echo(f"epsilon spent: {total:.4g}")
    if together is not None:
        echo(together)
    for each in explanations:
        echo(f"\n{each}")


@app.command()
def forget(
    url: Url,
    key: WriteKey,
    collection: Collection,
    store: StoreFile,
    person: Person = "",
    as_json: Json = False,
) -> None:
    """Erase an answer here, and ask the collector to delete it.

    What is spent stays spent, and the question stays answered. The collector can
    delete a report until it is counted.

    \b
    Examples:
      deniable device forget --url https://reports.example.org --collection commute \\
        --store answers.sqlite
    """
    _existing(store)
    client = _client(url, key, collection, store, person)
    if client.forget() is None:
        raise CommandError(f"{collection} was not answered from here, so there is nothing to forget")
    _tell_entry(client, as_json)


def _client(url: str, key: str, collection: str, store: Path, person: str, **options: Any) -> Client:
    from deniable.client import Client

    return Client(url, key, collection, store=store, person=person, **options)


def _existing(store: Path) -> None:
    if not store.exists():
        raise CommandError(f"{store}: there is no such file, so nothing was answered")


def _segments(pairs: list[str] | None) -> dict[str, str]:
    if wrong := [pair for pair in pairs or () if "=" not in pair]:
        raise CommandError(f"--segment must be NAME=LABEL, got {wrong[0]!r}")
    return dict(pair.split("=", 1) for pair in pairs or ())


def _value(client: Client, text: str) -> object:
    """The value, as a number where the values of the question are numbers."""
    import sys

    from deniable.cli.io.values import as_value
    from deniable.heavy_hitters.protocol import HeavyHitters

    if text == STANDARD:
        text = sys.stdin.readline().rstrip("\r\n")
    question = client.question()
    return text if isinstance(question, HeavyHitters) else as_value(text, question.domain)


def _tell_entry(client: Client, as_json: bool) -> None:
    from deniable.client.entries import EXPIRED, REFUSED, WAITING, WITHDRAWING
    from deniable.wire.refusals import REASONS

    entry = client.entry()
    assert entry is not None
    if as_json:
        echo_json(json.dumps(entry.to_dict(), ensure_ascii=False, indent=2))
        return
    echo(entry.sentence)
    if entry.reason and entry.state in (WAITING, REFUSED, EXPIRED, WITHDRAWING):
        known = REASONS.get(entry.reason)
        note(f"{known.meaning} ({entry.reason})" if known else entry.reason)


def _line(entry: Entry) -> str:
    """One line of the list."""
    why = f" ({entry.reason})" if entry.reason else ""
    return f"{entry.collection}: {entry.state}{why}, epsilon {entry.epsilon:.4g}"
