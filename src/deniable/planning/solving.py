"""From a question to its answer: forecasts, the choice, and the number that is missing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from deniable.core.display import share_of_users
from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.definition import MAX_EPSILON
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.forecasts.built import forecast
from deniable.mechanisms.forecasts.choice import candidates_for, ordered, same_error
from deniable.mechanisms.forecasts.forecast import Forecast
from deniable.mechanisms.forecasts.formulas import best_design
from deniable.mechanisms.forecasts.hashed import best_open
from deniable.mechanisms.registry import make_first, mechanism
from deniable.planning.answer import Plan
from deniable.planning.assembling import assembled
from deniable.planning.exact_power import MOST
from deniable.planning.goals import Goal, least_epsilon, rounded_users
from deniable.planning.question import Question, suspected
from deniable.planning.sample_size import users_of
from deniable.planning.shuffling import RESPONSE, largest_local
from deniable.planning.timing import client_ns, server_ms
from deniable.planning.verification import zipf_counts
from deniable.simulation import simulate

ASSUMED_USERS = 10_000
_NEAR = 1.005  # epsilons this close to the least are as good
ASSUMED_EPSILON, USUAL_EPSILONS = 1.0, (0.5, 1.0, 2.0, 4.0)
_PARTS = 1000  # an epsilon that was searched for is rounded up to a thousandth


@dataclass(frozen=True)
class Choice:
    """The mechanism that was chosen, its forecast, and all forecasts it was chosen from."""

    mechanism: Mechanism
    forecast: Forecast
    found: list[Forecast]
    left_out: dict[str, str]


def answered(asked: Question) -> Plan:
    """Answer a question."""
    limit, epsilon = asked.most_epsilon, asked.epsilon
    if limit is not None and epsilon is not None and epsilon > limit:
        after = suspected(asked.suspicion or 0.0, epsilon)
        hint = f"At epsilon {epsilon:g} a suspicion of {asked.suspicion:.3g} can become {after:.3g}."
        raise InvalidArgument("epsilon", f"be at most {_down(limit):g} for this suspicion", epsilon, hint)
    if asked.others.central_epsilon is not None:
        return _in_a_shuffle(asked)
    if epsilon is None and asked.goal is not None and asked.n is not None:
        return _with_epsilon(asked, asked.goal, asked.n)
    if epsilon is None and limit is not None:
        epsilon = min(_down(limit), MAX_EPSILON)
        if epsilon <= 0:
            raise InvalidArgument("at_most", "be larger", asked.at_most, "No report would be this uninformative.")
    if epsilon is None:
        return _with_usual_epsilon(asked)
    chosen = _choose(asked, epsilon)
    if asked.n is None and asked.goal is not None:
        n, goal = users_of(asked.goal, chosen.mechanism, chosen.forecast), asked.goal
        exact = goal.detect is not None and n <= MOST  # then the runners-up, by formula, are not comparable
        return assembled(asked, chosen, n, "users", None if exact else lambda each: rounded_users(goal, each))
    if asked.n is not None and asked.goal is not None:
        _check_feasible(asked, asked.goal, asked.n, chosen)
    found = "epsilon" if asked.epsilon is None else "margin"
    return assembled(asked, chosen, asked.n or ASSUMED_USERS, found, None)


def _in_a_shuffle(asked: Question) -> Plan:
    """Find the local epsilon that gives the central one; randomised response, which hides best, is tried as well."""
    central = asked.others.central_epsilon
    assert central is not None
    without = replace(asked, others=replace(asked.others, central_epsilon=None))
    limit = MAX_EPSILON if asked.most_epsilon is None else min(_down(asked.most_epsilon), MAX_EPSILON)
    most = limit if asked.epsilon is None else min(limit, asked.epsilon)
    found = [(largest_local(asked, central, most, partial(_try, without, meets)), meets) for meets in (_any, _response)]
    chosen = [(epsilon, _choose(without, epsilon, meets)) for epsilon, meets in found if epsilon]
    if not chosen:
        raise InvalidArgument("central_epsilon", "be larger", central, "No report would be this uninformative.")
    epsilon, best = min(chosen, key=lambda each: each[1].forecast.mean_variance)
    if asked.epsilon is not None and epsilon < asked.epsilon:
        rule = f"be at most {epsilon:g} for a central epsilon of {central:g}"
        raise InvalidArgument(
            "epsilon", rule, asked.epsilon, f"More than {asked.n:,} users would hide each other better."
        )
    assert asked.n is not None
    if asked.goal is not None:
        _check_feasible(without, asked.goal, asked.n, best)
    return assembled(without, best, asked.n, "epsilon" if asked.epsilon is None else "margin", None)


def _any(_: Forecast) -> bool:
    return True


def _response(each: Forecast) -> bool:
    return each.name == RESPONSE


def _try(asked: Question, meets: Callable[[Forecast], bool], epsilon: float) -> Mechanism | None:
    try:
        return _choose(asked, epsilon, meets).mechanism
    except InvalidArgument:
        return None


def _with_usual_epsilon(asked: Question) -> Plan:
    """Answer for a usual epsilon, and say what others would give."""
    made = answered(replace(asked, epsilon=ASSUMED_EPSILON))
    margins = {epsilon: _order(asked, epsilon)[0][0].margin(made.n, level=asked.level) for epsilon in USUAL_EPSILONS}
    listed = ", ".join(f"{share_of_users(margin)} at epsilon {epsilon:g}" for epsilon, margin in margins.items())
    note = f"Epsilon was not given; this is for {ASSUMED_EPSILON:g}. With {made.n:,} users the margin is {listed}."
    return replace(made, notes=(note, *made.notes))


def _with_epsilon(asked: Question, goal: Goal, n: int) -> Plan:
    """Find the least epsilon, up to half a percent: of the mechanisms that are best near that of the best design."""
    start = least_epsilon(goal, n, lambda epsilon: best_design(asked.values, epsilon))
    order = _order(asked, start)[0]
    tied = [each.name for each in order if each == order[0] or same_error(each.mean_variance, order[0].mean_variance)]

    def needed(name: str) -> float:
        return _up(least_epsilon(goal, n, lambda epsilon: _forecast(asked, name, epsilon), start))

    epsilons = {name: needed(name) for name in tied}
    first = next(name for name in tied if epsilons[name] <= _NEAR * min(epsilons.values()))
    epsilon = epsilons[first]
    if asked.most_epsilon is not None and epsilon > asked.most_epsilon:
        most = _down(asked.most_epsilon)
        users = rounded_users(goal, _order(asked, most)[0][0])
        hint = f"It takes epsilon {epsilon:g} with these users, or {users:,} users at epsilon {most:g}."
        raise InvalidArgument("n", f"be larger for an epsilon of at most {most:g}", n, hint)
    chosen = _choose(asked, epsilon, lambda each: each.name == first or (asked.timed and goal.users(each) <= n))
    return assembled(asked, chosen, n, "epsilon", lambda each: needed(each.name))


def _order(asked: Question, epsilon: float) -> tuple[list[Forecast], list[Forecast], dict[str, str]]:
    found, left_out = candidates_for(asked.values, epsilon, listed=asked.listed, max_bits=asked.max_bits)
    if not found:
        raise InvalidArgument("max_bits", "be larger", asked.max_bits, next(iter(left_out.values())))
    return ordered(found, ids=asked.ids, max_bits=asked.max_bits), found, left_out


def _choose(asked: Question, epsilon: float, meets: Callable[[Forecast], bool] = lambda _: True) -> Choice:
    """Make the best mechanism at this epsilon that meets the goal; with a limit on times, the best that keeps it."""
    order, found, left_out = _order(asked, epsilon)
    order = [each for each in order if meets(each)]
    if not asked.timed:
        made, first = make_first(order, asked.domain)
        return Choice(made, first, found, left_out)
    for each in order:
        made = mechanism(each.name, domain=asked.domain, epsilon=epsilon, **each.options)
        slow = _too_slow(asked, made)
        if not slow:
            return Choice(made, each, found, left_out)
        left_out[each.name] = slow
    reasons = "; ".join(f"{each.name}: {left_out[each.name]}" for each in order[:3])
    raise InvalidArgument("max_client_us", "be larger, or max_server_ms", asked.max_client_us, reasons)


def _too_slow(asked: Question, made: Mechanism) -> str:
    """The reason why a mechanism does not keep the limits on times; empty if it does."""
    if not asked.listed:
        raise InvalidArgument("max_client_us", "be left out", asked.max_client_us, "Times need a closed domain.")
    true = zipf_counts(made.k, asked.n or ASSUMED_USERS)
    if asked.max_client_us is not None and (took := client_ns(made, true) / 1e3) > asked.max_client_us:
        return f"takes {took:.3g} us per report"
    if asked.max_server_ms is not None:
        took = server_ms(made, simulate(made, true))
        return f"takes {took:.3g} ms per estimate" if took > asked.max_server_ms else ""
    return ""


def _check_feasible(asked: Question, goal: Goal, n: int, chosen: Choice) -> None:
    """Refuse a goal that is not met, and say what would be feasible."""
    users = users_of(goal, chosen.mechanism, chosen.forecast)
    if users <= n:
        return
    bounded = asked.most_epsilon is not None or asked.others.shuffled
    epsilon = None if bounded else _with_epsilon(asked, goal, n).epsilon
    other = "" if epsilon is None else f", or epsilon {epsilon:g}"
    name, value = ("margin", goal.margin) if goal.margin is not None else ("detect", goal.detect)
    rule = f"be larger for {n:,} users at epsilon {chosen.forecast.epsilon:g}"
    raise InvalidArgument(name, rule, value, f"It takes {users:,} users{other}.")


def _forecast(asked: Question, name: str, epsilon: float) -> Forecast:
    if asked.listed:
        return forecast(name, asked.values, epsilon)
    return best_open(name, asked.values, epsilon, asked.max_bits)


def _up(epsilon: float) -> float:
    return math.ceil(epsilon * _PARTS - 1e-6) / _PARTS


def _down(epsilon: float) -> float:
    return math.floor(epsilon * _PARTS + 1e-6) / _PARTS
