"""The instructions that make a report are the same for every value and every coin.

Python's own instructions are compared, one by one. What a single instruction of Python or NumPy does is not seen:
docs/threat-model.md says what remains.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from itertools import zip_longest
from types import CodeType, FrameType
from typing import Any

import numpy as np

from deniable.core.arrays import Words
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from deniable.testing.expectations import require

Step = tuple[CodeType, int]  # an instruction: the code of a function, and the place in it

_MOST_VALUES = 6  # that are compared
_KEYS = 4  # of the words that values are compared on


class Recording(Choices):
    """Choices that remember which of their words are no coins."""

    def __init__(self, words: Words, keystream: Keystream) -> None:
        super().__init__(words, keystream.overflow(0))
        self.drawn: set[int] = set()  # words that draw a uniform integer

    def below(self, bound: int, rejection: int | None = None) -> int:
        self.drawn.add(self.read)
        return super().below(bound, rejection)

    def marks(self, k: int, size: int, rejections: Any = None) -> bytearray:
        self.drawn.update(range(self.read, self.read + size))
        return super().marks(k, size, rejections)


def check_no_branch_depends_on_the_value_or_on_a_coin(m: Mechanism, seed: int) -> None:
    """Every value and every coin leads through the same instructions of Python to a report."""
    indices = sorted({*range(min(m.k, _MOST_VALUES - 2)), m.k // 2, m.k - 1})
    for key in range(_KEYS):
        keystream = Keystream.seeded(seed + key)
        words = keystream.stream(0).words(m.stride)
        recording = Recording(words, keystream)
        m.randomize_one(indices[0], recording)  # what is computed once and kept is computed here

        def trace(index: int, words: Words, keystream: Keystream = keystream) -> list[Step]:
            return _steps(lambda: m.randomize_one(index, Choices(words, keystream.overflow(0))))

        wanted = trace(indices[0], words)
        for index in indices[1:]:
            _compare(wanted, trace(index, words), f"the values of index {indices[0]} and {index}")
        coins = np.setdiff1d(np.arange(m.stride), sorted(recording.drawn))
        for extreme in (0, 2**64 - 1):
            turned = words.copy()
            turned[coins] = extreme  # below every threshold, or above
            for index in (indices[0], indices[-1]):
                _compare(wanted, trace(index, turned), f"coins of the word {extreme:#x} and others")


def _compare(wanted: list[Step], found: list[Step], what: str) -> None:
    for one, other in zip_longest(wanted, found):
        if one != other:
            require(False, f"{what} must lead through the same instructions, and part at {_shown(one or other)}")


def _shown(step: Step | None) -> str:
    code, offset = step or (None, 0)
    if code is None:
        return "the end"
    lines = [line for start, end, line in code.co_lines() if start <= offset < end and line is not None]
    return f"{code.co_qualname}, line {lines[0] if lines else code.co_firstlineno}"


def _steps(run: Callable[[], object]) -> list[Step]:
    """The instructions of Python that this takes, in order."""
    steps: list[Step] = []

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode":
            steps.append((frame.f_code, frame.f_lasti))
        return local

    def start(frame: FrameType, _event: str, _: Any) -> Any:
        frame.f_trace_opcodes = True
        return local

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # a collection may call functions of its own in between
    sys.settrace(start)
    try:
        run()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return steps
