"""A batch is what its reports are one by one, each with words of its own."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np

from deniable import kernels
from deniable.core.arrays import Indices, Payloads
from deniable.mechanisms.base.client import CHUNK_WORDS
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS, Keystream
from deniable.testing.checks.payloads import payload_key
from deniable.testing.checks.words import Counting, coarse, coarse_bits
from deniable.testing.expectations import require, require_equal


def by_kernel(m: Mechanism, indices: Indices, keystream: Keystream) -> Payloads:
    """Randomise a batch by the kernel, although plain Python would do for so few."""
    with patch.object(kernels, "pay_for", lambda _steps: True):
        return m.payloads(indices, keystream)


def check_batch_equals_one_by_one(m: Mechanism, seed: int) -> None:
    """A batch by `randomize` holds the reports that `randomize_one` makes of the same words."""
    keystream = Keystream.seeded(seed)
    indices = np.random.default_rng(seed).integers(0, m.k, 500)
    batch = by_kernel(m, indices, keystream)
    stream = keystream.stream(0)
    for i, index in enumerate(indices.tolist()):
        words = stream.words(m.stride).tolist()
        alone = m.randomize_one(index, Choices(words, keystream.overflow(i)))
        require_equal(payload_key(batch[i]), alone, f"report {i} of a batch, of value {index},")
    few = m.payloads(indices[:5], keystream)
    require(np.array_equal(few, batch[:5]), "a small batch must hold the first reports of a large one")


def check_rejected_draws_use_the_overflow_stream(m: Mechanism, seed: int) -> None:
    """Where many draws are rejected, because words have few bits, both paths still agree."""
    check_batch_equals_one_by_one(coarse(m, coarse_bits(m)), seed)


def check_overflow_is_indexed_by_report_beyond_the_first_chunk(m: Mechanism, seed: int) -> None:
    """The kernel gets words in chunks; a report's overflow does not restart with each."""
    small, keystream = coarse(m, coarse_bits(m)), Keystream.seeded(seed)
    shares = [t / MODULUS for name, t in small.thresholds.items() if name.startswith("rejection") and t]
    shown = math.ceil(25 / max(shares)) if shares else 400  # none of them is rejected once in e^25 times
    n = CHUNK_WORDS // m.stride + shown
    indices = np.random.default_rng(seed).integers(0, m.k, n)
    batch = by_kernel(small, indices, keystream)
    words = keystream.stream(0).words(n * m.stride).reshape(n, m.stride)[-shown:].tolist()
    replaced = 0
    for i, own in enumerate(words, start=n - shown):
        overflow = Counting(keystream.overflow(i))
        alone = small.randomize_one(int(indices[i]), Choices(own, iter(overflow)))
        require_equal(payload_key(batch[i]), alone, f"report {i} of a long batch")
        replaced += overflow.read > 0
    require(replaced > 0 or not shares, "rejected draws must be drawn again from the report's own overflow")


def check_one_value_changes_one_report(m: Mechanism, seed: int) -> None:
    """Another value of one person changes no other person's report."""
    keystream = Keystream.seeded(seed)
    before = np.zeros(300, np.int64)
    after = before.copy()
    after[150] = m.k - 1
    pairs = zip(by_kernel(m, before, keystream), by_kernel(m, after, keystream), strict=True)
    differs = {i for i, (one, other) in enumerate(pairs) if payload_key(one) != payload_key(other)}
    require(differs <= {150}, f"a change of value 150 must change no other report, and changed {sorted(differs)}")
