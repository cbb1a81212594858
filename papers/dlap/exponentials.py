"""Proposition 6 and Corollary 7: exponential functions, which debiasing multiplies by a constant, and its effect."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

import deniable as dn
from deniable.counts.moments import Moments
from deniable.randomness.simulated import generator
from papers.frame.experiment import Claim, Experiment, Grid, Lines, Table, Verdict
from papers.frame.judging import exact, only, share_of
from papers.frame.rows import Rows

VALUE, JOINT, VARIANCE, OUTSIDE = "value", "value, 3^d terms", "variance", "outside"
PARITY = 0.0  # means r = -1, the parity of the sum of all counts
POSITIVE = (-0.9, -0.7, -0.45, -0.3, -0.15, 0.15, 0.3, 0.45, 0.7, 0.9)  # log r over log(1/q)
SHRINKING, GROWING = "r = q^-0.4", "r = -1"
_FEW, _ROUNDING, _ROUNDED_OFF = 6, 1e-9, 1e-4


def function(base: float) -> Any:
    """x -> base^x, for a positive base or -1."""
    if base == -1:
        return lambda x: 1.0 - 2.0 * (x % 2)
    return lambda x: np.exp(math.log(base) * x)


def scalar(base: float, q: float) -> float:
    """lambda = 1 - a (r - 2 + 1/r), a = q/(1 - q)^2."""
    return 1 - q / (1 - q) ** 2 * (base - 2 + 1 / base)


def measure(seed: int, epsilon: float, d: int) -> list[dict[str, Any]]:
    """The differences of unbiased answers to products of r^x, and of their variances, from Proposition 6."""
    noise = dn.DiscreteLaplace(epsilon)
    counts = generator(seed).integers(0, 6, d)
    release = noise.release(counts, seed=seed)
    rows: list[dict[str, Any]] = []
    for power in (*POSITIVE, PARITY):
        base = math.exp(power * noise.rate) if power else -1.0
        each, factor = function(base), scalar(base, float(noise.q))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dn.UnreliableAnswer)
            answer = dn.ask.product([each] * d, release)
            gaps = [(VALUE, answer.value / answer.naive / factor**d - 1, answer.width / abs(answer.value))]
            if d <= _FEW:
                joint = dn.debias_multivariate(lambda x, f=each: f(x).prod(axis=1), release)  # type: ignore[misc]
                gap = joint.value / joint.naive / factor**d - 1
                gaps.append((JOINT, gap, joint.width / abs(joint.value)))
            if abs(power) < 0.5:  # r^2 is within the radius too, so variances exist
                moments = _errors(each, counts, epsilon)
                gaps.append((VARIANCE, moments.variance / moments.naive_variance / factor ** (2 * d) - 1, 0.0))
        common = {"power": power, "r": base, "lambda": factor, "privacy": f"epsilon {epsilon:g}"}
        rows += [{**common, "of": of, "gap": abs(float(gap)), "width": float(width)} for of, gap, width in gaps]
    for power in (-1.1, 1.1):
        base = math.exp(power * noise.rate)
        common = {"power": power, "r": base, "lambda": scalar(base, float(noise.q))}
        rows.append({**common, "of": OUTSIDE, "gap": 0.0 if _refused(base, release) else 1.0, "width": 0.0})
    return rows


def _errors(each: Any, counts: Any, epsilon: float) -> Moments:
    """The exact errors of both answers to the product at these true counts: the plug-in formula at the truth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        found = dn.ask.product([each] * len(counts), counts, epsilon=epsilon).moments
    assert found is not None
    return found


def _equal(rows: Rows) -> bool:
    """Whether numbers agree to a billionth, or to the rounding error stated by the answer."""
    return all(row["gap"] < _ROUNDING + row["width"] and row["gap"] < _ROUNDED_OFF for row in rows)


def _largest(rows: Rows) -> str:
    worst = {of: max(rows.where(of=of).column("gap")) for of in rows.values("of")}
    return f"{len(rows)} answers; " + "; ".join(f"{of}: {gap:.1g} off at most" for of, gap in worst.items())


def _refused(base: float, release: Any) -> bool:
    try:
        dn.ask.product([function(base)] * release.size, release)
    except dn.InvalidArgument:
        return True
    return False


def ratios(seed: int, epsilon: float, d: int) -> list[dict[str, Any]]:
    """The mean square error of the unbiased answer over that of the naive one at counts of zero, exactly."""
    del seed
    noise = dn.DiscreteLaplace(epsilon)
    rows = []
    for name, base in ((SHRINKING, math.exp(0.4 * noise.rate)), (GROWING, -1.0)):
        moments = _errors(function(base), np.zeros(d, np.int64), epsilon)
        rows.append(
            {
                "function": name,
                "ratio": float(moments.variance / moments.naive_mse),
                "naive": float(moments.naive_mse),
                "lambda": scalar(base, float(noise.q)),
            }
        )
    return rows


def exponential(name: str, sign: int) -> Any:
    """Judge whether the logarithm of the ratio is linear in d, with slope twice the logarithm of |lambda|."""

    def judge(rows: Rows) -> Verdict:
        part = rows.where(function=name)
        told, good = [], bool(part)
        for key, own in part.groups("epsilon"):
            means = own.average("ratio", "d")
            d, logs = means.column("d"), np.log(means.column("ratio"))
            last = float((logs[-1] - logs[-2]) / (d[-1] - d[-2]))
            expected = 2 * math.log(abs(own[0]["lambda"]))
            good &= sign * last > 0 and abs(last / expected - 1) < 0.1
            told.append(f"times {math.exp(last):.3g} per count at epsilon {key['epsilon']:g}")
        return exact(lambda _: good, lambda _: ", ".join(told) + ": lambda^2", "exact moments, at the largest d")(part)

    return judge


PROPOSITION_6 = Experiment(
    paper="dlap",
    name="proposition-6",
    title="Proposition 6: the unbiased product of r^x is lambda^d times the naive one",
    measure=measure,
    quick=Grid({"epsilon": [0.5, 1.0, 2.0, 4.0], "d": [1, 2, 5, 20]}, repeats=2),
    full=Grid({"epsilon": [0.2, 0.5, 1.0, 2.0, 4.0, 8.0], "d": [1, 2, 3, 4, 5, 10, 20, 50]}, repeats=10),
    claims=(
        Claim(
            "the unbiased answer is lambda^d times the naive one, lambda = 1 - a (r - 2 + 1/r)",
            only(
                exact(_equal, _largest, "relative, in floats; 3^d terms of both signs round the most"),
                of=(VALUE, JOINT),
            ),
            "Proposition 6",
        ),
        Claim(
            "variances exist for q < r^2 < 1/q, and that of the unbiased answer is lambda^(2d) times the other",
            only(share_of(lambda row: row["gap"] < 1e-6, "equal to a millionth"), of=VARIANCE),
            "Proposition 6",
        ),
        Claim(
            "lambda is below 1 for positive r, above 1 for r = -1",
            exact(
                lambda rows: all((0 < row["lambda"] < 1) == (row["r"] > 0) for row in rows if row["of"] == VALUE),
                lambda rows: f"{len(rows.where(of=VALUE))} cases",
            ),
            "section 3.3",
        ),
        Claim(
            "beyond q < r < 1/q there is no expectation to correct: such functions are refused",
            only(share_of(lambda row: row["gap"] == 0, "refused"), of=OUTSIDE),
        ),
    ),
    picture=Lines(
        "power",
        "lambda",
        "privacy",
        labels={"lambda": "lambda", "power": "log r over log(1/q)"},
        only={"of": VALUE, "power": POSITIVE},
    ),
    note="The text at hand has lost the formula of lambda; this one follows from Theorem 1. Products of up to 20 "
    "counts by Theorem 14, of up to 6 also with all 3^d terms of Theorem 2.",
)

COROLLARY_7 = Experiment(
    paper="dlap",
    name="corollary-7",
    title="Corollary 7: debiasing can lower and raise errors exponentially in the number of counts",
    measure=ratios,
    quick=Grid({"epsilon": [0.5, 1.0, 2.0, 4.0], "d": [1, 2, 4, 8, 16, 32, 40]}),
    full=Grid({"epsilon": [0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0], "d": list(range(1, 65))}),
    claims=(
        Claim("some functions' errors fall exponentially (here r = q^-0.4)", exponential(SHRINKING, -1), "Corollary 7"),
        Claim("some functions' errors grow exponentially (here r = -1)", exponential(GROWING, 1), "Corollary 7"),
        Claim(
            "of r = -1 the naive error stays bounded: its bias is at most 2",
            exact(
                lambda rows: max(rows.where(function=GROWING).column("naive")) <= 4,
                lambda rows: f"naive mean square error {max(rows.where(function=GROWING).column('naive')):.3g} at most",
                "exact moments",
            ),
            "Corollary 7",
        ),
    ),
    picture=(
        Lines(
            "d",
            "ratio",
            "function",
            panels=("epsilon",),
            log_y=True,
            labels={"d": "counts d", "ratio": "error, unbiased over naive"},
        ),
        Table(("function", "epsilon"), ("lambda",)),
    ),
    note="Exact mean square errors at counts of zero.",
)
