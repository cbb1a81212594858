"""A mechanism's spec makes it again, and what was made under another spec is refused."""

from __future__ import annotations

from typing import Any

from deniable.core.domain import Domain
from deniable.core.errors import EmptySummary, FingerprintMismatch, SimulatedReport
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import from_spec, make
from deniable.mechanisms.response.randomized_response import RandomizedResponse
from deniable.testing.expectations import refused, require, require_equal


def given(m: Mechanism) -> dict[str, Any]:
    """What a mechanism is made with besides its domain and epsilon."""
    return {name: value for name, value in m.spec.parameters.items() if name != "epsilon"}


def check_spec_makes_the_same_mechanism(m: Mechanism) -> None:
    """The JSON of the spec makes an equal mechanism with the same fingerprint."""
    again = from_spec(m.spec.to_json(), known=[type(m)])
    require_equal(again, m, "the mechanism that the spec makes")
    require_equal(again.fingerprint, m.fingerprint, "the fingerprint of the mechanism that the spec makes")


def check_labels_survive_the_spec(m: Mechanism) -> None:
    """Labels of any script survive the spec."""
    labels = Domain.categories([f"ü漢{i}" for i in range(m.k)])
    check_spec_makes_the_same_mechanism(make(type(m), labels, m.epsilon, **given(m)))


def check_no_values_make_no_reports(m: Mechanism) -> None:
    """No values make no reports, whose summary is empty and has no estimate."""
    empty = m.summarize(m.privatize([]))
    require_equal(empty, m.empty_summary(), "the summary of no reports")
    with refused(EmptySummary, what="an estimate from no reports"):
        m.estimate(empty)


def check_seeded_reports_are_marked(m: Mechanism) -> None:
    """Reports with a seed are the same each time, marked as simulated, and cannot be sent; fresh ones differ."""
    values = [m.domain.label(0), m.domain.label(1), m.domain.label(1)]
    reports = m.privatize(values, seed=7)
    require(reports.simulated and m.summarize(reports).simulated, "seeded reports must be marked as simulated")
    require_equal(reports, m.privatize(values, seed=7), "a batch with the same seed")
    with refused(SimulatedReport, what="sending a simulated report"):
        m.encode(reports[0])
    fresh = m.privatize(values[:1] * 1000)
    require(fresh != m.privatize(values[:1] * 1000), "fresh reports must differ from call to call")
    require(not fresh.simulated, "fresh reports must not be marked as simulated")


def check_what_belongs_to_another_spec_is_refused(m: Mechanism) -> None:
    """Reports and summaries of another spec are refused wherever they are given."""
    other = RandomizedResponse(Domain.of(m.k + 1), 1.0)
    foreign = other.privatize([0, 1])
    for use in (m.summarize, lambda reports: m.encode(reports[0]), lambda reports: m.probability(reports[0], 0)):
        with refused(FingerprintMismatch, what="a report of another spec"):
            use(foreign)
    with refused(FingerprintMismatch, what="a summary of another spec"):
        m.estimate(other.summarize(foreign))
    with refused(FingerprintMismatch, what="the sum of summaries of two specs"):
        _ = m.summarize(m.privatize([m.domain.label(0)])) + other.summarize(foreign)
