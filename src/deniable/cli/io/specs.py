"""What a spec promises and what it costs, as data and on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.mechanisms.base.mechanism import Mechanism

USERS = tuple(10**power for power in range(4, 9))
FREQUENCIES = (0.0, 0.1, 0.5)


def spec_facts(mechanism: Mechanism) -> dict[str, Any]:
    """All promises of a spec as plain data, computed from the integers of the mechanism."""
    from deniable.core.domain.open import Open

    guarantee, domain = mechanism.guarantee(), mechanism.domain
    closed = not isinstance(domain, Open)  # for an open domain, errors and guesses depend on the candidates
    return {
        "mechanism": mechanism.name,
        "version": mechanism.version,
        "fingerprint": mechanism.fingerprint,
        "values": mechanism.k if closed else None,
        "domain": domain.to_dict(),
        "parameters": dict(mechanism.spec.parameters),
        "thresholds": {name: str(number) for name, number in mechanism.thresholds.items()},
        "guarantee": {
            "ratio": f"{guarantee.ratio.numerator}/{guarantee.ratio.denominator}",
            "epsilon": guarantee.epsilon,
            "slack": guarantee.slack,
            "statement": str(guarantee),
        },
        "report_bits": mechanism.report_bits,
        "memory": mechanism.memory()._asdict(),
        "setup_seconds": mechanism.setup_seconds,
        "reconstruction_rate": float(mechanism.reconstruction_rate()) if closed else None,
        "methods": list(mechanism.methods),
        "standard_errors": [
            {"users": n, "frequency": f, "std_error": mechanism.variance(f, n) ** 0.5}
            for n in USERS
            for f in FREQUENCIES
            if closed
        ],
    }


def print_facts(facts: dict[str, Any]) -> None:
    """Print the promises of a spec."""
    from deniable.cli.terminal import console, plain, table
    from deniable.core.display import described
    from deniable.core.limits import Memory, setup_text

    guarantee, domain, rate = facts["guarantee"], facts["domain"], facts["reconstruction_rate"]
    guess = ""
    if rate is not None:
        guess = f"; the best guess of a value from one report is right in {rate:.4%} of cases"
        guess += f" (without the report: {1 / facts['values']:.4%})"
    lines = {
        "mechanism": f"{facts['mechanism']}, version {facts['version']}",
        "fingerprint": facts["fingerprint"],
        "domain": described(domain) if rate is None else f"{facts['values']:,} values: {described(domain)}",
        "parameters": ", ".join(f"{name} {value}" for name, value in facts["parameters"].items()),
        "thresholds": ", ".join(f"{name} {number}" for name, number in facts["thresholds"].items()),
        "guarantee": guarantee["statement"],
        "a report": f"{facts['report_bits']} bits{guess}",
        "memory": str(Memory(**facts["memory"])),
        "setup": setup_text(facts["setup_seconds"]),
        "methods": ", ".join(facts["methods"]),
    }
    out = console()
    grid = table("", "", "", left=2)
    grid.show_header = False
    for name, text in lines.items():
        grid.add_row(f"[bold]{name}[/]", plain(text))
    out.print(grid)
    if not facts["standard_errors"]:
        return
    errors = table(
        "Standard error among the users who reported", "users", *(f"value with {f:.0%}" for f in FREQUENCIES), left=0
    )
    found = {(entry["users"], entry["frequency"]): entry["std_error"] for entry in facts["standard_errors"]}
    for n in USERS:
        errors.add_row(f"{n:,}", *(f"{found[n, f]:.4%}" for f in FREQUENCIES))
    out.print(errors)
