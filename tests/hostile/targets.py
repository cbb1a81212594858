"""What the fuzzer attacks: each target makes one input from a seeded source and gives it to the package."""

from __future__ import annotations

import copy
import functools
import hashlib
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

import deniable as dn
from deniable.mechanisms.registry import list_mechanisms, registered
from tests.cli.command import run
from tests.hostile import forms
from tests.hostile.mutations import changed, damaged, junk, nearby, objects, text_of

SETTINGS: dict[str, dict[str, Any]] = {
    "matrix": {"k": 3, "epsilon": 2.0, "matrix": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]},
    "design": {"k": 3, "epsilon": 1.0, "blocks": [[0, 1], [1, 2], [0, 2]]},
}


class Folder:
    """A folder for the files of commands, with a spec and a heavy-hitter spec."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "spec.json").write_text(question().spec.to_json())
        (path / "hh.json").write_text(protocol().to_json())

    def write(self, name: str, data: bytes) -> str:
        """Write a file; return its path."""
        (self.path / name).write_bytes(data)
        return str(self.path / name)


class Target(NamedTuple):
    """One way in, and its share of the inputs."""

    attempt: Callable[[random.Random, Folder], object]
    share: float


@functools.cache
def question() -> Any:
    return dn.mechanism("grr", labels=["yes", "no", "maybe"], epsilon=1.0)


@functools.cache
def protocol() -> dn.HeavyHitters:
    return dn.HeavyHitters.new(epsilon=2.0, max_bytes=4, alphabet="ab")


@functools.cache
def everyone() -> list[Any]:
    """A small mechanism of every name."""
    made = [dn.mechanism(name, **SETTINGS.get(name, {"k": 6, "epsilon": 1.0})) for name in list_mechanisms()]
    return [*made, dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, candidates=8, cohorts=16)]


@functools.cache
def reports(place: int) -> Any:
    m = everyone()[place]
    return m.privatize([m.domain.label(0) if hasattr(m.domain, "low") else "a"] * 5)


@functools.cache
def tables() -> list[Any]:
    hitters = protocol().privatize(["a", "b", "ab"])
    return [*(reports(place).to_arrow() for place in range(len(everyone()))), hitters.to_arrow()]


@functools.cache
def release() -> Any:
    return dn.DiscreteLaplace(1.0).release([[12, 0], [3, 4]], seed=1)


def warm_up() -> None:
    """Compile what estimates need, which a process does once."""
    for place, m in enumerate(everyone()):
        _estimate(m, m.summarize(reports(place)))


def _estimate(m: Any, total: dn.Summary) -> None:
    if hasattr(m.domain, "max_bytes"):
        m.estimate(total, candidates=["a", "b"])
    else:
        m.estimate(total).rows()


def sealed(data: bytes, source: random.Random) -> bytes:
    """Damage the bytes of a summary, and most often repair the checksum."""
    body = damaged(data[:-32], source)
    return damaged(data, source) if source.random() < 0.1 else body + hashlib.sha256(body).digest()


def spec(source: random.Random, _: Folder) -> None:
    document = source.choice(everyone()).spec.to_dict()
    if source.random() < 0.5:
        document = _derived(nearby(document, source))
        if source.random() < 0.2:
            _weakened(document, source)
    if source.random() < 0.4:
        made = dn.from_spec(json.dumps(document))
    else:
        made = dn.from_spec(changed(document, source) if source.random() < 0.3 else text_of(document, source))
    made.encode(made.privatize_one(made.domain.label(0) if hasattr(made.domain, "listed") else "a"))


def _derived(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the thresholds that follow from it; raise DeniableError if no mechanism does."""
    try:
        dn.from_spec({**document, "thresholds": {}})
    except dn.SpecError as error:
        if "thresholds must follow" not in str(error):
            raise
    (cls,) = registered(document["mechanism"])
    made: dict[str, Any] = cls(dn.Domain.from_dict(document["domain"]), **document["parameters"]).spec.to_dict()
    return made


def _weakened(document: dict[str, Any], source: random.Random) -> None:
    """Edit one threshold: whoever reads the spec must see it."""
    name = source.choice(list(document["thresholds"]))
    document["thresholds"][name] = str(int(document["thresholds"][name]) + source.choice((-1, 1, 2**40)))
    dn.from_spec(document)  # raises the documented error
    raise AssertionError(f"the threshold {name} was edited and accepted")


def hitter_spec(source: random.Random, _: Folder) -> None:
    dn.HeavyHitters.from_json(text_of(protocol().to_dict(), source)).privatize_one("ab")


def signed_form(source: random.Random, files: Folder) -> None:
    forms.answered(forms.signed(source, question().spec.to_dict()), str(source.random()), files.path / "answers.sqlite")


def summary(source: random.Random, _: Folder) -> None:
    place = source.randrange(len(everyone()))
    m = everyone()[place]
    found = dn.Summary.from_bytes(sealed(m.summarize(reports(place)).to_bytes(), source))
    _estimate(m, found + m.empty_summary())


def hitter_summary(source: random.Random, _: Folder) -> None:
    hh = protocol()
    data = hh.summarize(hh.privatize(["a", "b", "ab"])).to_bytes()
    if source.random() < 0.5:
        levels = list(hh.empty_summary().levels)
        levels = levels[: source.randrange(4)] + levels[: source.randrange(3)]
        data = dn.HitterSummary(tuple(levels), hh.fingerprint).to_bytes()
    total = hh.empty_summary() + dn.HitterSummary.from_bytes(sealed(data, source) if source.random() < 0.8 else data)
    if total.n < 10**6:
        hh.find(total, budget=1000)


def release_text(source: random.Random, _: Folder) -> None:
    found = dn.Release.from_json(text_of(json.loads(release().to_json()), source))
    dn.Release.from_json(found.to_json())


def release_table(source: random.Random, _: Folder) -> None:
    table = release().to_arrow()
    metadata = dict(table.schema.metadata)
    name = source.choice(list(metadata))
    metadata[name] = source.choice((damaged(metadata[name], source), json.dumps(junk(source)).encode()))
    dn.Release.from_arrow(_changed_table(table.replace_schema_metadata(metadata), source))


def _changed_table(table: Any, source: random.Random) -> Any:
    """An Arrow table with a column of another type, a column twice, none, nulls, or other metadata."""
    act, column = source.randrange(9), table.column(table.num_columns - 1)
    name, count = table.column_names[-1], table.num_rows
    kinds = (pa.int8(), pa.uint8(), pa.uint64(), pa.float64(), pa.string(), pa.binary(), pa.bool_(), pa.null())
    if act == 0:
        return table.append_column(name, column)
    if act == 1:
        return table.drop_columns([name])
    if act == 2:
        return table.set_column(table.num_columns - 1, name, pa.nulls(count, source.choice((*kinds, column.type))))
    if act == 3:
        kind = source.choice(kinds[:4])
        return table.set_column(table.num_columns - 1, name, pa.array([source.randrange(8)] * count, kind))
    if act == 4:
        lists = [[source.choice((0, 1, None)) for _ in range(2)] for _ in range(count)]
        kind = source.choice((pa.list_(pa.uint64(), 2), pa.list_(pa.uint64())))
        return table.set_column(table.num_columns - 1, name, pa.array(lists, kind))
    if act == 5:
        texts = pa.array([source.choice(("1", "x", " ")) for _ in range(count)])
        return table.set_column(0, table.column_names[0], source.choice((texts, texts.cast(pa.binary()))))
    if act == 6:
        metadata = dict(table.schema.metadata or {})
        key = source.choice([*metadata, b"\xff", b"pandas"])
        return table.replace_schema_metadata({**metadata, key: damaged(metadata.get(key, b"{}"), source)})
    if act == 7:
        return source.choice((column, table.to_batches()[0], table.schema, table.to_pylist(), table.slice(0, 0)))
    return table


def report_table(source: random.Random, _: Folder) -> None:
    place = source.randrange(len(tables()))
    table = _changed_table(tables()[place], source)
    if place < len(everyone()):
        everyone()[place].summarize(dn.Reports.from_arrow(table))
    else:
        protocol().summarize(dn.HitterReports.from_arrow(table))


def encoded(source: random.Random, _: Folder) -> None:
    place = source.randrange(len(everyone()))
    m = everyone()[place]
    data = damaged(m.encode_joined(reports(place)), source)
    if source.random() < 0.3:
        data = source.randbytes(m.layout.code_size)
    act = source.randrange(3)
    if act == 0:
        assert m.encode(m.decode(data)) == data
    elif act == 1:
        assert m.encode_joined(m.decode_joined(data)) == data
    else:
        m.accumulator().add_encoded([data, m.encode(reports(place)[0])])


def calls(source: random.Random, _: Folder) -> None:
    place = source.randrange(len(everyone()))
    m, hh, thing = everyone()[place], protocol(), objects(source)
    candidates = {"candidates": ["a", "b"]} if hasattr(m.domain, "max_bytes") else {}
    every: list[Callable[[], object]] = [
        lambda: m.privatize(thing),
        lambda: m.privatize_one(thing),
        lambda: m.summarize(thing),
        lambda: m.summarize([thing, thing]),
        lambda: m.encode(thing),
        lambda: m.encode(dn.Report(thing, m.fingerprint)),
        lambda: m.encode_many(thing),
        lambda: m.decode(thing),
        lambda: m.decode_joined(thing),
        lambda: m.estimate(thing, **candidates),
        lambda: m.estimate(m.summarize(reports(place)), thing, **candidates),
        lambda: m.accumulator().add(thing),
        lambda: m.accumulator().merge(thing),
        lambda: m.accumulator(thing),
        lambda: dn.simulate(m, thing),
        lambda: m.summarize(dn.Reports(thing, m.fingerprint)),
        lambda: dn.from_spec(thing),
        lambda: dn.HeavyHitters.from_json(thing),
        lambda: dn.Summary.from_bytes(thing),
        lambda: dn.HitterSummary.from_bytes(thing),
        lambda: dn.Summary(thing, 1, m.fingerprint),
        lambda: dn.Reports.from_arrow(thing),
        lambda: dn.HitterReports.from_arrow(thing),
        lambda: dn.Release.from_json(thing),
        lambda: dn.Release.from_arrow(thing),
        lambda: dn.DiscreteLaplace(1.0).release(thing),
        lambda: dn.DiscreteLaplace(thing),
        lambda: dn.mechanism("grr", k=5, epsilon=thing),
        lambda: dn.mechanism("grr", k=thing, epsilon=1.0),
        lambda: dn.mechanism("grr", labels=thing, epsilon=1.0),
        lambda: dn.mechanism(thing, k=5, epsilon=1.0),
        lambda: dn.mechanism(m.name, k=6, epsilon=thing),
        lambda: hh.privatize(thing),
        lambda: hh.privatize_one(thing),
        lambda: hh.summarize(thing),
        lambda: hh.find(thing),
        lambda: hh.accumulator().add(thing),
        lambda: hh.accumulator().merge(thing),
        lambda: hh.simulate(thing),
    ]
    source.choice(every)()


def _csv(source: random.Random, lines: list[bytes]) -> bytes:
    cells = (
        b"0",
        b"1",
        b"00",
        b" 1",
        b"0x1",
        b"",
        b'"',
        b"yes",
        b"1,2",
        b"\xff",
        b"9" * 30,
        b"1.0",
        b"-1",
        b"\x1b[31m",
    )
    made = copy.copy(lines)
    for _ in range(source.randrange(3)):
        made.insert(source.randrange(len(made) + 1), source.choice(cells))
    data = b"\n".join(made) + b"\n"
    return damaged(data, source) if source.random() < 0.5 else data


def command(source: random.Random, files: Folder) -> None:
    """Run a command on a mutated file: exit code 0 or 2, and for the latter one line."""
    m, out = question(), files.path / "out"
    act = source.randrange(7)
    spec_path, hh_path = files.path / "spec.json", files.path / "hh.json"
    if act == 0:
        name = files.write("r.csv", _csv(source, [f"report@{m.fingerprint}".encode(), b"0", b"1", b"2"]))
        line: list[Any] = [source.choice(("estimate", "summarize")), name, "--spec", spec_path]
        line += ["-o", out.with_suffix(".summary")] if line[0] == "summarize" else []
    elif act == 1:
        name = files.write("v.csv", _csv(source, [b"answer", b"yes", b"no", b"maybe"]))
        line = ["privatize", name, "--spec", spec_path, "-o", out.with_suffix(".csv"), "--overwrite"]
    elif act == 2:
        name = files.write("c.csv", _csv(source, [b"town,n", b"A,3", b"B,2"]))
        line = ["release", name, "--epsilon", "1", "-o", out.with_suffix(".json")]
    elif act == 3:
        name = files.write("n.csv", _csv(source, [b"town,n@epsilon=1.0 sensitivity=1", b"A,3", b"B,2"]))
        line = ["ask", source.choice(("total", "median")), name]
    elif act == 4:
        document = json.loads(release().to_json()) | {"columns": ["a", "b"], "labels": {"town": ["x", "y"]}}
        text = text_of(document, source)
        name = files.write("n.json", text.encode("utf-8", "replace") if isinstance(text, str) else text)
        line = ["ask", "total", name, "--json"]
    elif act == 5:
        written = io.BytesIO()
        pa.parquet.write_table(tables()[-1], written)
        name = files.write("h.parquet", damaged(written.getvalue(), source))
        line = ["heavy-hitters", "summarize", name, "--spec", hh_path, "-o", out.with_suffix(".hh")]
    else:
        text = text_of(m.spec.to_dict(), source)
        name = files.write("s.json", text.encode("utf-8", "replace") if isinstance(text, str) else text)
        line = ["spec", source.choice(("show", "check")), name]
    outcome = run(*line)
    if outcome.code not in (0, 2) or "DENIABLE_TRACEBACK" in outcome.err or "\x1b" in outcome.out + outcome.err:
        raise AssertionError(f"{line[:2]}: code {outcome.code}, {outcome.err}")
    if outcome.code == 2:
        errors = [each for each in outcome.err.split("\n") if each]
        if not errors[-1].startswith(("deniable: error: ", '{"error": ')) or len(errors[-1]) > 1000:
            raise AssertionError(f"{line[:2]}: {outcome.err}")
        raise dn.DeniableError(errors[-1])


TARGETS = {
    "spec": Target(spec, 20),
    "heavy-hitter spec": Target(hitter_spec, 6),
    "form": Target(signed_form, 1),
    "summary": Target(summary, 8),
    "heavy-hitter summary": Target(hitter_summary, 3),
    "release": Target(release_text, 12),
    "release table": Target(release_table, 6),
    "report table": Target(report_table, 12),
    "encoded": Target(encoded, 20),
    "calls": Target(calls, 12),
    "command": Target(command, 1),
}
