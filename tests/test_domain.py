"""Values in, indices out: from any container, with catch-all categories or a clear refusal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dn
from deniable.domain import Domain

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
        pa.array(["blue", "red", "red"]).dictionary_encode(),
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


def test_a_refusal_names_value_position_and_rule() -> None:
    with pytest.raises(dn.ValueOutsideDomain, match=r"value at position 1 must be one of the 3 labels .* got 'mauve'"):
        COLOURS.indices(["red", "mauve"])
    with pytest.raises(
        dn.ValueOutsideDomain, match=r"value at position 2 must be a whole number from 18 to 99 .* got 17"
    ):
        AGES.indices(np.array([18, 19, 17]))
    with pytest.raises(dn.ValueOutsideDomain, match='no "no answer" category'):
        COLOURS.indices(pa.array(["red", None]))


def test_a_domain_survives_its_document() -> None:
    for domain in (COLOURS, CODES, AGES, OPEN, GAPS):
        assert Domain.from_dict(domain.to_dict()) == domain


@pytest.mark.parametrize(
    "document",
    [{}, {"kind": "open"}, {"kind": "integers", "low": 0}, {"kind": "integers", "low": 0, "high": 3, "step": 2}],
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
        lambda: Domain.categories([True, False]),
        lambda: Domain.categories([2**60, 1]),
        lambda: Domain.categories(7),  # type: ignore[arg-type]
    ],
)
def test_an_impossible_domain_is_refused(make: object) -> None:
    with pytest.raises(dn.InvalidArgument):
        make()  # type: ignore[operator]


def test_one_value_and_a_catch_all_make_a_domain_of_two() -> None:
    assert Domain.categories(["crashed"], other=True).k == 2
