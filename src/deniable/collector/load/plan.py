"""What a run of load is asked to be: bounded in reports, in connections and in time."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.core.errors import InvalidArgument

MAX_USERS = 100_000_000
MAX_BATCH = 100_000
MAX_CONNECTIONS = 256
MAX_SECONDS = 3600.0


@dataclass(frozen=True)
class Plan:
    """How many people report, and how: the shares are of requests."""

    users: int = 100_000
    batch: int = 1  # reports per request; 1: single reports
    ids: bool = False  # whether the reports of a batch have ids of their own
    connections: int = 16
    rate: float | None = None  # reports per second; None: as fast as they are answered
    replays: float = 0.0
    malformed: float = 0.0
    seconds: float = 60.0
    seed: int = 0  # of the people; their coins have none

    def __post_init__(self) -> None:
        bounds = {
            "users": (1, MAX_USERS),
            "batch": (1, MAX_BATCH),
            "connections": (1, MAX_CONNECTIONS),
            "seconds": (0.1, MAX_SECONDS),
            "replays": (0, 1),
            "malformed": (0, 0.9),
        }
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise InvalidArgument(name, f"be from {low:,} to {high:,}", getattr(self, name))
        if self.rate is not None and not self.rate > 0:
            raise InvalidArgument("rate", "be positive", self.rate)
