"""Figures 6 and 7: partition functions, the sum of e^(beta x) over a noisy histogram."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.arrays import Floats
from deniable.randomness.simulated import generator
from papers.dlap.tables import REAL, SHAKESPEARE, SYNTHETIC, WORDS_FILE, table
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import NOTHING, centred, exact, never_above, only
from papers.frame.rows import Rows

UNBIASED, NAIVE, CENTRAL = "unbiased", "naive", "central"
FINITE = (0.05, 0.1, 0.15, 0.2)  # of the radius of convergence: fourth moments exist, so means can be judged
SHARES = (*FINITE, 0.25, 0.3, 0.35, 0.4, 0.45)  # variances exist
EXTENSIONS = {"f": "e^(beta x)", "constant": "1", "zero": "0"}  # extensions of the function below zero
_TIMES = "times_"
BEYOND = (0.6, 0.75, 0.9)  # only means exist
_LARGE = 60.0
_CELLS = 2_000_000  # counts in one release


def measure(seed: int, table_name: str, draws: int) -> list[dict[str, Any]]:
    """Relative errors of the naive, the unbiased and the central answer, over many releases of one table."""
    found = table(table_name)
    epsilon, shares = setting(table_name)
    mechanism = dn.DiscreteLaplace(epsilon)
    betas = [share * mechanism.rate for share in shares]
    true = [float(np.exp(beta * found.counts).sum()) for beta in betas]
    made: dict[tuple[float, str], list[Floats]] = {(beta, name): [] for beta in betas for name in (UNBIASED, NAIVE)}
    at_once = max(1, min(draws, _CELLS // len(found.counts)))
    for start in range(0, draws, at_once):
        many = min(at_once, draws - start)
        release = mechanism.release(np.broadcast_to(found.counts, (many, len(found.counts))), seed=seed * draws + start)
        for beta, z in zip(betas, true, strict=True):
            answer = dn.ask.partition(release, beta, axis=1)
            made[beta, UNBIASED].append(answer.value / z - 1)
            made[beta, NAIVE].append(answer.naive / z - 1)
    source, rows = generator(seed), []
    for share, beta, z in zip(shares, betas, true, strict=True):
        errors = {name: np.concatenate(made[beta, name]) for name in (NAIVE, UNBIASED)}
        errors[CENTRAL] = central(source, found.counts, beta, epsilon, draws) / z
        factor = scalar(beta, float(mechanism.q))
        common = {"share": share, "beta": beta, "epsilon": epsilon, "log10_z": math.log10(z), "lambda": factor}
        common |= _spreads(found.counts, beta, epsilon, factor)
        for name, each in errors.items():
            expected = 1 / factor - 1 if name == NAIVE else 0.0
            rows.append({**common, "method": name, "data": found.label, "expected": expected, **_told(each, expected)})
    return rows


def _spreads(counts: Any, beta: float, epsilon: float, factor: float) -> dict[str, float]:
    """The exact standard deviation of the unbiased answer over that of the naive one, for each extension below zero."""
    many = {}
    for below in EXTENSIONS:
        if beta * float(counts.max()) > _LARGE:  # dominated by counts too large for their noisy ones to be negative
            many[_TIMES + below] = factor
        elif 2 * beta < dn.DiscreteLaplace(epsilon).rate:
            found = dn.ask.partition(counts, beta, below=below, epsilon=epsilon).moments
            assert found is not None
            many[_TIMES + below] = math.sqrt(found.variance / found.naive_variance)
        else:
            many[_TIMES + below] = 1.0  # both are infinite
    return many


def setting(name: str) -> tuple[float, tuple[float, ...]]:
    """The epsilon of a table, and the betas as shares of the radius of convergence.

    Words occur up to 27,379 times: beyond beta = 0.025 their partition function exceeds all floats. An
    epsilon of 0.05 puts the radius of convergence there, and makes the bias visible.
    """
    return (0.05, SHARES) if name == SHAKESPEARE else (1.0, (*SHARES, *BEYOND))


def scalar(beta: float, q: float) -> float:
    """lambda = 1 - q/(1 - q)^2 (e^beta - 2 + e^-beta), the factor of the naive answer in Proposition 6."""
    return 1 - 4 * q / (1 - q) ** 2 * math.sinh(beta / 2) ** 2


def central(source: np.random.Generator, counts: Any, beta: float, epsilon: float, draws: int) -> Floats:
    """Errors of a curator who sees the true counts and adds Laplace noise to the answer only.

    A person changes the answer by at most e^(beta B) - e^(beta (B - 1)), B a public bound on all counts: here the
    largest count.
    """
    largest = float(counts.max())
    sensitivity = math.exp(beta * largest) * -math.expm1(-beta)
    return source.laplace(0.0, sensitivity / epsilon, draws)


def _told(errors: Floats, expected: float) -> dict[str, float]:
    low, middle, high = np.quantile(errors, [0.1, 0.5, 0.9])
    return {
        "off": float(errors.mean()),
        "unexpected": float(errors.mean()) - expected,
        "middle": float(middle),
        "low": float(low),
        "high": float(high),
        "size": float(np.median(np.abs(errors))),
        "square": float(np.mean(errors**2)),
        "spread": float(errors.std(ddof=1)),
    }


def varies_more(rows: Rows) -> Verdict:
    """Judge where the unbiased answer varies more than the naive one, which depends on the extension below zero."""
    part = rows.where(method=UNBIASED, share=SHARES)
    if not part:
        return NOTHING
    told, more, cells = [], 0, 0
    for below, text in EXTENSIONS.items():
        times = part.average(_TIMES + below, "table_name", "share").column(_TIMES + below)
        more, cells = more + int((times > 1).sum()), cells + len(times)
        told.append(f"{text} below zero: {min(times):.3g} to {max(times):.3g} times the naive standard deviation")
    kind = HOLDS if more == cells else IN_PART if more else FAILS
    return Verdict(kind, f"{'; '.join(told)}; above 1 in {more} of {cells} cases", "exact moments at the true counts")


def is_lambda(rows: Rows) -> Verdict:
    """Judge whether the standard deviations of the two answers, from the same releases, have the ratio lambda."""
    gaps = []
    for _, part in rows.where(share=SHARES).groups("table_name", "share"):
        means = {row["method"]: row["spread"] for row in part.average("spread", "method")}
        gaps.append(abs(means[UNBIASED] / means[NAIVE] / float(part.column("lambda")[0]) - 1))
    return exact(
        lambda _: max(gaps) < 1e-9,
        lambda _: f"the ratio of their spreads is lambda, to {max(gaps):.1g}",
        "the same releases for both",
    )(rows)


def grows(rows: Rows) -> Verdict:
    """Judge whether the naive bias is positive, rises with beta, and equals 1/lambda - 1 up to chance."""
    part = rows.where(method=NAIVE, share=FINITE)
    seen = centred("unexpected", NAIVE, by=["table_name", "share"], within=0.02)(part)
    told, rising = [], True
    for key, own in part.groups("table_name"):
        known, means = (own.average(name, "share").column(name) for name in ("expected", "off"))
        rising &= bool(known[0] > 0 and (np.diff(known) > 0).all())
        told.append(
            f"{key['table_name']}: {known[0]:.2%} to {known[-1]:.2%}, simulated {means[0]:.2%} to {means[-1]:.2%}"
        )
    return replace(seen, kind=seen.kind if rising else FAILS, numbers=f"{'; '.join(told)}. {seen.numbers}")


def _claims(unbiased: str, naive: str) -> tuple[Claim, ...]:
    return (
        Claim(naive, grows, "E.3"),
        Claim(unbiased, only(centred("off", UNBIASED, by=["table_name", "share"], within=0.02), share=FINITE), "E.3"),
        Claim(
            "the unbiased answer has the lower mean square error",
            only(never_above("square", UNBIASED, [NAIVE], by=["table_name", "share"]), share=SHARES),
            "E.3",
        ),
        Claim("the unbiased answer varies moderately more than the naive one", varies_more, "E.3"),
        Claim("it is lambda times the naive one, so with e^(beta x) itself it varies less", is_lambda, "Proposition 6"),
        Claim(
            "its error is the smaller one near the radius of convergence too (median size)",
            only(never_above("size", UNBIASED, [NAIVE], by=["table_name", "share"]), share=(0.45, *BEYOND)),
            "section 1.1",
        ),
    )


def _figure(number: int, names: tuple[str, ...], claims: tuple[Claim, ...], **more: Any) -> Experiment:
    labels = {
        "share": "beta, of the radius of convergence",
        "off": "mean relative error",
        "middle": "relative error: median, 10% to 90%",
        "size": "median size of the relative error",
        "central": "central baseline",
    }
    return Experiment(
        paper="dlap",
        name=f"figure-{number}",
        title=f"Figure {number}: partition functions, {' and '.join(names)}",
        measure=measure,
        quick=Grid({"table_name": names, "draws": [100]}, repeats=20),
        full=Grid({"table_name": names, "draws": [500]}, repeats=40),
        claims=claims,
        picture=(
            Lines("share", "off", "method", panels=("data",), labels=labels, only={"share": SHARES}),
            Lines("share", "middle", "method", panels=("data",), labels=labels, band=("low", "high")),
        ),
        **more,
    )


_NOTE = (
    "With e^(beta x) itself for all noisy counts, negative ones too, the unbiased answer is lambda times the naive "
    "one, lambda < 1 (Proposition 6): it varies less. Section E.3 says that it varies moderately more. That is so for "
    "small counts if the function is cut at zero (constant or 0 below), which the text at hand does not tell; the "
    "claim on it shows all three. Where one count is nearly all of Z, the median of the naive error can be the "
    "smaller one: half of the time that count has no noise. Means are judged up to a fifth of the radius of "
    "convergence log(1/q), where fourth moments exist. The central baseline adds Laplace noise to the true sum, for a "
    "public bound of the counts that is the largest of them. "
)

FIGURE_6 = _figure(
    6,
    SYNTHETIC,
    _claims(
        "the unbiased answer is centred at the true value",
        "the naive answer is too large, the more so the larger beta",
    ),
    note=_NOTE + "Tables, epsilon and betas are ours, as the text has lost them: 10,000 counts of 1, and 40/sqrt(i) "
    "rounded up, at epsilon 1.",
)

FIGURE_7 = _figure(
    7,
    REAL,
    _claims(
        "the mean error of the unbiased answer is near zero, whatever the size of Z",
        "the naive answer is too large, steadily more with beta",
    ),
    note=_NOTE
    + "ExAC is not at hand: 50,000 counts from 1 to 50 with shares like r^-1.8 stand for it, half of them 1. "
    "Words of Shakespeare have counts up to 27,379: epsilon is 0.05 there, so that betas in range show a bias; their Z "
    "goes up to 10^267, nearly all of it from one word.",
    data=(WORDS_FILE,),
)
