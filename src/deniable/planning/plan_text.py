"""A plan as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from deniable.core.domain.open import Open

if TYPE_CHECKING:
    from deniable.planning.answer import Plan
    from deniable.planning.reasons import RunnerUp

_WIDTH = 11


def as_text(plan: Plan) -> str:
    """The lines that `print` shows."""
    return "\n".join([_heading(plan), *_facts(plan), "", *_picture(plan), "", *_others(plan), *_notes(plan)]).rstrip()


def percent(share: float) -> str:
    """A share with three digits: 1.67%, 0.0187%, 45.5%."""
    return f"{100 * share:.3g}%" if share < 10 else f"{share:.3g} times all users"


def _heading(plan: Plan) -> str:
    kind = "candidates" if isinstance(plan.mechanism.domain, Open) else "values"
    return (
        f"{plan.mechanism.name}: {plan.values:,} {kind}, epsilon {plan.epsilon:g}, {plan.n:,} users, "
        f"{plan.bits:,} bits per report"
    )


def _facts(plan: Plan) -> Iterator[str]:
    yield _line("because", f"{plan.why}")
    answers = {
        "users": f"{plan.n:,}{_several(plan)}",
        "epsilon": f"{plan.epsilon:g}",
        "margin": f"{percent(plan.margin)} for a rare value ({plan.level:.0%} interval, half its width)",
    }
    yield _line(plan.found, answers[plan.found])
    yield _line(
        "visible",
        f"from a share of {percent(plan.visible)} on, for a value named in advance; "
        f"{percent(plan.visible_any)} for any of all (power {plan.power:.0%})",
    )
    if plan.top:
        top = plan.top
        yield _line(
            "top",
            f"{top['expected']:.1f} of the first {top['top']} expected for shares 1/rank^{top['zipf']:g}; all of them "
            f"with probability {plan.level:.0%} from {top['users_for_all']:,} users",
        )
    yield _line("attack", f"the best guess from one report is right in {percent(plan.attack)} of cases")
    if plan.suspicion:
        risk = plan.suspicion
        yield _line(
            "suspicion",
            f"of {percent(risk['before'])} becomes at most {percent(risk['after'])}, and of 50% at most "
            f"{percent(risk['half_becomes'])}",
        )
    if plan.spent < 0.99 * plan.epsilon:
        yield _line("spent", f"only {plan.spent:.3g} of epsilon {plan.epsilon:g}")


def _several(plan: Plan) -> str:
    users = plan.users
    if "rare" in users:
        return f" for a rare value ({users['worst']:,} at the worst frequency, {users['all']:,} for all values at once)"
    return f" for a value named in advance ({users['any']:,} for any of all)" if users else ""


def _picture(plan: Plan) -> Iterator[str]:
    yield f"  {'share of a value':<18}{'margin':>10}{'all at once':>14}"
    for row in plan.expect:
        name = "worst" if row.worst else "rare" if row.share == 0 else percent(row.share)
        yield f"  {name:<18}{percent(row.margin):>10}{percent(row.margin_all):>14}"


def _others(plan: Plan) -> Iterator[str]:
    if plan.runners_up:
        yield f"Instead of {plan.mechanism.name}:"
    for other in plan.runners_up:
        yield f"  {other.mechanism}: {other.reason}{_needed(plan, other)}"


def _needed(plan: Plan, other: RunnerUp) -> str:
    if other.needed is None:
        return ""
    return f" ({other.needed:,} users)" if plan.found == "users" else f" (epsilon {other.needed:g})"


def _notes(plan: Plan) -> Iterator[str]:
    if plan.notes:
        yield ""
    yield from plan.notes


def _line(name: str, text: str) -> str:
    return f"  {name:<{_WIDTH}}{text}"
