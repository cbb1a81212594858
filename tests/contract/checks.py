"""The shipped checks, told of each mechanism what its case says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from deniable.mechanisms.base.mechanism import Mechanism
from deniable.testing import checks
from deniable.testing.checks import *  # noqa: F403
from tests.contract import cases


def enumerable_bits(m: Mechanism, limit: int = 22) -> int:
    return checks.enumerable_bits(m, limit, cases.of(m.name))


def every_word(m: Mechanism, bits: int) -> np.ndarray:
    return checks.every_word(m, bits, cases.of(m.name))


def check_kernel_makes_the_channel(m: Mechanism, bits: int) -> None:
    checks.check_kernel_makes_the_channel(m, bits, cases.of(m.name))


def check_plain_path_makes_the_channel(m: Mechanism, bits: int) -> None:
    checks.check_plain_path_makes_the_channel(m, bits, cases.of(m.name))


def matches_channel(m: Mechanism, value: object, seen: Counter[Any], total: int) -> None:
    checks.matches_channel(m, value, seen, total, cases.of(m.name))


def check_encoding_round_trips(m: Mechanism, overhead: int = 0) -> None:
    checks.check_encoding_round_trips(m, overhead, cases.of(m.name))


def check_likelihood(m: Mechanism, seed: int) -> None:
    checks.check_likelihood(m, seed, cases.of(m.name))
