"""Table 1: the published bits, errors and attack rates beside the exact ones of the mechanisms as implemented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, exp, log2
from typing import Any

import numpy as np

from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.designs.projective_geometry import ProjectiveGeometryResponse
from deniable.mechanisms.numbers import binomial
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
from deniable.mechanisms.subsets.subset_selection import SubsetSelection
from papers.frame.experiment import FAILS, HOLDS, IN_PART, Claim, Experiment, Grid, Scatter, Table, Verdict
from papers.frame.judging import NOTHING, only
from papers.frame.rows import Row, Rows
from papers.mss.communication import average_bits
from papers.mss.oracles import made, optimum
from papers.mss.theory import reconstruction_bound

BITS, ERROR, MEAN = "bits", "error where f = 0", "mean error"
ATTACK, BOUND = "attack rate", "attack rate, equation 7"
FULL_PGR = "pgr on all its points"
_EXACTLY, _NEAR = 1e-9, 0.05


def measure(seed: int, k: int, epsilon: float) -> list[dict[str, Any]]:
    """For each mechanism and quantity: the entry of Table 1, and the exact number."""
    rows = []
    for name, each in _shown(seed, k, epsilon):
        v0, v1, _ = each.noise("users")
        bits = average_bits(each) if isinstance(each, ModularSubsetSelection) else float(each.report_bits)
        is_so = {BITS: bits, ERROR: v0, MEAN: v0 + v1 / each.k, ATTACK: float(each.reconstruction_rate())}
        said = _published(name, each, epsilon)
        if ERROR in said:
            said[MEAN] = said[ERROR]
        if isinstance(each, ModularSubsetSelection):
            is_so[BOUND], said[BOUND] = is_so[ATTACK], float(reconstruction_bound(each))
        for quantity, number in said.items():
            times = number / is_so[quantity]
            pair = {"said": number, "exact": is_so[quantity], "times": times, "off": times - 1}
            rows.append({"method": name, "quantity": quantity, **pair})
    return rows


def _shown(seed: int, k: int, epsilon: float) -> Iterator[tuple[str, Mechanism]]:
    for name in ("grr", "ss", "pgr", "mss"):
        each = made(name, k, epsilon, seed)
        assert each is not None
        yield name, each
        if isinstance(each, ProjectiveGeometryResponse):
            yield FULL_PGR, mechanism("pgr", k=each.sets.modulus, epsilon=epsilon, q=each.q, t=each.t)
    yield "rappor as sue", mechanism("sue", k=k, epsilon=epsilon)
    yield "rappor as oue", mechanism("oue", k=k, epsilon=epsilon)


def _published(name: str, each: Mechanism, epsilon: float) -> dict[str, float]:
    """The entries of Table 1."""
    k, e = each.k, exp(epsilon)
    if name == "grr":
        return {BITS: ceil(log2(k)), ERROR: (e + k - 2) / (e - 1) ** 2, ATTACK: e / (e + k - 1)}
    if isinstance(each, SubsetSelection):
        w = each.w
        return {BITS: ceil(log2(binomial(k, w))), ERROR: optimum(epsilon), ATTACK: e / (w * e + k - w)}
    if isinstance(each, ProjectiveGeometryResponse):
        points, size = each.sets.modulus, each.sets.set_size
        return {BITS: ceil(log2(k)), ERROR: optimum(epsilon), ATTACK: e / (points + (e - 1) * size)}
    if isinstance(each, ModularSubsetSelection):
        pairs = list(zip(each.moduli, each.sizes, strict=True))
        bits = ceil(log2(each.cohorts)) + float(np.mean([ceil(log2(binomial(m, w))) for m, w in pairs]))
        attack = float(np.mean([m * e / (w * e + m - w) for m, w in pairs])) / k
        return {BITS: bits, ATTACK: attack}  # its error is Theorem 3's bound
    root = exp(epsilon / 2)
    attack = (root - (root / (root + 1)) ** (k - 1) * (root - 1)) / k
    return {BITS: k, ERROR: optimum(epsilon), ATTACK: attack}


def _within(limit: float, quantity: str, *methods: str) -> Callable[[Rows], Verdict]:
    """Judge whether the stated numbers are right within a relative error; name the one farthest off."""
    return only(partial(_judged, lambda row: abs(row["off"]) <= limit), quantity=quantity, method=methods)


def _judged(right: Callable[[Row], bool], rows: Rows) -> Verdict:
    if not rows:
        return NOTHING
    wrong = [row for row in rows if not right(row)]
    held = len(rows) - len(wrong)
    kind = HOLDS if held == len(rows) else IN_PART if 2 * held >= len(rows) else FAILS
    text = f"right in {held} of {len(rows)} cases"
    if wrong:
        worst = max(wrong, key=lambda row: abs(float(row["off"])))
        text += f"; farthest off {worst['method']} at k={worst['k']}, eps={worst['epsilon']:g}: "
        text += f"{worst['said']:.4g} said, {worst['exact']:.4g} exact"
    return Verdict(kind, text, "exact arithmetic")


_WHOLE = "section 1, Table 1"
TABLE_1 = Experiment(
    paper="mss",
    name="table-1",
    title="Table 1: published costs beside exact ones",
    measure=measure,
    quick=Grid({"k": [100, 1024], "epsilon": [1.0, 3.0, 5.0]}),
    full=Grid({"k": [100, 1024, 22_000], "epsilon": [0.5, 1.0, 2.0, 3.0, 4.0, 5.0]}, repeats=3),
    claims=(
        Claim("bits of grr, ss, mss", _within(_EXACTLY, BITS, "grr", "ss", "mss"), _WHOLE),
        Claim(
            "bits of pgr: ceil(log2 k)",
            _within(_EXACTLY, BITS, "pgr"),
            _WHOLE,
            slip="ceil(log2 K), K the number of points of the geometry",
        ),
        Claim(
            "errors of grr, ss, pgr and of rappor as oue, of a value that nobody has",
            _within(_NEAR, ERROR, "grr", "ss", "pgr", "rappor as oue"),
            _WHOLE,
        ),
        Claim(
            "these are the worst there are, averaged over values",
            only(
                partial(_judged, lambda row: row["exact"] <= row["said"] * (1 + _NEAR)),
                quantity=MEAN,
                method=("grr", "ss", "pgr", "rappor as oue"),
            ),
            _WHOLE,
        ),
        Claim("attack rates of grr, ss, mss", _within(_EXACTLY, ATTACK, "grr", "ss", "mss"), _WHOLE),
        Claim("attack rate of pgr where k = K", _within(_EXACTLY, ATTACK, FULL_PGR), _WHOLE),
        Claim(
            "the error and the attack rate of rappor are those of symmetric unary encoding",
            only(
                partial(_judged, lambda row: abs(row["off"]) <= _NEAR), quantity=(ERROR, ATTACK), method="rappor as sue"
            ),
            _WHOLE,
            slip="the table has the error of optimized and the attack rate of symmetric unary encoding",
        ),
        Claim(
            "or those of optimized unary encoding",
            only(
                partial(_judged, lambda row: abs(row["off"]) <= _NEAR), quantity=(ERROR, ATTACK), method="rappor as oue"
            ),
            _WHOLE,
            slip="the table has the error of optimized and the attack rate of symmetric unary encoding",
        ),
        Claim(
            "equation 7 is an upper bound on the attack rate of mss",
            only(partial(_judged, lambda row: row["said"] >= row["exact"]), quantity=BOUND),
            "section 4.4",
            slip="it is a lower bound; the inequality itself is printed the right way round",
        ),
    ),
    picture=(
        Scatter("epsilon", "times", "method", panels=("quantity",), log_y=True, labels={"times": "said over exact"}),
        Table(("quantity", "method"), ("off",), labels={"off": "said/exact - 1, mean"}),
    ),
    note="Errors are n times the variance. 4e/(e-1)^2 is the limit for large k and the best w: where w is 1 or 2 that "
    "of ss is another, and users who have a value add to its error, which counts where k is small. Table 1 gives "
    "rappor the error of oue and the attack rate of sue (each form exact for its own). The attack rate of pgr is "
    "for k = K, as its caption says, and its bits are ceil(log2 K). Equation 7 takes the largest set of values a "
    "report can leave, so it bounds the rate from below, though it is called an upper bound; its inequality is "
    "printed the right way round.",
)
