"""What keeps a device from answering or sending, each as an error of its own; see core/errors.py for the others."""

from __future__ import annotations

from deniable.core.errors import DeniableError


class ConsentMissing(DeniableError):
    """Nobody has said yes: nothing was made, spent or sent."""

    def __init__(self, collection: str) -> None:
        self.collection = collection
        super().__init__(
            f"the person has not agreed to answer {collection!r}, so nothing was made or sent. "
            "Ask them, then call consent(True)."
        )


class CapReached(DeniableError):
    """The answer would spend more than the cap: nothing was made, spent or sent."""

    def __init__(self, spent: float, epsilon: float, cap: float) -> None:
        self.spent = spent
        self.epsilon = epsilon
        self.cap = cap
        super().__init__(
            f"this answer costs epsilon {epsilon:.4g} and {spent:.4g} is spent already, together above cap={cap:g}. "
            "The question stays unanswered. Raise the cap only if the person agrees."
        )


class StoreFailed(DeniableError):
    """The file that keeps answers cannot be read or written; what was begun in this step was undone."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path}: the store of answers cannot be used: {reason}")


class Unreachable(DeniableError):
    """The collector did not answer, or something else answered in its place."""

    def __init__(self, site: str, reason: str) -> None:
        self.site = site
        super().__init__(f"{site} cannot be reached: {reason}")
