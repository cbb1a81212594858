"""No error quotes a person's value, wherever the value stands in what was given; --show-values does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from tests.cli.command import run

TEXT, NUMBER = "SeCreT", 987_654_321
YES_NO = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
TEN = dn.mechanism("grr", k=10, epsilon=1.0)
SHORT = dn.mechanism("cms", domain=dn.Domain.open(max_bytes=8), epsilon=1.0)
HASHED = dn.mechanism("orr", k=10, epsilon=1.0)
HITTERS = dn.HeavyHitters.new(epsilon=2.0, max_bytes=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, mechanism in {"yes-no": YES_NO, "ten": TEN, "short": SHORT}.items():
        (tmp_path / f"{name}.json").write_text(mechanism.spec.to_json())
    (tmp_path / "hh.json").write_text(HITTERS.to_json())
    return tmp_path


def quotes(text: str) -> bool:
    return any(secret in text for secret in (TEXT, str(NUMBER), f"{NUMBER:,}"))


FILES = {
    "a label": ("privatize", "yes-no", f"answer\nyes\n{TEXT}\n"),
    "a number": ("privatize", "ten", f"n\n1\n{NUMBER}\n"),
    "a fraction": ("privatize", "ten", f"n\n1\n{NUMBER}.5\n"),
    "a row too long": ("privatize", "yes-no", f"answer\nyes\n{TEXT},no\n"),
    "other bytes": ("privatize", "yes-no", f"answer\nyes\n{TEXT}\xff\n"),
    "an open quote": ("privatize", "yes-no", f'answer\nyes\n"{TEXT}\n'),
    "a cell without end": ("privatize", "yes-no", f"answer\n{TEXT * 500_000}\n"),
    "a long string": ("privatize", "short", f"word\nab\n{TEXT * 3}\n"),
    "no header": ("privatize", "yes-no", f"{TEXT},yes\nmore,no\n"),
    "no header of that name": ("privatize --column answer", "yes-no", f"{TEXT},yes\nmore,no\n"),
    "values in place of reports": ("summarize", "yes-no", f"{TEXT}\nyes\n"),
    "other bytes of a string": ("heavy-hitters privatize", "hh", f"word\nab\n{TEXT}\xff\n"),
    "a count": ("release --epsilon 1", "", f"town,n\nA,3\nB,{NUMBER}.5\n"),
    "a count in words": ("release --epsilon 1", "", f"town,n\nA,3\nB,{TEXT}\n"),
    "a count and more": ("release --epsilon 1", "", f"town,n\nA,3\nB,4,{NUMBER}\n"),
    "a count for a header": ("release --epsilon 1", "", f"{NUMBER}\n3\n"),
}
OUTPUTS = {"summarize": "out.summary", "heavy-hitters privatize": "out.parquet"}


@pytest.mark.parametrize("name", FILES)
def test_no_command_quotes_a_value(name: str, folder: Path) -> None:
    command, spec, text = FILES[name]
    (folder / "in.csv").write_bytes(text.encode("latin-1"))
    line = [*command.split(), folder / "in.csv", "-o", folder / OUTPUTS.get(command, "out.csv")]
    outcome = run(*line, *(["--spec", folder / f"{spec}.json"] if spec else []))
    assert outcome.code == 2
    assert not quotes(outcome.err), outcome.err
    assert "unexpected" not in outcome.err


@pytest.mark.parametrize("name", ["a label", "a number", "a row too long", "no header", "no header of that name"])
def test_a_value_is_quoted_on_request(name: str, folder: Path) -> None:
    command, spec, text = FILES[name]
    (folder / "in.csv").write_text(text)
    line = [*command.split(), folder / "in.csv", "-o", folder / "out.csv", "--spec", folder / f"{spec}.json"]
    outcome = run(*line, "--show-values")
    assert outcome.code == 2
    assert quotes(outcome.err), outcome.err


@pytest.mark.parametrize(
    "column",
    [pa.array([TEXT]), pa.array([TEXT.encode()]), pa.array([NUMBER]), pa.array([NUMBER + 0.5]), pa.array([[TEXT]])],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("spec", ["yes-no", "ten"])
def test_no_cell_of_parquet_is_quoted(spec: str, column: Any, folder: Path) -> None:
    pa.parquet.write_table(pa.table({"answer": column}), folder / "in.parquet")
    outcome = run("privatize", folder / "in.parquet", "--spec", folder / f"{spec}.json", "-o", folder / "out.csv")
    assert outcome.code == 2
    assert not quotes(outcome.err), outcome.err


@pytest.mark.parametrize("data", [f"yes\n{TEXT}\n".encode(), TEXT.encode() + b"\xff\n"], ids=["label", "other bytes"])
def test_no_line_of_standard_input_is_quoted(data: bytes, folder: Path) -> None:
    line = ("privatize", "-", "--spec", folder / "yes-no.json", "-o", folder / "out.csv")
    outcome = run(*line, stdin=data)
    assert outcome.code == 2
    assert not quotes(outcome.err), outcome.err


def reports_of(column: Any) -> Any:
    """A table of these numbers in place of reports, as a mistaken join makes it."""
    metadata = TEN.privatize([1]).to_arrow().schema.metadata
    return pa.table({"report": column}).replace_schema_metadata(metadata)


class Rude:
    """An object of a caller, whose own errors quote it."""

    def __index__(self) -> int:
        raise ValueError(TEXT)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return TEXT


CALLS: dict[str, Callable[[], object]] = {
    "one": lambda: YES_NO.privatize_one(TEXT),
    "one number": lambda: TEN.privatize_one(NUMBER),
    "a list": lambda: YES_NO.privatize(["yes", TEXT]),
    "an array": lambda: YES_NO.privatize(np.array(["yes", TEXT])),
    "numbers": lambda: TEN.privatize(np.array([1, NUMBER])),
    "fractions": lambda: TEN.privatize(np.array([1, NUMBER + 0.5])),
    "Arrow": lambda: YES_NO.privatize(pa.array(["yes", TEXT])),
    "no batch": lambda: YES_NO.privatize(TEXT),
    "no batch but a number": lambda: TEN.privatize(NUMBER),
    "lists": lambda: YES_NO.privatize([[TEXT], ["yes"]]),
    "a long string": lambda: SHORT.privatize_one(3 * TEXT),
    "a string that is none": lambda: SHORT.privatize(["a", NUMBER]),
    "half a character": lambda: HITTERS.privatize([TEXT + "\ud800"]),
    "no string": lambda: HITTERS.privatize_one(NUMBER),
    "values summarised": lambda: YES_NO.summarize([TEXT, "yes"]),
    "an array summarised": lambda: YES_NO.summarize(np.array([TEXT])),
    "numbers summarised": lambda: TEN.summarize([1, NUMBER]),
    "negative numbers summarised": lambda: TEN.summarize(np.array([1, -NUMBER])),
    "numbers added": lambda: TEN.accumulator().add(np.array([NUMBER])),
    "numbers summarised by cohorts": lambda: HASHED.summarize([1, NUMBER]),
    "numbers of Arrow": lambda: TEN.summarize(dn.Reports.from_arrow(reports_of(pa.array([1, -NUMBER])))),
    "numbers of a table": lambda: TEN.summarize(dn.Reports.from_arrow(reports_of(pa.array([1, NUMBER])))),
    "a number encoded": lambda: TEN.encode(dn.Report(NUMBER, TEN.fingerprint)),
    "values among reports": lambda: YES_NO.summarize([YES_NO.privatize_one("yes"), TEXT]),
    "values added": lambda: YES_NO.accumulator().add([TEXT]),
    "values estimated": lambda: YES_NO.estimate([TEXT, "yes"]),
    "a value encoded": lambda: YES_NO.encode(TEXT),
    "a value as a payload": lambda: YES_NO.encode(dn.Report(TEXT, YES_NO.fingerprint)),  # type: ignore[arg-type]
    "values as a payload": lambda: YES_NO.encode(dn.Report(((1,), (NUMBER, 2)), YES_NO.fingerprint)),  # type: ignore[arg-type]
    "strings summarised": lambda: HITTERS.summarize([TEXT]),
    "strings added": lambda: HITTERS.accumulator().add([TEXT]),
    "strings searched": lambda: HITTERS.find([TEXT]),  # type: ignore[arg-type]
    "a count": lambda: dn.DiscreteLaplace(1.0).release([1, NUMBER + 0.5]),
    "a count in words": lambda: dn.DiscreteLaplace(1.0).release([1, TEXT]),
    "a rude object": lambda: YES_NO.privatize_one(Rude()),
    "a rude number": lambda: TEN.privatize_one(Rude()),
    "rude numbers": lambda: TEN.privatize([1, Rude()]),
    "counts in rows": lambda: dn.DiscreteLaplace(1.0).release([[1], [NUMBER, 2]]),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_exception_quotes_a_value(name: str) -> None:
    with pytest.raises(dn.DeniableError) as refused:
        CALLS[name]()
    error: BaseException | None = refused.value
    while error is not None:  # a traceback prints what it was raised from, too
        assert not quotes(str(error)), error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
