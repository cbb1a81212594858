"""A plan as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from deniable.core.display import at_most
from deniable.core.display import share_of_users as percent
from deniable.core.domain.open import Open
from deniable.core.limits import setup_text

if TYPE_CHECKING:
    from deniable.auditing.attacks.poisoning import Poisoning
    from deniable.planning.answer import Plan
    from deniable.planning.reasons import RunnerUp

_WIDTH = 11


def as_text(plan: Plan) -> str:
    """The lines that `print` shows."""
    lines = [heading(plan), *(f"  {name:<{_WIDTH}}{text}" for name, text in facts(plan)), ""]
    lines += [f"  {name:<18}{margin:>10}{together:>14}" for name, margin, together in picture(plan)]
    lines += ["", *([f"Instead of {plan.mechanism.name}:"] if plan.runners_up else [])]
    lines += [f"  {name}: {reason}" for name, reason in others(plan)]
    return "\n".join([*lines, *(["", *plan.notes] if plan.notes else [])]).rstrip()


def heading(plan: Plan) -> str:
    """The mechanism and the numbers of the question, in one line."""
    kind = "candidates" if isinstance(plan.mechanism.domain, Open) else "values"
    return (
        f"{plan.mechanism.name}: {plan.values:,} {kind}, epsilon {plan.epsilon:g}, {plan.n:,} users, "
        f"{plan.bits:,} bits per report"
    )


def facts(plan: Plan) -> Iterator[tuple[str, str]]:
    """Names and what the plan says of each."""
    yield "because", plan.why
    answers = {
        "users": f"{plan.n:,}{_several(plan)}",
        "epsilon": f"{plan.epsilon:g}",
        "margin": f"{percent(plan.margin)} for a rare value ({plan.level:.0%} interval, half its width)",
    }
    yield plan.found, answers[plan.found]
    named, any_ = percent(plan.visible), percent(plan.visible_any)
    power = f"(power {plan.power:.0%})"
    yield "visible", f"from a share of {named} on, for a value named in advance; {any_} for any of all {power}"
    if plan.top:
        top = plan.top
        expected = f"{top['expected']:.1f} of the first {top['top']} expected for shares 1/rank^{top['zipf']:g}"
        yield "top", f"{expected}; all of them with probability {plan.level:.0%} from {top['users_for_all']:,} users"
    yield "memory", str(plan.mechanism.memory())
    yield "setup", setup_text(plan.mechanism.setup_seconds)
    yield "attack", f"the best guess from one report is right in {percent(plan.attack)} of cases"
    if plan.suspicion:
        risk = plan.suspicion
        before, after, half = (percent(risk[name]) for name in ("before", "after", "half_becomes"))
        yield "suspicion", f"of {before} becomes at most {after}, and of 50% at most {half}"
    if plan.poisoning is not None:
        yield "liars", _liars(plan.poisoning)
    if plan.amplification is not None:
        found = plan.amplification
        hidden = f"among {found.honest:,} honest reports, by: {found.bound}"
        yield "shuffled", f"epsilon {at_most(found.epsilon)}, delta {at_most(found.delta)} {hidden}"
    if plan.spent < 0.99 * plan.epsilon:
        yield "spent", f"only {plan.spent:.3g} of epsilon {plan.epsilon:g}"


def _liars(found: Poisoning) -> str:
    from deniable.auditing.attacks.poisoning import shift_shown

    many = f"{len(found.targets):,} values" if len(found.targets) > 1 else "one value"
    share = found.visible
    seen = f"; the pair detector sees {percent(share)} of them" if share is not None and share < 1 else ""
    return f"{percent(found.liars)} of users, lying together, add {shift_shown(found)} to {many}{seen}"


def _several(plan: Plan) -> str:
    users = plan.users
    if "rare" in users:
        return f" for a rare value ({users['worst']:,} at the worst frequency, {users['all']:,} for all values at once)"
    return f" for a value named in advance ({users['any']:,} for any of all)" if users else ""


def picture(plan: Plan) -> list[tuple[str, str, str]]:
    """The margins to expect, by the share of a value: headings, then rows."""
    rows = [("share of a value", "margin", "all at once")]
    for row in plan.expect:
        name = "worst" if row.worst else "rare" if row.share == 0 else percent(row.share)
        rows.append((name, percent(row.margin), percent(row.margin_all)))
    return rows


def others(plan: Plan) -> list[tuple[str, str]]:
    """The runners-up, each with its reason."""
    return [(other.mechanism, f"{other.reason}{_needed(plan, other)}") for other in plan.runners_up]


def _needed(plan: Plan, other: RunnerUp) -> str:
    if other.needed is None:
        return ""
    return f" ({other.needed:,} users)" if plan.found == "users" else f" (epsilon {other.needed:g})"
