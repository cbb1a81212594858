"""What a spec would cost and how well it would answer, before a collection is made of it."""

from __future__ import annotations

from typing import Any

from deniable.collector.service.questions import CLOSED, Workshop
from deniable.core.domain import Domain
from deniable.core.errors import DeniableError
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.registry import mechanism as make
from deniable.wire.refusals import Refused


def preview(
    workshop: Workshop,
    *,
    spec: dict[str, Any] | None,
    labels: list[str] | None,
    k: int | None,
    other: bool,
    epsilon: float | None,
    mechanism: str,
    n: int,
) -> dict[str, Any]:
    """The spec, its guarantee, the bytes of a report, and the error to expect from n reports."""
    if spec is None:
        spec = _made(labels, k, other, epsilon, mechanism)
    asked = workshop.build(spec)
    question = asked.question
    shown: dict[str, Any] = {
        "spec": spec,
        "fingerprint": asked.fingerprint,
        "kind": asked.kind,
        "mechanism": asked.mechanism,
        "epsilon": float(question.epsilon),
        "guarantee": float(question.guarantee().epsilon),
        "ratio": float(question.guarantee().ratio),
        "values": asked.values,
        "payload_bytes": asked.with_ids.size,
        "n": n,
        "std_error": None,
    }
    if asked.kind == CLOSED and not isinstance(question, HeavyHitters):
        targets = ("users", "population")
        shown["std_error"] = {target: float(question.variance(0.0, n, target=target) ** 0.5) for target in targets}
        shown["report_bits"] = question.report_bits
    return shown


def _made(labels: list[str] | None, k: int | None, other: bool, epsilon: float | None, name: str) -> dict[str, Any]:
    if epsilon is None or (labels is None) == (k is None):
        raise Refused("bad-argument", "give spec, or else epsilon and one of labels and k")
    try:
        domain = (
            Domain.integers(0, k - 1, other=other) if k is not None else Domain.categories(labels or (), other=other)
        )
        return make(name, epsilon=epsilon, domain=domain).spec.to_dict()
    except DeniableError as error:
        raise Refused("bad-argument", str(error)) from None
