"""Theorems 3 and 4: bounds on the error by condition numbers, and bounds on condition numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, log
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.operators.residues import identifies
from deniable.randomness.simulated import generator
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Scatter, Verdict
from papers.frame.judging import NOTHING, exact, only
from papers.frame.rows import Rows
from papers.mss.oracles import optimum
from papers.mss.published_moduli import channel, drawn_tuple, primes, system

COUNTEREXAMPLE = (157, 167, 179, 269, 277, 293)  # for k = 600, eps = 2, beta = 3
_CONDITIONED = 10.0
_MOST = 0.9
_DRAWS = 1000  # at most this number of draws until one determines the histogram
DRAWN, FIXED = "drawn", "counterexample"


def errors(seed: int, k: int, number: int, epsilon: float) -> list[dict[str, Any]]:
    """The exact worst error over all histograms, for moduli drawn from the paper's band, against Theorem 3."""
    band = primes(k / (20 * number), min(20 * k / number, k - 1))
    moduli = drawn_tuple(k, band, number, generator(seed))
    if moduli is None:
        return []
    condition, by_value = senders(k, moduli, epsilon)
    group = "condition number at most 10" if condition <= _CONDITIONED else "larger"
    ratio = float(by_value.max()) / optimum(epsilon)
    drawn = {"moduli": " ".join(map(str, moduli)), "value": int(by_value.argmax())}
    return [{"group": group, "condition": condition, "loss": ratio, "of_bound": ratio / condition, **drawn}]


def senders(k: int, moduli: tuple[int, ...], epsilon: float) -> tuple[float, Floats]:
    """The condition number of A_w, and for each value n times the mean squared error if all users have that value.

    The error is linear in the histogram, so the largest of these is the largest over all histograms. A report of
    cohort j adds l B_j (1_Z - w/m)/(p - q) to the estimate, B = G^-1 A^T W; residue_noise.py has the moments of 1_Z.
    """
    equations, values = system(k, moduli, epsilon), np.arange(k)
    inverse = np.linalg.inv(equations.matrix())
    total, mean = np.zeros(k), np.zeros((k, k))
    for m, weight in zip(moduli, equations.weights, strict=True):
        folded = np.zeros((k, m))
        np.add.at(folded.T, values % m, weight * inverse.T)
        centred = folded - folded.mean(axis=1, keepdims=True)
        own = channel(m, epsilon)
        a, d = own.moments()
        squares = (centred**2).sum(axis=0)
        total += len(moduli) / own.gain**2 * (a * squares.sum() + d * squares[values % m])
        mean += centred[:, values % m]
    return condition_number(k, moduli, epsilon), (total - (mean**2).sum(axis=0)) / k


def condition_number(k: int, moduli: tuple[int, ...], epsilon: float) -> float:
    """The condition number of A_w, from all its singular values."""
    roots = np.sqrt(system(k, moduli, epsilon).weights)
    rows = [root * (np.arange(k) % m == np.arange(m)[:, np.newaxis]) for m, root in zip(moduli, roots, strict=True)]
    spectrum = np.linalg.svd(np.concatenate(rows), compute_uv=False)
    return float(spectrum[0] / spectrum[k - 1])


def conditions(seed: int, case: list[Any], epsilon: float) -> list[dict[str, Any]]:
    """Exact condition numbers of A_w and of A_w^T A_w, for primes of the band, against Theorem 4."""
    k, beta, number, kind = case
    if kind == FIXED:
        moduli: tuple[int, ...] = COUNTEREXAMPLE
    else:
        band = primes(k / (beta * number), min(beta * k / number, k - 1))
        source = generator(seed)
        draws = (tuple(sorted(source.choice(band, number, replace=False).tolist())) for _ in range(_DRAWS))
        moduli = next((each for each in draws if identifies(k, each)), ())
    bound = published_bound(k, beta, number, epsilon)
    if bound is None or not moduli:
        return []
    condition = condition_number(k, moduli, epsilon)
    sizes = {"k": k, "beta": beta, "number": number, "kind": kind, "moduli": " ".join(map(str, moduli))}
    setting = kind if kind == FIXED else f"k={k}, beta={beta}, l={number}"
    numbers = {"condition": condition, "gram_condition": condition**2, "bound": bound, "times": condition / bound}
    return [{**sizes, "setting": setting, **numbers}]


def published_bound(k: int, beta: float, number: int, epsilon: float) -> float | None:
    """alpha (l + T)/(l - T), T = ceil(ln k/ln(k/(beta l))), alpha = (beta + e)/(1/beta + e); None unless l > T."""
    least = k / (beta * number)
    if least <= 1:
        return None
    collisions = ceil(log(k) / log(least))
    alpha = (beta + exp(epsilon)) / (1 / beta + exp(epsilon))
    return None if number <= collisions else alpha * (number + collisions) / (number - collisions)


def _within_bound(rows: Rows) -> Verdict:
    """Judge whether no error exceeds its bound; name the case nearest to its bound, or beyond it."""
    if not rows:
        return NOTHING
    held, top = sum(row["of_bound"] <= 1 for row in rows), max(rows, key=lambda row: float(row["of_bound"]))
    kind = HOLDS if held == len(rows) else IN_PART if held >= _MOST * len(rows) else FAILS
    text = (
        f"in {held} of {len(rows)} cases; at most {top['of_bound']:.2f} of the bound (k={top['k']}, "
        f"eps={top['epsilon']:g}, moduli {top['moduli']}, all users with value {top['value']}: {top['loss']:.3g} "
        f"against a condition number of {top['condition']:.3g})"
    )
    return Verdict(kind, text, "exact, for the worst histogram")


def _broken(rows: Rows) -> str:
    times = rows.column("condition") / rows.column("bound")
    gram = rows.column("gram_condition") / rows.column("bound")
    return (
        f"the condition number of A_w exceeds the bound in {np.mean(times > 1):.0%} of {len(rows)} draws, it is "
        f"{np.median(times):.2g} times as large in the median; that of A_w^T A_w, which the proof "
        f"bounds, exceeds it in {np.mean(gram > 1):.0%}"
    )


def _one(rows: Rows) -> str:
    row = rows[0]
    return (
        f"k={row['k']}, eps={row['epsilon']:g}, beta={row['beta']:g}, moduli {row['moduli']}: "
        f"{row['condition']:.1f} (of A_w^T A_w: {row['gram_condition']:.0f}) against {row['bound']:.2f}"
    )


def _bounded(numbers: Callable[[Rows], str]) -> Callable[[Rows], Verdict]:
    def holds(rows: Rows) -> bool:
        return bool(np.all(rows.column("condition") <= rows.column("bound")))

    return exact(holds, numbers, "eigenvalues of the whole matrix")


_CASES = [[600, 3, 3], [1024, 4, 4], [600, 3, 6], [600, 2, 6], [600, 2, 12], [1024, 3, 10]]  # k, beta, l

THEOREM_3 = Experiment(
    paper="mss",
    name="theorem-3",
    title="Theorem 3: the error is at most the condition number times 4e/(n(e-1)^2)",
    measure=errors,
    quick=Grid({"k": [200, 500], "number": [3, 6, 12], "epsilon": [0.5, 1.0, 2.0, 4.0]}, repeats=5),
    full=Grid({"k": [200, 500, 1024], "number": [2, 3, 6, 12, 15], "epsilon": [0.5, 1.0, 2.0, 4.0]}, repeats=40),
    claims=(
        Claim(
            "it holds where the condition number is at most 10, which the search asks for",
            only(_within_bound, group="condition number at most 10"),
            "Theorem 3",
        ),
        Claim("it holds whenever the condition number is finite", _within_bound, "Theorem 3"),
    ),
    picture=Scatter(
        "condition",
        "loss",
        "group",
        log_x=True,
        log_y=True,
        labels={"condition": "condition number of A_w (the bound)", "loss": "worst error over 4e/(n(e-1)^2)"},
    ),
    note="Exact: the error is linear in the histogram, so the worst histogram gives all users one value. The printed "
    "proof is a sketch with gaps: it bounds by the square of the condition number before it states the first "
    "power, and its covariance diag(pi) - pi pi^T is that of subsets of size 1 only. So the bound is checked "
    "here, not proved: it held with much to spare wherever the condition number is at most 10. Beyond, a case "
    "above it is named where one was drawn; what makes it so was not looked into. With condition numbers below "
    "10 errors still reach twice the optimum and more; the tuples of Figure 1, each the best of several, stay "
    "below 1.3 times.",
)

THEOREM_4 = Experiment(
    paper="mss",
    name="theorem-4",
    title="Theorem 4: a bound on the condition number",
    measure=conditions,
    quick=Grid({"case": [[600, 3, 6, FIXED], *([*case, DRAWN] for case in _CASES)], "epsilon": [2.0]}, repeats=12),
    full=Grid(
        {"case": [[600, 3, 6, FIXED], *([*case, DRAWN] for case in _CASES)], "epsilon": [0.5, 1.0, 2.0, 4.0]},
        repeats=100,
    ),
    claims=(
        Claim(
            "the condition number is at most alpha (l + T)/(l - T), for any draw of primes from the band",
            only(_bounded(_broken), kind=DRAWN),
            "Theorem 4",
        ),
        Claim(
            "it holds for one tuple that anyone can check",
            only(_bounded(_one), kind=FIXED, epsilon=2.0),
            "Theorem 4",
        ),
    ),
    picture=Scatter(
        "bound",
        "times",
        "setting",
        log_y=True,
        labels={"bound": "bound of Theorem 4", "times": "condition number of A_w over it"},
    ),
    note="The proof counts the moduli that two given values share, at most T of them; a row of the Gram matrix adds "
    "this up over all other values, about sum_j k/m_j of them, so the discs of Gershgorin's theorem are wider "
    "than the bound allows. Moduli are drawn from [k/(beta l), beta k/l], below k, and anew where they do not "
    "determine the histogram; only cases with l > T are taken. The search for moduli is not affected: it "
    "computes condition numbers.",
)
