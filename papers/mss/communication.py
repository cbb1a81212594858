"""Figure 2: bits per report."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np

from deniable.mechanisms.numbers import binomial
from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
from papers.frame.experiment import Claim, Experiment, Grid, Lines
from papers.frame.judging import exact, never_above, only
from papers.frame.rows import Rows
from papers.mss.oracles import LABELS, OURS, made
from papers.mss.utility import EPSILONS, FEW_EPSILONS

_SHOWN = ("grr", "ss", "pgr", "mss", *OURS)
_HALF, _HIGH_PRIVACY = 0.55, 1.0


def average_bits(mechanism: ModularSubsetSelection) -> float:
    """The paper's equation 2: ceil(log2 l) + the mean over j of ceil(log2 C(m_j, w_j))."""
    pairs = zip(mechanism.moduli, mechanism.sizes, strict=True)
    codes = [(binomial(m, w) - 1).bit_length() for m, w in pairs]
    return (mechanism.cohorts - 1).bit_length() + float(np.mean(codes))


def measure(seed: int, k: int, epsilon: float) -> list[dict[str, Any]]:
    """Bits per report of every mechanism; for mss the average over cohorts, as in the paper."""
    whole = made("ss", k, epsilon)
    assert whole is not None
    rows: list[dict[str, Any]] = []
    for name in _SHOWN:
        mechanism = made(name, k, epsilon, seed)
        if mechanism is None:
            continue
        row: dict[str, Any] = {
            "method": name,
            "bits": float(mechanism.report_bits),
            "share": mechanism.report_bits / whole.report_bits,
        }
        if isinstance(mechanism, ModularSubsetSelection):
            row["bits"] = average_bits(mechanism)
            row["share"] = row["bits"] / whole.report_bits
            # as the abstract counts: ceil(log2 l) + ceil(log2 m_j)
            row["abstract"] = (mechanism.cohorts - 1).bit_length() + (max(mechanism.moduli) - 1).bit_length()
            row["entropy"] = log2(mechanism.cohorts) + float(
                np.mean([log2(binomial(m, w)) for m, w in zip(mechanism.moduli, mechanism.sizes, strict=True)])
            )
        rows.append(row)
    return rows


def _shares(rows: Rows) -> Rows:
    """Bits of mss relative to subset selection, averaged over draws, at high privacy."""
    private = rows.where(method="mss")
    return Rows(row for row in private if row["epsilon"] <= _HIGH_PRIVACY).average("share", "k", "epsilon")


def _said_short(rows: Rows) -> str:
    shown = []
    for key, part in rows.groups("k", "epsilon"):
        need, said = part.column("entropy").mean(), part.column("abstract").mean()
        shown.append(f"k={key['k']}, eps={key['epsilon']:g}: {need:.0f} needed, {said:.0f} said")
    return "; ".join(shown[:1] + shown[-1:])


def _ours(rows: Rows) -> str:
    largest = {name: int(rows.where(method=name).column("bits").max()) for name in ("csr", "clh")}
    least = rows.where(method="mss").column("bits").min()
    text = f"at most {largest['csr']} bits (csr) and {largest['clh']} (clh, its public number not sent)"
    return f"{text}; mss at least {least:.0f}"


FIGURE_2 = Experiment(
    paper="mss",
    name="figure-2",
    title="Figure 2: bits of a report against epsilon",
    measure=measure,
    quick=Grid({"k": [1024, 22_000], "epsilon": FEW_EPSILONS}, repeats=5),
    full=Grid({"k": [1024, 22_000], "epsilon": EPSILONS}, repeats=300),
    claims=(
        Claim(
            "mss sends fewer bits than ss at every epsilon",
            never_above("bits", "mss", ["ss"], by=["k", "epsilon"]),
            "section 5, communication",
        ),
        Claim(
            "about half as many where privacy is high",
            exact(
                lambda rows: min(_shares(rows).column("share")) <= _HALF,
                lambda rows: (
                    f"{min(_shares(rows).column('share')):.2f} to {max(_shares(rows).column('share')):.2f} of the bits "
                    f"of ss for eps <= {_HIGH_PRIVACY:g}"
                ),
                "means over draws of the moduli",
            ),
            "section 5, communication",
        ),
        Claim(
            "a report fits into ceil(log2 l) + ceil(log2 m_j) bits",
            only(
                exact(
                    lambda rows: all(row["entropy"] <= row["abstract"] for row in rows),
                    _said_short,
                    "log2 of the number of different reports, averaged over moduli",
                ),
                method="mss",
            ),
            "abstract and section 1",
            slip="ceil(log2 of (m_j choose w_j)) in place of ceil(log2 m_j), as Table 1 and equation 2 have it",
        ),
        Claim(
            "beside it, ours: csr and clh send fewer bits than mss everywhere, at no more error (Figure 1)",
            exact(
                lambda rows: all(
                    max(cell.where(method=("csr", "clh")).column("bits")) < min(cell.where(method="mss").column("bits"))
                    for _, cell in rows.groups("k", "epsilon")
                ),
                _ours,
            ),
        ),
    ),
    picture=Lines(
        "epsilon", "bits", "method", panels=("k",), log_y=True, labels={**LABELS, "bits": "bits of a report"}
    ),
    note="The bits of mss are those of equation 2, averaged over moduli, and over 5 draws of the moduli (the paper: "
    "300). The abstract's ceil(log2 l) + ceil(log2 m_j) counts the residues, of which a report holds w_j: it is "
    "right for w_j = 1 only; the form of Table 1 and equation 2, with the binomial coefficient, is right.",
)
