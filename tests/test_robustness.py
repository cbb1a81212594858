"""What goes wrong far from the happy path: other processes, read-only installations, odd objects."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import flint
import numba
import numpy as np
import pytest

import deniable as dn
from deniable.core import errors
from deniable.kernels import cache, compiled

M = dn.mechanism("grr", k=5, epsilon=1.0)
RAISED = [
    dn.InvalidArgument("k", "be positive", -1),
    dn.ValueOutsideDomain("x", "be listed", 3),
    dn.UnsupportedVersion("spec", 2, 1),
    dn.FingerprintMismatch("a summary", "a" * 64, "b" * 64),
    dn.MissingExtra("drawing", "deniable[plots]"),
    *(getattr(dn, name)("why") for name in ("SpecError", "MalformedReport", "MalformedSummary", "SimulatedReport")),
    *(getattr(dn, name)("why") for name in ("CountOverflow", "EmptySummary", "DeniableError")),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_all_it_carries(error: dn.DeniableError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


def test_every_kind_of_error_was_tried() -> None:
    assert {type(error).__name__ for error in RAISED} == set(errors.__all__)


def _privatize_a_wrong_value() -> None:
    M.privatize([99])


def test_a_worker_process_can_raise_an_error() -> None:
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(dn.ValueOutsideDomain, match="position 0 must be a whole number from 0 to 4"),
    ):
        pool.submit(_privatize_a_wrong_value).result(timeout=60)


def test_a_kernel_is_compiled_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    real = numba.njit
    cache._said.cache_clear()

    def without_a_place(function: object, *, cache: bool = False, **options: object) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(function, **options)

    monkeypatch.setattr(numba, "njit", without_a_place)
    with pytest.warns(RuntimeWarning, match="Set NUMBA_CACHE_DIR"):
        assert compiled(lambda x: x + 1)(2) == 3
    assert compiled(lambda x: x + 2)(2) == 4  # warned once per process


def test_what_was_derived_cannot_be_changed() -> None:
    m = pickle.loads(pickle.dumps(M))
    for mapping in (m.thresholds, m.spec.thresholds, m.spec.parameters):
        for change in (
            lambda mapping=mapping: mapping.__setitem__("truth", 2**64 - 1),
            lambda mapping=mapping: mapping.update(truth=1),
            lambda mapping=mapping: mapping.clear(),
            lambda mapping=mapping: mapping.pop("truth", None),
        ):
            with pytest.raises(TypeError, match="frozen"):
                change()


def test_a_summary_has_its_own_counts_and_stays_frozen() -> None:
    counts = np.array([1, 2, 3, 4, 5])
    summary = dn.Summary(counts, 15, M.fingerprint)
    counts[0] = 100
    assert summary.counts[0] == 1
    for again in (summary, pickle.loads(pickle.dumps(summary))):
        with pytest.raises(ValueError, match="read-only"):
            again.counts[0] = 7


def test_counts_whose_sum_wraps_around_are_not_estimated() -> None:
    wrapping = dn.Summary(np.array([2**62, 2**62, 2**62, 2**62, 5]), 5, M.fingerprint)
    assert wrapping.total() == 2**64 + 5
    with pytest.raises(dn.MalformedSummary):
        M.estimate(wrapping)


def test_threads_do_not_disturb_the_precision_of_the_bounds() -> None:
    before, wanted = flint.ctx.prec, dn.mechanism("grr", k=7, epsilon=1.5).guarantee()
    found: list[dn.Guarantee] = []

    def work() -> None:
        found.extend(dn.mechanism("grr", k=7, epsilon=1.5).guarantee() for _ in range(100))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert found == [wanted] * 400
    assert flint.ctx.prec == before


def test_the_printed_epsilon_is_not_rounded() -> None:
    assert "<= e^1.2345649;" in str(dn.mechanism("grr", k=5, epsilon=1.2345649).guarantee())


@pytest.mark.parametrize("target", ["users", "population"])
def test_values_never_seen_have_an_honest_standard_error(target: str) -> None:
    m = dn.mechanism("grr", k=1000, epsilon=1.0)
    estimate = m.estimate(m.summarize(np.arange(100)), "unbiased", target=target)
    assert estimate.std_error.min() >= 0.5 * np.sqrt(m.variance(0.0, 100, target))


def test_extreme_levels_keep_their_digits() -> None:
    m = dn.mechanism("grr", k=1000, epsilon=1.0)
    estimate = m.estimate(m.summarize(np.arange(1000)), "unbiased")
    ends = [estimate.interval(1 - 10.0**-place, exact=True).high[0] for place in range(3, 15)]
    assert ends == sorted(ends)
    assert ends[-1] < 20 * ends[0]


def test_more_power_needs_more_users() -> None:
    needed = [dn.users_needed(M, detect=0.01, power=power) for power in (0.001, 0.01, 0.025, 0.1, 0.5, 0.9)]
    assert needed == sorted(needed)


def test_labels_cannot_run_as_code_in_a_page_nor_break_a_table(tmp_path: Path) -> None:
    from rich.console import Console

    labels = ["</script><script>alert(1)</script>", r"$\nope$", "[/x]", "<!--"]
    m = dn.mechanism("grr", labels=labels, epsilon=1.0)
    estimate = m.estimate(m.summarize([0, 1, 2, 3]))
    for suffix in (".png", ".html"):
        estimate.plot(tmp_path / f"a{suffix}")
    page = (tmp_path / "a.html").read_text()
    assert "<script>alert(1)" not in page
    assert "<!--" not in page.split("<script", 1)[1].replace("<!--\n", "")
    console = Console(record=True, width=200)
    console.print(estimate)
    assert "[/x]" in console.export_text()


def test_forty_thousand_rows_are_listed_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = dn.Estimate.counts.fget
    monkeypatch.setattr(dn.Estimate, "counts", property(lambda self: calls.append(1) or real(self)))
    m = dn.mechanism("grr", k=200, epsilon=1.0)
    assert len(m.estimate(m.summarize(np.arange(200))).rows()) == 200
    assert len(calls) == 1


ODD = [
    lambda: M.decode(1),
    lambda: M.decode("a"),
    lambda: M.decode(None),
    lambda: M.decode_many(b"\x01\x01"),
    lambda: M.encode_many([1]),
    lambda: M.summarize([dn.Report(1.5, M.fingerprint)]),
    lambda: M.summarize([dn.Report("1", M.fingerprint)]),
    lambda: M.summarize([dn.Report(-1, M.fingerprint)]),
    lambda: M.summarize([dn.Report(2**40, M.fingerprint)]),
    lambda: M.summarize([dn.Report((1, 2), M.fingerprint)]),
    lambda: M.summarize([dn.Report(1, M.fingerprint), 3]),
    lambda: M.estimate([1, 2]),
    lambda: M.estimate(None),
    lambda: dn.from_spec(None),
    lambda: dn.from_spec(5),
    lambda: dn.Summary.from_bytes("x"),
    lambda: dn.Summary(np.zeros(5, int), 0, "ab"),
    lambda: dn.Reports([1], M.fingerprint),
    lambda: dn.Reports.from_arrow(None),
    lambda: dn.simulate("grr", [1]),
    lambda: dn.users_needed("grr", margin=0.1),
    lambda: dn.users_needed(M, margin=1e-200),
    lambda: dn.users_needed(M, detect=1e-300),
    lambda: dn.mechanism("grr", k=10**5000, epsilon=1.0),
]


@pytest.mark.parametrize("call", ODD)
def test_an_odd_object_is_refused_in_one_line(call: object) -> None:
    with pytest.raises(dn.DeniableError) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
