"""The instructions that make a report are the same for every value and every coin.

Python's own instructions are compared, one by one; compiled loops are run as the Python that they are compiled from.
What a single instruction of Python or NumPy does, or machine code, is not seen: docs/threat-model.md says what remains.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from itertools import zip_longest
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

import numpy as np

from deniable.core.arrays import Indices, Integers, Words
from deniable.core.domain.open import Open
from deniable.core.hashing import PRIME
from deniable.kernels import Kernel
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from deniable.testing.expectations import require

Step = tuple[CodeType, int]  # an instruction: the code of a function, and the place in it

_MOST_VALUES = 6  # that are compared
_KEYS = 4  # of the words that values are compared on
_BATCH = 3  # reports of a batch


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
    indices = _compared(m)
    for key in range(_KEYS):
        keystream = Keystream.seeded(seed + key)
        words = keystream.stream(0).words(m.stride)
        coins = _coins(m, words, keystream)  # what is computed once and kept is computed here

        def trace(index: int, words: Words, keystream: Keystream = keystream) -> list[Step]:
            return _steps(lambda: m.randomize_one(index, Choices(words, keystream.overflow(0))))

        _check([(index,) for index in indices], words, coins, lambda values, words: trace(values[0], words))


def check_no_branch_of_a_batch_depends_on_a_value_or_on_a_coin(m: Mechanism, seed: int) -> None:
    """Every value and every coin leads through the same instructions of Python and of compiled loops to a batch."""
    indices = _compared(m)
    batches = [*((index,) * _BATCH for index in indices), (*indices, *indices)[-_BATCH - 1 : -1]]

    def randomize(values: Sequence[int], words: Words) -> Indices:
        return m.randomize(np.array(values), words, m.layout.empty(_BATCH))

    with patch.object(Kernel, "__call__", _as_python), np.errstate(over="ignore"):
        for key in range(_KEYS):
            keystream = Keystream.seeded(seed + key)
            words = keystream.stream(0).words(m.stride * _BATCH)
            each = (_coins(m, own, keystream) for own in words.reshape(_BATCH, m.stride))
            coins = np.concatenate([own + place * m.stride for place, own in enumerate(each)])
            randomize(batches[0], words)  # what is computed once and kept is computed here
            _check(batches, words, coins, lambda values, words: _steps(lambda: randomize(values, words)))


def _as_python(kernel: Kernel, *arguments: Any) -> Any:
    """Run a compiled loop as the Python that it is compiled from."""
    return kernel.py_func(*arguments)


def _compared(m: Mechanism) -> list[int]:
    """The indices of the values that are compared; in an open domain, the numbers that strings are hashed to."""
    if isinstance(m.domain, Open):
        return [0, 1, 2**32, PRIME - 2, PRIME - 1]
    return sorted({*range(min(m.k, _MOST_VALUES - 2)), m.k // 2, m.k - 1})


def _coins(m: Mechanism, words: Words, keystream: Keystream) -> Integers:
    """The places of a report's words that toss coins."""
    recording = Recording(words, keystream)
    m.randomize_one(0, recording)
    return np.setdiff1d(np.arange(m.stride), sorted(recording.drawn))


def _check(
    values: Sequence[tuple[int, ...]],
    words: Words,
    coins: Integers,
    trace: Callable[[tuple[int, ...], Words], list[Step]],
) -> None:
    """Compare what all values and extreme coins lead through with what the first values do."""
    wanted = trace(values[0], words)
    for other in values[1:]:
        _compare(wanted, trace(other, words), f"the values of index {_listed(values[0])} and {_listed(other)}")
    for extreme in (0, 2**64 - 1):
        turned = words.copy()
        turned[coins] = extreme  # below every threshold, or above
        for each in (values[0], values[-1]):
            _compare(wanted, trace(each, turned), f"coins of the word {extreme:#x} and others")


def _listed(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))


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
