"""The numbers of a plan, from the mechanism that was chosen and its forecast."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from deniable.auditing.amplification.amplify import amplify
from deniable.auditing.amplification.answer import Amplification
from deniable.auditing.attacks.poisoning import Poisoning, poisoning
from deniable.mechanisms.forecasts.choice import TIE
from deniable.mechanisms.forecasts.forecast import Forecast
from deniable.planning.answer import Expectation, Plan
from deniable.planning.goals import Goal, visible_share, whole_users
from deniable.planning.question import Question, suspected
from deniable.planning.ranking import Ranks
from deniable.planning.reasons import runner_up, selected
from deniable.planning.sample_size import users_of

if TYPE_CHECKING:
    from deniable.planning.solving import Choice

SHARES = (0.0, 0.01, 0.1)
_FEW_USERS = 100  # below which the normal approximation is rough
_EXACT_RATE = 2**16  # values up to which the attack rate is computed from the integers that run


def assembled(asked: Question, chosen: Choice, n: int, found: str, needed: Callable[[Forecast], float] | None) -> Plan:
    """Answer with everything that follows from the mechanism, its forecast and the number of users."""
    each, ids, most = chosen.forecast, asked.ids, asked.max_bits
    picked = selected(each, chosen.found, ids=ids, max_bits=most)
    others = tuple(runner_up(other, each, ids=ids, max_bits=most, needed=needed) for other in picked)
    visible = [visible_share(each, n, asked.level, asked.power, values) for values in (1, asked.values)]
    return Plan(
        mechanism=chosen.mechanism,
        found=found,
        values=asked.values,
        epsilon=each.epsilon,
        spent=each.spent,
        n=n,
        level=asked.level,
        power=asked.power,
        bits=each.sent(ids=asked.ids),
        attack=_attack(chosen),
        margin=each.margin(n, level=asked.level),
        visible=visible[0],
        visible_any=visible[1],
        expect=expectations(each, n, asked.level, asked.values),
        why=_why(each, chosen),
        runners_up=others,
        left_out=chosen.left_out,
        users=_users(asked.goal, chosen, asked.values) if found == "users" else {},
        top=_top(asked, each, n),
        suspicion=_suspicion(asked, each),
        notes=_notes(asked, n),
        poisoning=_poisoning(asked, chosen, n),
        amplification=_amplification(asked, chosen, n),
    )


def _poisoning(asked: Question, chosen: Choice, n: int) -> Poisoning | None:
    if asked.others.liars is None or not asked.listed:
        return None
    return poisoning(chosen.mechanism, asked.others.targets, liars=asked.others.liars, n=n)


def _amplification(asked: Question, chosen: Choice, n: int) -> Amplification | None:
    if not asked.others.shuffled:
        return None
    return amplify(chosen.mechanism, n=n, delta=asked.others.delta, liars=asked.others.liars or 0.0)


def expectations(each: Forecast, n: int, level: float, values: int) -> tuple[Expectation, ...]:
    """The margins for a rare value, a few shares, and the share with the largest margin."""
    rows = [
        (share, each.margin(n, share, level=level), each.margin(n, share, level=level, values=values))
        for share in SHARES
    ]
    ends = max((0.0, 1.0), key=each.variance)
    worst = ends, each.margin(n, None, level=level), each.margin(n, None, level=level, values=values)
    return (*(Expectation(*row) for row in rows), Expectation(*worst, worst=True))


def _attack(chosen: Choice) -> float:
    exact = not chosen.forecast.average and chosen.mechanism.k <= _EXACT_RATE
    return float(chosen.mechanism.reconstruction_rate()) if exact else chosen.forecast.attack


def _why(each: Forecast, chosen: Choice) -> str:
    """One sentence on the choice."""
    usable = [other.mean_variance for other in chosen.found]
    least = each.mean_variance <= min(usable) * (1 + 1e-9)
    text = "the least error" if least else "the least error, up to 1%, in the fewest bits"
    if math.sqrt(each.mean_variance / min(usable)) > 1 + 2 * TIE:
        text = "the least error within the limits"
    return f"{text}; the server must know the id of each report" if each.by_id else f"{text}; reports need no id"


def _users(goal: Goal | None, chosen: Choice, values: int) -> dict[str, int]:
    """Users for the goal: for a rare value or a share, for the worst frequency, and for all values at once."""
    assert goal is not None
    if goal.margin is not None:
        kinds = {"rare": (0.0, 1), "worst": (None, 1), "all": (0.0, values)}
        goals = {name: Goal(goal.margin, f=f, level=goal.level, values=v) for name, (f, v) in kinds.items()}
    else:
        sizes = {"one": 1, "any": values}
        goals = {
            name: Goal(detect=goal.detect, level=goal.level, power=goal.power, values=v) for name, v in sizes.items()
        }
    return {name: users_of(one, chosen.mechanism, chosen.forecast) for name, one in goals.items()}


def _top(asked: Question, each: Forecast, n: int) -> dict[str, float]:
    if asked.top is None:
        return {}
    ranks = Ranks.zipf(asked.values, asked.zipf, asked.top)
    users = whole_users(ranks.users(each, asked.top, asked.level), "top", asked.top)
    return {
        "top": asked.top,
        "zipf": asked.zipf,
        "expected": ranks.expected(each, n, asked.top),
        "users_for_all": users,
    }


def _suspicion(asked: Question, each: Forecast) -> dict[str, float]:
    if asked.suspicion is None or asked.at_most is None:
        return {}
    before = asked.suspicion
    return {"before": before, "after": suspected(before, each.spent), "half_becomes": suspected(0.5, each.spent)}


def _notes(asked: Question, n: int) -> tuple[str, ...]:
    notes = []
    if asked.n is None and asked.goal is None:
        notes.append(f"The number of users was not given; the margins are for {n:,}.")
    if n < _FEW_USERS:
        notes.append(f"With fewer than {_FEW_USERS} users the margins, by the normal approximation, are rough.")
    if asked.others.liars is not None and not asked.listed:
        notes.append("What liars gain in an open domain depends on the candidates, and is not computed here.")
    if asked.others.shuffled:
        notes.append("A shuffle hides a person only if nobody can tell who sent which report: see deniable amplify.")
    if not asked.listed:
        notes.append("Errors in an open domain depend on the candidates; these are for as many random strings.")
    return tuple(notes)
