"""Inputs that would be misread without a word are read, or refused with the right call."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn

LABELS = ["chrome", "firefox", "safari"]
VALUES = ["chrome", "safari", "chrome", "firefox"] * 5
MECHANISM = dn.mechanism("grr", labels=LABELS, epsilon=1.0)


class Stream:
    """Anything that exports an Arrow stream, such as a DuckDB relation's."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "stream",
    [
        lambda: pa.table({"b": VALUES}).to_reader(max_chunksize=3),
        lambda: Stream(pa.table({"b": VALUES})),
        lambda: Stream(pa.chunked_array([VALUES[:7], VALUES[7:]])),
        lambda: pa.table({"b": pa.array(VALUES).dictionary_encode()}).to_reader(max_chunksize=6),
        lambda: (value for value in VALUES),
    ],
)
def test_streams_are_read_to_their_end(stream: Any) -> None:
    assert MECHANISM.privatize(stream(), seed=1) == MECHANISM.privatize(VALUES, seed=1)


def test_streams_of_other_types_are_read_too() -> None:
    yes = dn.mechanism("grr", labels=[True, False], epsilon=1.0)
    column = [True, False, True]
    assert yes.privatize(pa.table({"b": column}).to_reader(), seed=1) == yes.privatize(column, seed=1)


def test_a_stream_of_several_columns_is_refused_with_their_names() -> None:
    with pytest.raises(dn.InvalidArgument, match="stream with one column, got 'the columns a, b'"):
        MECHANISM.privatize(pa.table({"a": VALUES, "b": VALUES}).to_reader())


def test_a_table_is_refused_with_what_to_give() -> None:
    with pytest.raises(dn.InvalidArgument, match="Give one of its columns"):
        MECHANISM.privatize(pa.table({"b": VALUES}))


@pytest.mark.parametrize("counts", [Counter({"chrome": 900, "firefox": 100}), {"chrome": 900}])
def test_mappings_are_refused_with_the_right_call(counts: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match=r"one value per person.*dn\.simulate\(mechanism, counts\)"):
        MECHANISM.privatize(counts)
    with pytest.raises(dn.InvalidArgument, match="one value per person"):
        dn.HeavyHitters.new(epsilon=2.0, max_bytes=4).privatize(counts)


def test_counts_by_value_can_be_simulated() -> None:
    counts = Counter({"safari": 30, "chrome": 900})
    assert dn.simulate(MECHANISM, counts, seed=3) == dn.simulate(MECHANISM, [900, 0, 30], seed=3)
    with_other = dn.mechanism("grr", domain=dn.Domain.categories(LABELS, other=True), epsilon=1.0)
    found = dn.simulate(with_other, {"opera": 2, "lynx": 3, "chrome": 1}, seed=3)
    assert found == dn.simulate(with_other, [1, 0, 0, 5], seed=3)
    with pytest.raises(dn.ValueOutsideDomain):
        dn.simulate(MECHANISM, {"opera": 2})


def test_counts_by_string_can_be_simulated() -> None:
    words = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=2.0)
    expected = dn.simulate(words, [5, 7], seed=2, candidates=["a", "b"])
    assert dn.simulate(words, {"a": 5, "b": 7}, seed=2) == expected
    with pytest.raises(dn.InvalidArgument, match="The counts name the strings"):
        dn.simulate(words, {"a": 5}, candidates=["a"])


def test_reports_are_summarized_from_tables_and_streams() -> None:
    reports = MECHANISM.privatize(VALUES, seed=1)
    table = reports.to_arrow()
    for source in (table, table.to_reader(max_chunksize=4), Stream(table)):
        assert MECHANISM.summarize(source) == MECHANISM.summarize(reports)


@pytest.mark.parametrize("values", [VALUES, np.array(VALUES), pa.array(VALUES)])
def test_values_in_place_of_reports_are_recognised(values: Any) -> None:
    with pytest.raises(dn.MalformedReport, match="If these are values, privatize them first"):
        MECHANISM.summarize(values)
    with pytest.raises(dn.InvalidArgument, match="If these are values, privatize them first"):
        MECHANISM.estimate(values)


def test_a_large_epsilon_is_warned_of_once_with_its_meaning() -> None:
    with pytest.warns(
        dn.WeakPrivacy, match=r"epsilon 10 protects little: .* right in up to 99\.\d+% of cases"
    ) as caught:
        made = dn.mechanism("grr", k=4, epsilon=10.0)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert f"{float(made.reconstruction_rate()):.2%}" in str(caught[0].message)
    with pytest.warns(dn.WeakPrivacy, match="one string 2.2e"):
        dn.mechanism("orr", domain=dn.Domain.open(), epsilon=10.0)
    with pytest.warns(dn.WeakPrivacy, match="odds"):
        dn.DiscreteLaplace(9.0).release([1, 2])


def test_an_epsilon_of_eight_and_a_known_spec_draw_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = dn.mechanism("grr", k=4, epsilon=8.0).spec
        dn.from_spec(spec)
        dn.from_spec(dn.RandomizedResponse(4, 12.0).spec)
