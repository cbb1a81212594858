"""The public face: names, errors in one line, light imports."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import deniable as dn
from deniable.core import errors
from deniable.mechanisms import catalogue, registry


def test_public_names_are_sorted_and_there() -> None:
    assert dn.__all__ == sorted(dn.__all__)
    assert all(hasattr(dn, name) for name in dn.__all__)
    assert errors.__all__ == sorted(errors.__all__)
    assert set(errors.__all__) <= set(dn.__all__)


def test_every_error_is_in_the_drawn_tree_and_of_one_family() -> None:
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), dn.DeniableError)
        assert name in (errors.__doc__ or "")


def test_every_registered_line_is_true_and_its_class_is_public() -> None:
    for name, version, _, cls in catalogue.ALL:
        loaded = registry.load_class(cls)
        assert (loaded.name, loaded.version, loaded.__name__) == (name, version, cls)
        assert getattr(dn, cls) is loaded
        assert cls in dn.__all__
    assert dir(dn) == sorted(dn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = dn.Nothing


def test_a_device_loads_its_own_mechanism_only() -> None:
    code = "import deniable as dn, sys; dn.mechanism('grr', k=5, epsilon=1.0)"
    code += "; print(*(name for name in sys.modules if name.startswith('deniable.mechanisms.')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.removeprefix("deniable.mechanisms.") for name in run.stdout.split()}
    assert loaded & set(catalogue.CLASSES.values()) == {"response.randomized_response"}


def loaded_after(code: str) -> set[str]:
    watched = ("numba", "scipy", "pyarrow", "flint", "matplotlib", "altair", "pandas", "rich", "typer")
    code += f"\nimport sys; print(*(name for name in {watched} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import deniable") == set()


def test_a_device_needs_neither_compiler_nor_statistics() -> None:
    make = "import deniable as dn; m = dn.mechanism('grr', k=5, epsilon=1.0)"
    code = make + "; m.encode(m.privatize_one(3)); m.privatize([1])"
    assert loaded_after(code) == set()


M = dn.mechanism("grr", labels=["a", "b", "c"], epsilon=1.0)
S = M.summarize([0, 0, 1, 2])

WRONG = [
    (lambda: dn.mechanism("xyz", k=5, epsilon=1.0), "mechanism must be one of "),
    (lambda: dn.mechanism("grr", k=1, epsilon=1.0), "k must be a whole number from 2 to 2147483648, got 1"),
    (lambda: dn.mechanism("grr", k=5, epsilon=-1.0), "epsilon must be positive, got -1.0"),
    (lambda: dn.mechanism("grr", k=5, epsilon=60), "epsilon must be at most 50"),
    (lambda: M.privatize(["a", "d"]), "value at position 1 must be one of the 3 labels"),
    (lambda: M.privatize_one("d"), "value must be one of the 3 labels"),
    (lambda: M.summarize(np.array([3])), "report at position 0 must lie from 0 to 2"),
    (lambda: M.estimate(S, "best"), "method must be one of mle, mixture-reduction, ibu, gls, "),
    (lambda: M.estimate(S, target="world"), "target must be one of users, population, got 'world'"),
    (lambda: M.estimate(M.empty_summary()), "an estimate needs at least one report"),
    (lambda: M.estimate(S).interval(1.5), "level must lie strictly between 0 and 1, got 1.5"),
    (lambda: M.estimate(S).top(0), "count must be a whole number, at least 1, got 0"),
    (lambda: M.estimate(S).plot("picture.bmp"), "path must end in .png, .svg, .pdf or .html, got 'picture.bmp'"),
    (lambda: M.variance(f=2), "f must be a number from 0 to 1, got 2"),
    (lambda: M.variance(n=0), "n must be a whole number, at least 1, got 0"),
    (lambda: M.decode(b"\x03"), "report must lie from 0 to 2"),
    (lambda: M.decode(b""), "report must have 1 bytes, got 0"),
    (lambda: M.encode(0), "encode takes one Report, got int"),
    (lambda: M.encode(M.privatize(["a"], seed=1)[0]), "a report made with a seed protects nobody"),
    (lambda: M.probability(7, "a"), "report at position 0 must lie from 0 to 2"),
    (lambda: dn.simulate(M, [1, 2]), "counts must be 3 whole numbers"),
    (lambda: dn.simulate(M, [1, 2, -3]), "counts must not be negative, got -3"),
    (lambda: dn.simulate(M, [2**60, 0, 0]), "counts must add up to at most"),
    (lambda: dn.simulate(M, [1, 2, 3], seed=-1), "seed must be a whole number, at least 0, got -1"),
    (lambda: dn.from_spec("{}"), 'spec must have the member "deniable": 1'),
    (lambda: dn.Summary.from_bytes(b"hello"), "these bytes are not a summary"),
]


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says[:50] for _, says in WRONG])
def test_a_wrong_call_gives_one_clear_line(call: object, says: str) -> None:
    with pytest.raises(dn.DeniableError) as caught:
        call()  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_guarantee_prints_its_ratio_and_slack() -> None:
    text = str(dn.mechanism("grr", k=1000, epsilon=2.0).guarantee())
    assert "= 7.38905609893063548405" in text
    assert "<= e^2" in text
    assert "slack" in text


def test_an_estimate_prints_sorts_and_converts() -> None:
    estimate = M.estimate(S, "unbiased")
    assert [row.label for row in estimate.top(2)] == ["a", "b"]
    assert estimate.counts == pytest.approx(4 * estimate.frequencies)
    frame = estimate.to_pandas()
    assert list(frame.columns) == ["frequency", "std_error", "low", "high", "users"]
    assert frame.loc["a", "frequency"] == pytest.approx(estimate.frequencies[0])
    assert estimate.to_arrow().schema.metadata[b"deniable.method"] == b"unbiased"
    text = str(estimate)
    assert text.splitlines()[0] == "unbiased (unbiased) from 4 reports, error bars for the users who reported"
    assert text.splitlines()[2].startswith("a ")
    assert "std. error" in text
    promise, seen, trust = text.splitlines()[-3:]
    assert promise.startswith("The 95% intervals hold for all 3 values at once")
    assert seen.startswith("With 4 reports nothing below ")
    assert M.influence is not None
    assert trust.startswith(f"One false report moves a count by up to {M.influence[1]:.3g}; ")
    assert "an unbiased count" in str(M.estimate(S, "mle"))


def test_mixed_catch_alls_convert_to_arrow_as_text() -> None:
    m = dn.mechanism("grr", domain=dn.Domain.integers(1, 3, no_answer=True), epsilon=1.0)
    assert m.estimate(m.summarize([0, 1, 3])).to_arrow().column("label").to_pylist() == ["1", "2", "3", "(no answer)"]


def test_pictures_are_written_and_need_no_network(tmp_path: object) -> None:
    estimate = M.estimate(S)
    for name in ("a.png", "a.svg", "a.html"):
        path = tmp_path / name  # type: ignore[operator]
        estimate.plot(path)
        assert path.stat().st_size > 1000
    page = path.read_text()
    assert 'src="http' not in page
    assert "@import" not in page
