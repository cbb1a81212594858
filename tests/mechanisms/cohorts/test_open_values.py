"""Open domains: any string is a value, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dn


def containers() -> dict[str, Any]:
    values = ["a", "naïve", "", "a", "漢字"]
    found: dict[str, Any] = {
        "list": values,
        "tuple": tuple(values),
        "generator": (value for value in values),
        "bytes": [value.encode() for value in values],
        "both": ["a", "naïve".encode(), "", b"a", "漢字"],
        "numpy": np.array(values),
        "numpy objects": np.array(values, object),
        "arrow": pa.array(values),
        "arrow chunks": pa.chunked_array([values[:2], values[2:]]),
        "arrow large": pa.array(values, pa.large_string()),
        "arrow view": pa.array(values, pa.string_view()),
        "arrow dictionary": pa.array(values).dictionary_encode(),
        "arrow binary": pa.array([value.encode() for value in values], pa.binary()),
        "arrow large binary": pa.array([value.encode() for value in values], pa.large_binary()),
    }
    encoded = [value.encode() for value in values]
    found |= {"pandas": pd.Series(values), "pandas binary": pd.Series(encoded)}
    return found | {"stream": Stream(values), "stream binary": Stream(encoded)}


class Stream:
    """A column that is known by its Arrow stream only, as polars offers it."""

    def __init__(self, values: list[Any]) -> None:
        self.column = pa.chunked_array([values])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.column.__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.column.to_pylist())

    def __len__(self) -> int:
        return len(self.column)


@pytest.mark.parametrize("name", list(containers()))
def test_any_container_of_strings_or_bytes_is_read(name: str) -> None:
    domain = dn.Domain.open()
    wanted = [domain.index(value) for value in ("a", "naïve", "", "a", "漢字")]
    assert domain.indices(containers()[name]).tolist() == wanted


def test_numpy_bytes_are_read_like_others() -> None:
    domain = dn.Domain.open()
    assert domain.indices(np.array([b"a", b"bc"])).tolist() == [domain.index("a"), domain.index("bc")]


BAD = [3, 1.5, True, "x" * 257, b"x" * 257, "\ud800", ("a",), bytearray(b"a"), object()]


@pytest.mark.parametrize("value", BAD, ids=lambda value: type(value).__name__)
def test_what_is_no_string_or_too_long_is_refused_or_other(value: object) -> None:
    plain, tolerant = dn.Domain.open(), dn.Domain.open(other=True)
    with pytest.raises(dn.ValueOutsideDomain, match=r'of at most 256 bytes, got .*The domain has no "other" category'):
        plain.index(value)
    with pytest.raises(dn.ValueOutsideDomain, match="position 1 must be a string, or bytes, of at most 256 bytes"):
        plain.indices(["a", value])
    assert tolerant.index(value) == tolerant.index("(other)")
    assert tolerant.indices(["a", value])[1] == tolerant.index("(other)")


def test_lengths_count_bytes_not_characters() -> None:
    domain = dn.Domain.open(max_bytes=4)
    assert domain.index("🦜") == domain.index("🦜".encode())
    with pytest.raises(dn.ValueOutsideDomain):
        domain.index("🦜!")


@pytest.mark.parametrize("value", [None, float("nan"), np.nan], ids=str)
def test_missing_values_are_refused_or_no_answer(value: object) -> None:
    plain, tolerant = dn.Domain.open(), dn.Domain.open(no_answer=True)
    with pytest.raises(dn.ValueOutsideDomain, match="no answer"):
        plain.index(value)
    with pytest.raises(dn.ValueOutsideDomain, match="position 2"):
        plain.indices(["a", "b", value])
    assert tolerant.index(value) == tolerant.index("(no answer)")
    assert tolerant.indices(["a", value])[1] == tolerant.index("(no answer)")
    assert tolerant.indices(pa.array(["a", None]))[1] == tolerant.index("(no answer)")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"max_bytes": 0}, "max_bytes must be a whole number from 1 to 65536"),
        ({"max_bytes": 65537}, "max_bytes must"),
        ({"key": "x" * 33}, "key must have at most 32 bytes"),
        ({"key": b"x"}, "key must be a string"),
        ({"other": "x", "no_answer": "x"}, "no_answer must differ from other"),
        ({"max_bytes": 2, "other": "rest"}, "other must have at most 2 bytes"),
    ],
    ids=str,
)
def test_domains_that_do_not_exist_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says):
        dn.Domain.open(**arguments)
