"""Values in, indices out: from any container, with catch-all categories or a clear refusal."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dn
from deniable.core.domain import Domain

COLOURS = Domain.categories(["red", "green", "blue"])
CODES = Domain.categories([200, 404, 500])
AGES = Domain.integers(18, 99)
OPEN = Domain.categories(["red", "green"], other=True, no_answer="-")
GAPS = Domain.integers(1, 5, other=True, no_answer=True)


@pytest.mark.parametrize(
    "values",
    [
        ["blue", "red", "red"],
        ("blue", "red", "red"),
        np.array(["blue", "red", "red"]),
        np.array(["blue", "red", "red"], object),
        pd.Series(["blue", "red", "red"]),
        pd.Series(["blue", "red", "red"], dtype="category"),
        pa.array(["blue", "red", "red"]),
        pa.chunked_array([["blue"], ["red", "red"]]),
        pa.array(["blue", "red", "red"], pa.large_string()),
        pa.array(["blue", "red", "red"], pa.string_view()),
        pa.array(["blue", "red", "red"]).dictionary_encode(),
        np.ma.array(["blue", "red", "red"]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_labels_are_found_in_any_container(values: object) -> None:
    assert COLOURS.indices(values).tolist() == [2, 0, 0]
    assert COLOURS.indices(values).dtype == np.int64


@pytest.mark.parametrize(
    "values",
    [
        [99, 18, 20],
        [99.0, 18, np.int16(20)],
        np.array([99, 18, 20], np.uint8),
        np.array([99.0, 18.0, 20.0]),
        pd.Series([99, 18, 20]),
        pd.Series([99, 18, 20], dtype="Int64"),
        pa.array([99, 18, 20], pa.int16()),
    ],
    ids=lambda values: type(values).__name__,
)
def test_integers_are_found_in_any_container(values: object) -> None:
    assert AGES.indices(values).tolist() == [81, 0, 2]


def test_whole_number_labels_are_found_but_not_their_look_alikes() -> None:
    assert CODES.indices([404, 200]).tolist() == [1, 0]
    assert CODES.indices(pa.array([404, 200], pa.int16())).tolist() == [1, 0]
    assert CODES.index(np.int64(500)) == 2
    for look_alike in ("404", 404.5, True, [404]):
        with pytest.raises(dn.ValueOutsideDomain):
            CODES.index(look_alike)


def test_catch_all_categories_come_after_the_listed_ones() -> None:
    assert OPEN.k == 4
    assert OPEN.all_labels() == ["red", "green", "(other)", "-"]
    assert OPEN.indices(["green", "mauve", None, float("nan"), "-"]).tolist() == [1, 2, 3, 3, 3]
    assert OPEN.indices(pa.array(["green", "mauve", None])).tolist() == [1, 2, 3]
    assert OPEN.indices(pa.nulls(2)).tolist() == [3, 3]
    assert GAPS.indices(pa.nulls(2)).tolist() == [6, 6]
    assert GAPS.indices([1, 7, None]).tolist() == [0, 5, 6]
    assert GAPS.indices(np.array([1.0, 7.0, np.nan, 2.5])).tolist() == [0, 5, 6, 5]
    assert GAPS.indices(pd.Series([1, None, 9], dtype="Int64")).tolist() == [0, 6, 5]
    assert GAPS.indices(pa.array([1, None, 9])).tolist() == [0, 6, 5]


@pytest.mark.parametrize("domain", [COLOURS, CODES, AGES, OPEN, GAPS], ids=lambda domain: domain.kind)
def test_a_batch_finds_what_single_values_find(domain: Domain) -> None:
    values = [*domain.all_labels()]
    assert domain.indices(values).tolist() == [domain.index(value) for value in values] == list(range(domain.k))
    assert [domain.label(i) for i in range(domain.k)] == values


def test_a_refusal_names_position_and_rule_and_not_the_value() -> None:
    with pytest.raises(
        dn.ValueOutsideDomain,
        match=r"value at position 1 must be one of the 3 labels \(red, green, blue\), got a value of type str. The",
    ):
        COLOURS.indices(["red", "mauve"])
    with pytest.raises(
        dn.ValueOutsideDomain,
        match=r"value at position 2 must be a whole number from 18 to 99, got a value of type int. The",
    ):
        AGES.indices(np.array([18, 19, 17]))
    with pytest.raises(dn.ValueOutsideDomain, match='no "no answer" category'):
        COLOURS.indices(pa.array(["red", None]))


def test_a_domain_survives_its_document() -> None:
    for domain in (COLOURS, CODES, AGES, OPEN, GAPS):
        assert Domain.from_dict(domain.to_dict()) == domain


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"kind": "open"},
        {"kind": "integers", "low": 0},
        {"kind": "integers", "low": 0, "high": 3, "step": 2},
        {"kind": "categories"},
        {"kind": "categories", "labels": "abc"},
        {"kind": "categories", "labels": {"a": 0, "b": 1}},
        {"kind": "categories", "labels": None},
    ],
)
def test_an_unknown_document_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(dn.SpecError):
        Domain.from_dict(document)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Domain.categories(["a", "b"], other="a"),
        lambda: Domain.categories(["a", "b"], other="x", no_answer="x"),
        lambda: Domain.integers(5, 4),
        lambda: Domain.integers(0.5, 4),  # type: ignore[arg-type]
        lambda: Domain.integers(0, 2**60),
        lambda: Domain.categories([]),
        lambda: Domain.categories([True, 0]),
        lambda: Domain.categories([2**60, 1]),
        lambda: Domain.categories([2**53, 1]),
        lambda: Domain.integers(2**53 - 9, 2**53),
        lambda: Domain.integers(-(2**53), 9 - 2**53),
        lambda: Domain.categories(7),  # type: ignore[arg-type]
        lambda: Domain.categories({"a", "b"}),
        lambda: Domain.of(frozenset({"a", "b"})),
        lambda: Domain.categories(np.array(7)),
        lambda: Domain.categories(np.array([["a", "b"]])),
        lambda: Domain.categories(np.array([1, 2], "M8[ns]")),
        lambda: dn.mechanism("grr", labels=5, epsilon=1.0),  # type: ignore[arg-type]
        lambda: dn.mechanism("grr", labels={"a", "b"}, epsilon=1.0),
    ],
)
def test_an_impossible_domain_is_refused(make: object) -> None:
    with pytest.raises(dn.InvalidArgument):
        make()  # type: ignore[operator]


def test_one_value_and_a_catch_all_make_a_domain_of_two() -> None:
    assert Domain.categories(["crashed"], other=True).k == 2


def test_the_largest_numbers_of_canonical_json_can_be_in_a_spec() -> None:
    for domain in (Domain.integers(2**53 - 3, 2**53 - 1), Domain.categories([1 - 2**53, 2**53 - 1])):
        mechanism = dn.mechanism("grr", domain=domain, epsilon=1.0)
        assert dn.from_spec(mechanism.spec.to_json()).domain == domain
        assert domain.indices(domain.all_labels()).tolist() == list(range(domain.k))


def test_numpy_numbers_and_labels_are_stored_as_plain_ones() -> None:
    assert Domain.integers(np.int64(0), np.int64(9)).to_dict() == {"kind": "integers", "low": 0, "high": 9}
    assert type(Domain.integers(np.int64(0), np.int64(9)).to_dict()["high"]) is int
    for labels in (np.array(["yes", "no"]), [np.str_("yes"), "no"], pd.Series(["yes", "no"]), pa.array(["yes", "no"])):
        assert Domain.categories(labels) == Domain.categories(iter(["yes", "no"]))
    codes = Domain.of(np.array([200, 404, 500], np.int16))
    assert codes == CODES
    assert dn.mechanism("grr", domain=codes, epsilon=1.0).spec.to_json()


MIXED = Domain.categories([200, 404], other=True, no_answer=True)
DIGITS = Domain.categories(["1", "404", "true", "2020-01-01"], other=True, no_answer=True)
DAY = dt.date(2020, 1, 1)


@pytest.mark.parametrize("domain", [MIXED, DIGITS, OPEN, GAPS], ids=["numbers", "digits", "words", "range"])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([404, None, 1], pa.int16()),
        pa.array([200, None, 1], pa.uint8()),
        pa.array([2**64 - 404, None, 404], pa.uint64()),
        pa.array([], pa.uint64()),
        pa.array([404.0, None, float("nan"), 2.5]),
        pa.array([2.0, None, float("inf")], pa.float32()),
        pa.array(["404", None, "1", "(other)", "true"]),
        pa.array(["404", None, "1", "(other)", "true"], pa.string_view()),
        pa.array(["red", None, "1"], pa.large_string()).dictionary_encode(),
        pa.array([b"red", None]),
        pa.array([True, None, False]),
        pa.array([DAY, None]),
        pa.array([dt.timedelta(1), None]),
        pa.array([[404], None]),
        pa.array([{"a": 404}, None]),
        pa.array([404, None]).cast(pa.decimal128(20)),
        pa.nulls(3),
        pa.chunked_array([], pa.string()),
        pa.chunked_array([[404], [None, 1]]),
    ],
    ids=lambda column: str(column.type),
)
def test_an_arrow_column_finds_what_its_list_finds(domain: Domain, column: Any) -> None:
    values = column.to_pylist()
    expected = [domain.index(value) for value in values]
    assert domain.indices(column).tolist() == domain.indices(values).tolist() == expected


@pytest.mark.parametrize("domain", [MIXED, DIGITS, OPEN, GAPS], ids=["numbers", "digits", "words", "range"])
@pytest.mark.parametrize(
    "values",
    [
        pd.Series([404, "404", None, 2.5]),
        pd.Series([404, 2.5], dtype=object),
        pd.Series([b"red", "red"]),
        pd.Series([404, "red"], dtype="category"),
        pd.Series(["2020-01-01"], dtype="period[D]"),
        pd.Series(["2020-01-01", None], dtype="datetime64[ns]"),
        pd.array([404, None], dtype="Int64"),
        np.array([404, "x", np.float32(2), np.float32("nan"), np.datetime64("NaT"), [1]], object),
        np.array([404, 200], "m8[ns]"),
        np.array([404, 200], "M8[ns]"),
        np.array([404, 1], complex),
        np.array([404, 3], np.float16),
    ],
    ids=lambda values: str(values.dtype),
)
def test_a_batch_of_odd_values_finds_what_single_ones_find(domain: Domain, values: Any) -> None:
    assert domain.indices(values).tolist() == [domain.index(value) for value in values]


def test_masked_entries_are_missing() -> None:
    mask = [False, True, False]
    assert GAPS.indices(np.ma.array([1, 2, 9], mask=mask)).tolist() == [0, 6, 5]
    assert GAPS.indices(np.ma.array([1.0, 2.0, np.nan], mask=mask)).tolist() == [0, 6, 6]
    assert OPEN.indices(np.ma.array(["red", "red", "mauve"], mask=mask)).tolist() == [0, 3, 2]
    assert OPEN.index(np.ma.masked) == 3
    with pytest.raises(dn.ValueOutsideDomain, match=r"position 1 .* got None"):
        AGES.indices(np.ma.array([18, 19, 20], mask=mask))


def test_narrow_floats_are_missing_or_whole_as_wide_ones_are() -> None:
    assert [GAPS.index(kind("nan")) for kind in (float, np.float16, np.float32, np.longdouble)] == [6] * 4
    assert [GAPS.index(kind(3)) for kind in (float, np.float16, np.float32, np.longdouble)] == [2] * 4
    assert GAPS.index(np.float32(2.5)) == 5
    assert OPEN.index(np.float32("nan")) == 3


def test_a_limit_that_narrow_floats_cannot_hold_is_still_the_limit() -> None:
    wide = Domain.integers(0, 2**24 + 3, other=True)  # single precision would round it to 2^24 + 4
    assert wide.indices(np.array([2**24 + 2, 2**24 + 4], np.float32)).tolist() == [2**24 + 2, wide.k - 1]
    assert Domain.integers(70000, 70009, no_answer=True).indices(np.array([np.nan], np.float16)).tolist() == [10]


@pytest.mark.parametrize("low", [-5, 1000])
@pytest.mark.parametrize("kind", [pa.uint8(), pa.int8(), pa.uint64(), pa.float32(), pa.string(), pa.bool_(), pa.null()])
def test_nulls_are_missing_whatever_the_type_of_the_column_can_hold(low: int, kind: Any) -> None:
    domain = Domain.integers(low, low + 9, other=True, no_answer=True)
    assert domain.indices(pa.nulls(2, kind)).tolist() == [11, 11]
    present = pa.nulls(2) if kind == pa.null() else pa.array([0, 1]).cast(kind)
    column = pa.concat_arrays([pa.nulls(1, kind), present])
    assert domain.indices(column).tolist() == [domain.index(value) for value in column.to_pylist()]


def test_numbers_the_column_type_holds_and_the_domain_does_not_are_outside() -> None:
    below = Domain.integers(-5, 9, other=True)
    assert below.indices(np.array([0, 200], np.uint8)).tolist() == [5, 15]
    assert below.indices(np.array([9, 2**64 - 1, 2**63], np.uint64)).tolist() == [14, 15, 15]


def test_a_generator_of_values_is_read_once() -> None:
    assert OPEN.indices(value for value in ("green", "mauve", None)).tolist() == [1, 2, 3]
    assert GAPS.indices(iter([1, 7])).tolist() == [0, 5]
    with pytest.raises(dn.ValueOutsideDomain, match=r"position 1 .* got a value of type str"):
        COLOURS.indices(value for value in ("red", "mauve"))


def test_a_list_of_lists_is_not_looked_into() -> None:
    assert GAPS.indices([[1], [2]]).tolist() == [5, 5]
    with pytest.raises(dn.ValueOutsideDomain, match="got a value of type list"):
        AGES.indices([[1, 2], [3, 4]])


def test_only_one_column_is_a_batch() -> None:
    for values in (pa.table({"a": [1]}), pd.DataFrame({"a": [1]}), np.ones((2, 2)), "red", 7):
        with pytest.raises(dn.InvalidArgument, match="one-dimensional"):
            GAPS.indices(values)


def test_dates_that_python_lacks_are_refused_by_type() -> None:
    with pytest.raises(dn.InvalidArgument, match=r"values must be text or numbers, got 'date32"):
        GAPS.indices(pa.array([2**31 - 1], pa.int32()).cast(pa.date32()))


def test_the_value_is_looked_at_only_to_be_refused() -> None:
    class Column(list[str]):
        def __getitem__(self, place: Any) -> Any:
            raise AssertionError("nobody asked for one value")

    assert OPEN.indices(Column(["red", "mauve"])).tolist() == [0, 2]


def test_a_refusal_carries_the_value_as_python_writes_it_and_names_its_type() -> None:
    for values in (pa.array(["red", "mauve"]), pd.Series(["red", "mauve"]), np.array(["red", "mauve"])):
        with pytest.raises(dn.ValueOutsideDomain, match=r"position 1 .* got a value of type str\. ") as refused:
            COLOURS.indices(values)
        assert refused.value.value == "mauve"
        assert "mauve" not in repr(refused.value)
    for values in (pa.array([20, 7]), pa.chunked_array([[20], [7]]), np.array([20, 7], np.int8)):
        with pytest.raises(dn.ValueOutsideDomain, match=r"position 1 .* got a value of type int\. ") as refused:
            AGES.indices(values)
        assert refused.value.value == 7
        assert type(refused.value.value) is int


def test_a_domain_survives_pickling() -> None:
    for domain in (COLOURS, CODES, AGES, OPEN, GAPS):
        assert pickle.loads(pickle.dumps(domain)) == domain
