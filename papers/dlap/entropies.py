"""Figure 5: the entropy of documents from their noisy word counts, one by one and summed over many documents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.arrays import Floats
from papers.dlap.tables import DOCUMENTS_FILE, documents
from papers.frame.experiment import Claim, Experiment, Grid, Lines, Verdict
from papers.frame.judging import centred, exact, never_above, only
from papers.frame.rows import Rows

UNBIASED, NAIVE, OURS = "unbiased", "naive", "unbiased, ask.entropy"
EPSILONS = [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0]
PARTIES = (1, 10, 100, 1000)
_AT_ONCE = 250  # documents at a time, to bound memory
LABELS = {
    "rmse": "root mean square error (nats)",
    "joint": "root mean square error of the sum (nats)",
    "parties": "documents whose entropies are added",
    UNBIASED: "unbiased (Theorem 1)",
    OURS: "unbiased, total used (ask.entropy)",
}


def measure(seed: int, epsilon: float, most: int | None) -> list[dict[str, Any]]:
    """Errors of three answers, for single documents and for sums over many."""
    errors, label = document_errors(seed, epsilon, most)
    rows: list[dict[str, Any]] = []
    for name, each in errors.items():
        mse = float(np.mean(each**2))
        common = {"method": name, "mse": mse, "rmse": math.sqrt(mse), "off": float(each.mean()), "data": label}
        for parties in (many for many in PARTIES if many <= len(each)):
            groups = each[: len(each) // parties * parties].reshape(-1, parties).sum(axis=1)
            rows.append({**common, "parties": parties, "joint": math.sqrt(float(np.mean(groups**2)))})
    return rows


def document_errors(seed: int, epsilon: float, most: int | None) -> tuple[dict[str, Floats], str]:
    """The error of the entropy of every document, by method, from one release of each."""
    found, label = documents(most)
    parts: dict[str, list[Floats]] = {UNBIASED: [], NAIVE: [], OURS: []}
    mechanism = dn.DiscreteLaplace(epsilon, sensitivity=2)
    for start in range(0, found.shape[0], _AT_ONCE):
        counts = found[start : start + _AT_ONCE].toarray().astype(np.int64)
        n = counts.sum(axis=1)
        true = np.log(n) - x_log_x(counts).sum(axis=1) / n
        release = mechanism.release(counts, seed=seed * found.shape[0] + start)
        # sum of -(x/n) log(x/n) over x > 0, in two parts that do not depend on n
        mass = dn.debias(lambda x: np.maximum(x, 0), release, reduce="sum", axis=1)
        curve = dn.debias(x_log_x, release, reduce="sum", axis=1)
        parts[UNBIASED].append((np.log(n) * mass.value - curve.value) / n - true)
        parts[NAIVE].append((np.log(n) * mass.naive - curve.naive) / n - true)
        parts[OURS].append(dn.ask.entropy(release, total=n).value - true)
    return {name: np.concatenate(each) for name, each in parts.items()}, label


def x_log_x(x: Any) -> Any:
    """x log x; 0 where x is not positive."""
    size = np.maximum(x, 1).astype(np.float64)
    return size * np.log(size)


def growth(rows: Rows, name: str) -> float:
    """The exponent by which the error of a sum grows with the number of documents."""
    slopes = []
    for _, part in rows.where(method=name).groups("epsilon"):
        means = part.average("joint", "parties")
        slopes.append(float(np.polyfit(np.log(means.column("parties")), np.log(means.column("joint")), 1)[0]))
    return float(np.mean(slopes))


def sums(rows: Rows) -> Verdict:
    """Judge whether errors of sums grow like the root of their number without bias, and like their number with it."""
    ours, naive = growth(rows, UNBIASED), growth(rows, NAIVE)
    return exact(
        lambda _: abs(ours - 0.5) < 0.1 and abs(naive - 1) < 0.1,
        lambda _: f"errors grow like (number)^{ours:.2f} unbiased, like (number)^{naive:.2f} naive",
        "slope over 1 to 1,000 documents, mean over epsilon",
    )(rows)


def gains(rows: Rows) -> str:
    """The ratio of the naive error to the unbiased one, for each epsilon."""
    told = []
    for key, part in rows.groups("epsilon"):
        means = {row["method"]: row["rmse"] for row in part.average("rmse", "method")}
        told.append(f"{means[NAIVE] / means[UNBIASED]:.3g} at epsilon {key['epsilon']:g}")
    return f"naive errors are {', '.join(told)} times the unbiased ones"


def _improves(rows: Rows) -> Verdict:
    def low(found: Rows) -> bool:
        means = {(row["epsilon"], row["method"]): row["rmse"] for row in found.average("rmse", "epsilon", "method")}
        few = [epsilon for epsilon in found.values("epsilon") if epsilon <= 4]
        return all(means[epsilon, NAIVE] > 2 * means[epsilon, UNBIASED] for epsilon in few)

    return exact(low, gains, "means over documents and releases")(rows)


CLAIMS = (
    Claim(
        "the unbiased answer has the lower error at every epsilon",
        only(never_above("mse", UNBIASED, [NAIVE], by=["epsilon"]), parties=1),
        "E.2",
    ),
    Claim("its gain is large (here: over 2 times) at low and medium epsilon, up to 4", _improves, "section 6, E.2"),
    Claim(
        "its error has mean zero", only(centred("off", UNBIASED, by=["epsilon"], within=0.1), parties=1), "Theorem 1"
    ),
)

FIGURE_5 = Experiment(
    paper="dlap",
    name="figure-5",
    title="Figure 5: entropy of bags of words, total public, sensitivity 2",
    measure=measure,
    quick=Grid({"epsilon": EPSILONS, "most": [None]}, repeats=8),
    full=Grid({"epsilon": [*EPSILONS, 0.1, 0.2, 1.5, 5.0, 7.0, 9.0], "most": [None]}, repeats=40),
    claims=(
        *CLAIMS,
        Claim("the error of a sum of entropies grows like the root of the number of parties, naive like it", sums, "1"),
        Claim(
            "beside it, ours: what the public total implies lowers the error further",
            only(never_above("mse", OURS, [UNBIASED], by=["epsilon"]), parties=1),
        ),
    ),
    picture=(
        Lines("epsilon", "rmse", "method", log_y=True, labels=LABELS, only={"parties": 1}),
        Lines(
            "parties",
            "joint",
            "method",
            panels=("epsilon",),
            log_x=True,
            log_y=True,
            labels=LABELS,
            only={"epsilon": [1.0, 4.0, 8.0]},
        ),
    ),
    note="1,491 documents, those of at most 5 words left out as in the paper; the 7,605 words that are seen more than "
    "20 times in all, of the paper's 12,419. The paper's estimator is that of -(x/n) log(x/n), zero for x <= 0; "
    "ask.entropy subtracts a multiple of the public total first. Values of epsilon are ours: the text has lost them.",
    data=(DOCUMENTS_FILE,),
)
