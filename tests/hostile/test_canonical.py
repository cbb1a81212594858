"""What is not written as we write it is refused, and every damaged object raises the documented error."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn

M = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
HH = dn.HeavyHitters.new(epsilon=2.0, max_bytes=4)
RELEASE = dn.DiscreteLaplace(1.0).release([12, 0, 3])
TABLE = M.privatize(["yes", "no"]).to_arrow()
METADATA = TABLE.schema.metadata
LARGE = 10**7


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def replaced(data: bytes, at: int, byte: int) -> bytes:
    """The bytes of a summary with one other byte and the right checksum."""
    return sealed(data[:at] + bytes([byte]) + data[at + 1 : -32])


def spec(**members: Any) -> str:
    return json.dumps({**M.spec.to_dict(), **members})


def hitters(**members: Any) -> str:
    return json.dumps({**HH.to_dict(), **members})


def release(**members: Any) -> Any:
    return dn.Release.from_json(json.dumps({**json.loads(RELEASE.to_json()), **members}))


def reports(columns: dict[str, Any] | list[Any], names: list[str] | None = None) -> Any:
    table = pa.table(columns) if names is None else pa.Table.from_arrays(columns, names=names)
    return table.replace_schema_metadata(METADATA)


def noisy(column: Any = None, **metadata: bytes) -> Any:
    table = RELEASE.to_arrow()
    made = table if column is None else pa.table({"count": column})
    changes = {name.encode(): text for name, text in metadata.items()}
    return made.replace_schema_metadata({**table.schema.metadata, **changes})


def nested_blocks(*, lists: bool) -> None:
    """Read blocks so deep in lists that they can be read but not printed; which depths are so depends on the stack."""
    document = {**M.spec.to_dict(), "domain": {"kind": "integers", "low": 0, "high": 9}, "mechanism": "design"}
    before, after = json.dumps({**document, "parameters": {"epsilon": 1, "blocks": 0}}).split('"blocks": 0')
    for depth in range(500, 1000, 3):
        blocks: Any = []
        for _ in range(depth):
            blocks = [blocks]
        given = f'{before}"blocks": {"[" * depth}{"]" * depth}{after}'
        try:
            dn.from_spec({**document, "parameters": {"epsilon": 1, "blocks": blocks}} if lists else given)
        except dn.DeniableError as error:
            last = error
    raise last


SHE = dn.mechanism("she", k=5, epsilon=1.0)
SPEC_TEXT = M.spec.to_json()
SUMMARY, HITTER_SUMMARY = M.empty_summary().to_bytes(), HH.empty_summary().to_bytes()

REFUSED: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "a byte of a summary that must be zero": (
        dn.MalformedSummary,
        lambda: dn.Summary.from_bytes(replaced(SUMMARY, 7, 5)),
    ),
    "version 0 of a summary": (dn.MalformedSummary, lambda: dn.Summary.from_bytes(replaced(SUMMARY, 5, 0))),
    "version 0 of heavy hitters": (
        dn.MalformedSummary,
        lambda: dn.HitterSummary.from_bytes(replaced(HITTER_SUMMARY, 5, 0)),
    ),
    "another number of levels": (
        dn.MalformedSummary,
        lambda: HH.empty_summary() + dn.HitterSummary.from_bytes(sealed(HITTER_SUMMARY[:6] + b"\0\0" + HH_FINGERPRINT)),
    ),
    "heavy_hitters true": (dn.SpecError, lambda: dn.HeavyHitters.from_json(hitters(heavy_hitters=True))),
    "heavy_hitters 1.0": (dn.SpecError, lambda: dn.HeavyHitters.from_json(hitters(heavy_hitters=1.0))),
    "deniable true": (dn.SpecError, lambda: dn.HeavyHitters.from_json(hitters(deniable=True))),
    "deniable 1.0": (dn.SpecError, lambda: dn.from_spec(spec(deniable=1.0))),
    "a repeated member of heavy hitters": (
        dn.SpecError,
        lambda: dn.HeavyHitters.from_json(hitters()[:-1] + ', "alphabet": null}'),
    ),
    "a repeated member of a release": (
        dn.MalformedReport,
        lambda: dn.Release.from_json(RELEASE.to_json()[:-1] + ', "simulated": true}'),
    ),
    "other null": (dn.SpecError, lambda: dn.from_spec(spec(domain={**M.domain.to_dict(), "other": None}))),
    "no_answer null": (dn.SpecError, lambda: dn.from_spec(spec(domain={**M.domain.to_dict(), "no_answer": None}))),
    "UTF-16": (dn.SpecError, lambda: dn.from_spec(SPEC_TEXT.encode("utf-16"))),
    "UTF-32": (dn.SpecError, lambda: dn.from_spec(SPEC_TEXT.encode("utf-32"))),
    "half a pair in a threshold": (dn.SpecError, lambda: dn.from_spec(spec(thresholds={"\ud800": "1"}))),
    "half a pair in a dict": (dn.SpecError, lambda: dn.from_spec({**M.spec.to_dict(), "thresholds": {"\ud800": "1"}})),
    "half a pair in a parameter": (dn.SpecError, lambda: dn.Spec.from_json(spec(parameters={"\udfff": 1}))),
    "a repeated column": (
        dn.MalformedReport,
        lambda: dn.Reports.from_arrow(reports([TABLE.column(0)] * 2, ["report", "report"])),
    ),
    "a null inside a list": (
        dn.MalformedReport,
        lambda: dn.Reports.from_arrow(reports({"report": pa.array([[1, None]], pa.list_(pa.uint64(), 2))})),
    ),
    "a level that is text": (
        dn.MalformedReport,
        lambda: dn.HitterReports.from_arrow(
            reports({"level": ["a"], "report": pa.array([1], pa.uint32())}).to_batches()[0]
        ),
    ),
    "a level twice": (
        dn.MalformedReport,
        lambda: dn.HitterReports.from_arrow(
            reports([pa.array([0]), pa.array([0]), pa.array([1], pa.uint32())], ["level", "level", "report"])
        ),
    ),
    "deep JSON": (dn.MalformedReport, lambda: dn.Release.from_json("[" * 100_000)),
    "deep metadata": (dn.MalformedReport, lambda: dn.Release.from_arrow(noisy(shape=b"[" * 100_000))),
    "lists in lists": (dn.InvalidArgument, lambda: nested_blocks(lists=True)),
    "lists in lists as text": (dn.SpecError, lambda: nested_blocks(lists=False)),
    "an infinite ratio": (dn.MalformedReport, lambda: release(ratio=float("inf"))),
    "a ratio that is a number": (dn.MalformedReport, lambda: release(ratio=1)),
    "counts that are bytes": (dn.MalformedReport, lambda: dn.Release.from_arrow(noisy(pa.array([b"1", b"2", b"3"])))),
    "a release from a number": (dn.MalformedReport, lambda: dn.Release.from_arrow(5)),
    "a count with an underscore": (dn.MalformedReport, lambda: release(values=["1_0", 1, 2])),
    "a count in other digits": (dn.MalformedReport, lambda: release(values=[" ٣ ", 1, 2])),
    "a count with a zero before it": (dn.MalformedReport, lambda: release(values=["01", 1, 2])),
    "a count of many digits": (dn.MalformedReport, lambda: release(values=["9" * 5000, 1, 2])),
    "a layout that is true": (dn.MalformedReport, lambda: release(**{"deniable.release": True})),
    "a newer layout": (dn.UnsupportedVersion, lambda: release(**{"deniable.release": 2})),
    "an unknown member": (dn.MalformedReport, lambda: release(more=1)),
    "rows of unequal length": (dn.MalformedReport, lambda: M.summarize([[1], [1, 2]])),
    "an empty payload": (dn.MalformedReport, lambda: M.encode(dn.Report((), M.fingerprint))),
    "a list as a payload": (dn.MalformedReport, lambda: M.encode(dn.Report([], M.fingerprint))),  # type: ignore[arg-type]
    "a masked array": (dn.MalformedReport, lambda: M.summarize(np.ma.array([0, 1], mask=[0, 1]))),
    "masked reports": (
        dn.MalformedReport,
        lambda: dn.Reports(np.ma.array(TABLE.column(0).to_numpy(), mask=[0, 1]), M.fingerprint),
    ),
    "masked counts": (dn.InvalidArgument, lambda: dn.Summary(np.ma.array([1, 2], mask=[0, 1]), 3, M.fingerprint)),
    "masked users": (dn.InvalidArgument, lambda: dn.simulate(M, np.ma.array([1, 2], mask=[0, 1]))),
    "users in rows of unequal length": (dn.InvalidArgument, lambda: dn.simulate(M, [[1], [1, 2]])),
    "no reports of heavy hitters": (dn.MalformedReport, lambda: HH.accumulator().add(3)),  # type: ignore[arg-type]
    "no summary of heavy hitters": (dn.InvalidArgument, lambda: HH.accumulator().merge(3)),  # type: ignore[arg-type]
    "no dimension": (dn.MalformedReport, lambda: HH.summarize(np.array(3))),
    "a total that is none": (dn.InvalidArgument, lambda: M.accumulator().merge(3)),
    "a method that is an array": (dn.InvalidArgument, lambda: M.estimate(M.summarize([0, 1]), np.array([1, 2]))),
    "a name of 10 MB": (dn.SpecError, lambda: dn.from_spec(spec(mechanism="x" * LARGE), limits=None)),
    "a kind of 10 MB": (dn.SpecError, lambda: dn.from_spec(spec(domain={"kind": "x" * LARGE}), limits=None)),
    "a member of 10 MB": (dn.SpecError, lambda: dn.from_spec(spec(**{"x" * LARGE: 1}), limits=None)),
    "a mechanism of 10 MB": (dn.InvalidArgument, lambda: dn.mechanism("x" * LARGE, k=5, epsilon=1.0)),
    "a column of 10 MB": (dn.MalformedReport, lambda: dn.Reports.from_arrow(reports({"x" * LARGE: [1]}))),
}
HH_FINGERPRINT = bytes.fromhex(HH.fingerprint)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_by_its_documented_error_in_few_words(name: str) -> None:
    kind, call = REFUSED[name]
    with pytest.raises(kind) as refused:
        call()
    assert isinstance(refused.value, dn.DeniableError)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("shape", [None, -1, 3, [-1], [3.0], ["3"], [True, 3], [2], [1] * 40 + [3]])
def test_a_shape_that_is_not_a_list_of_sizes_is_refused(shape: object) -> None:
    with pytest.raises(dn.MalformedReport, match="damaged"):
        release(shape=shape)


def test_what_is_written_is_read() -> None:
    assert dn.from_spec(b"\xef\xbb\xbf" + SPEC_TEXT.encode()) == M  # as editors of Windows save it
    assert dn.HeavyHitters.from_json(HH.to_json()) == HH
    assert dn.Release.from_json(RELEASE.to_json()) == dn.Release.from_arrow(RELEASE.to_arrow()) == RELEASE
    labels = dn.mechanism("grr", labels=["\U0001f600", "é"], epsilon=1.0)
    assert dn.from_spec(json.dumps(labels.spec.to_dict())) == labels  # escaped as a whole surrogate pair


def test_metadata_of_others_may_be_any_bytes() -> None:
    table = RELEASE.to_arrow()
    more = {**table.schema.metadata, b"\xff": b"\xfe", b"pandas": b"{"}
    assert dn.Release.from_arrow(table.replace_schema_metadata(more)) == RELEASE
    named = TABLE.replace_schema_metadata({**METADATA, b"\xff": b"\xfe"})
    assert len(dn.Reports.from_arrow(named)) == 2


def test_large_sums_of_levels_are_estimated() -> None:
    found = SHE.estimate(dn.Summary(np.ones(5, np.int64), 2**62, SHE.fingerprint), "unbiased")
    assert np.isfinite(found.frequencies).all()


def test_a_module_of_mechanisms_is_imported_by_its_path() -> None:
    import deniable.mechanisms.registry as found

    assert found.from_spec is dn.from_spec
