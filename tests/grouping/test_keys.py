"""Groups of rows: found in columns of keys of any type, the same from every tool."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable.grouping.keys import Coded, NullKey, as_key, column_of, group_columns, keys_of


def groups_of_rows(coded: Coded, rows: int) -> list[Any]:
    codes = [0] * rows if coded.codes is None else coded.codes.tolist()
    return [coded.groups[code] for code in codes]


KEYS = {
    "text": st.text("abc", max_size=2),
    "small": st.integers(-3, 3),
    "wide": st.integers(-(2**63), 2**63 - 1),
    "truth": st.booleans(),
    "date": st.dates(),
}


@given(st.data(), st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=3), st.integers(1, 30))
def test_every_row_is_in_the_group_of_its_keys(data: Any, kinds: list[str], rows: int) -> None:
    columns = [data.draw(st.lists(KEYS[kind], min_size=rows, max_size=rows)) for kind in kinds]
    coded = Coded.of([pa.array(column) for column in columns], [f"c{place}" for place in range(len(kinds))])
    wanted = list(zip(*columns, strict=True))
    assert groups_of_rows(coded, rows) == wanted
    assert len(set(coded.groups)) == len(coded.groups)
    assert dict(zip(coded.groups, coded.sizes.tolist(), strict=True)) == {
        group: wanted.count(group) for group in wanted
    }


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, 1], pa.int8()),
        pa.array([1, 2, 1], pa.uint64()),
        pa.array([1, 2, 1], pa.int64()).dictionary_encode(),
        pa.array([1, 2, 1, 5], pa.int32())[:3],
    ],
    ids=str,
)
def test_numbers_of_every_width_give_the_same_groups(column: Any) -> None:
    assert groups_of_rows(Coded.of([column], ["day"]), 3) == [(1,), (2,), (1,)]


def test_times_with_a_zone_are_in_utc_and_dates_in_milliseconds_are_dates() -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    column = pa.array([noon], pa.timestamp("ms", "Europe/Berlin"))
    assert Coded.of([column], ["hour"]).groups == [(noon,)]
    assert Coded.of([pa.array([date(2026, 1, 31)], pa.date64())], ["day"]).groups == [(date(2026, 1, 31),)]


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1, 2, 2]), pa.array(["a", "a", "b"])),
        pa.array([0, 5, 0, 5, 86_400_007, 86_400_000], pa.int64()).cast(pa.date64(), safe=False),
        pa.array([0, 5, 0, 5, 86_400_007, 86_400_000], pa.int64()).view(pa.date64()),
    ],
    ids=["dictionary", "cast", "times inside a day"],
)
def test_codes_that_mean_the_same_key_are_one_group(column: Any) -> None:
    coded = Coded.of([column], ["day"])
    assert coded.sizes.tolist() == [4, 2]
    assert len(set(coded.groups)) == 2
    assert groups_of_rows(coded, 6)[::2] == groups_of_rows(coded, 6)[1::2]
    both = Coded.of([column, pa.array([1, 1, 1, 1, 1, 2])], ["day", "version"])
    assert both.sizes.tolist() == [4, 1, 1]


def test_a_date_that_python_cannot_hold_is_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="dates and times of the years 1 to 9999"):
        Coded.of([pa.array([2**31 - 1], pa.int32()).view(pa.date32())], ["day"])


def test_a_row_without_a_key_is_in_no_group() -> None:
    with pytest.raises(NullKey, match="'day' has no value at position 1"):
        Coded.of([pa.array(["a", None, "b"])], ["day"])
    hidden = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    with pytest.raises(NullKey, match="position 1"):
        Coded.of([hidden], ["day"])


def test_a_null_that_no_row_has_does_not_matter() -> None:
    spare = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a", None]))
    assert Coded.of([spare], ["day"]).groups == [("a",)]


@pytest.mark.parametrize("column", [pa.array([0.5]), pa.array([[1]]), pa.array([b"x"])], ids=["float", "list", "bytes"])
def test_other_types_are_no_keys(column: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match="by must name columns of text, whole numbers"):
        Coded.of([column], ["day"])


@pytest.mark.parametrize("by", [(), 3, ["a", "a"], ["n"], "summary", [""], None])
def test_wrong_names_of_columns_are_refused(by: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match="by must"):
        group_columns(by)


@given(st.lists(st.one_of(*KEYS.values()), max_size=5))
def test_keys_survive_arrow(keys: list[Any]) -> None:
    if len({type(key) for key in keys}) > 1:
        with pytest.raises(dn.InvalidArgument, match="one kind of key"):
            column_of(keys, "day")
    else:
        assert keys_of(column_of(keys, "day")) == keys


def test_a_number_beyond_64_bits_and_a_fraction_are_no_keys() -> None:
    assert as_key(np.int32(3)) == 3
    for wrong in (2**63, 0.5, b"x", (1,)):
        with pytest.raises(dn.InvalidArgument, match="group must"):
            as_key(wrong)


def test_nanoseconds_that_a_time_cannot_hold_are_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="microseconds"):
        Coded.of([pa.array([1], pa.timestamp("ns"))], ["time"])
