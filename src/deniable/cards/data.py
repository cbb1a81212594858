"""Cards of what is stored and sent: specs, reports, summaries, and the guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.cards.markup import Html, card, facts, shortened
from deniable.core.display import SIMULATED, described

if TYPE_CHECKING:
    from deniable.core.guarantee import Guarantee
    from deniable.core.reports import Reports
    from deniable.core.spec import Spec
    from deniable.core.summary import Summary


def guarantee_card(guarantee: Guarantee) -> str:
    """What the mechanism promises, with the exact ratio."""
    promise = f"epsilon {guarantee.epsilon!r}"
    lines = [
        ("largest ratio", f"{guarantee.shown_ratio} <= e^{guarantee.requested!r}"),
        ("requested", f"epsilon {guarantee.requested!r}"),
        ("slack", f"{guarantee.slack:.3g}"),
    ]
    note = "The largest ratio of the probabilities of one report under two values, from the integers that run."
    return card("Guarantee", promise, facts(lines), notes=[note])


def spec_card(spec: Spec) -> str:
    """What client and server have agreed on."""
    return card("Spec", f"{spec.mechanism}, version {spec.version}", spec_facts(spec))


def spec_facts(spec: Spec, *more: tuple[str, object]) -> Html:
    """The domain, parameters and fingerprint of a spec, with other facts between."""
    parameters = ", ".join(f"{name} {shortened(value)}" for name, value in spec.parameters.items())
    domain = ("domain", described(spec.domain.to_dict()))
    return facts([domain, ("parameters", parameters), *more, ("fingerprint", spec.fingerprint)])


def reports_card(reports: Reports) -> str:
    """How many reports there are, and of which spec."""
    width = reports.data[0].size if len(reports) else 1
    numbers = "1 number" if width == 1 else f"{width:,} numbers"
    kept = f"{numbers} each ({reports.data.dtype}), {reports.data.nbytes:,} bytes in memory"
    return _batch("Reports", f"{len(reports):,} reports", kept, reports)


def summary_card(summary: Summary) -> str:
    """How many reports were counted, and of which spec."""
    return _batch("Summary", f"{summary.n:,} reports counted", f"{len(summary.counts):,} cells", summary)


def _batch(kind: str, title: str, kept: str, batch: Reports | Summary) -> str:
    lines = facts([("kept", kept), ("fingerprint", batch.fingerprint)])
    return card(kind, title, lines, notes=[SIMULATED] if batch.simulated else [])
