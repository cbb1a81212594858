"""A batch is what its reports are one by one, each with words of its own."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

from deniable import kernels
from deniable.core.arrays import Indices, Payloads
from deniable.mechanisms.base.client import CHUNK_WORDS
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests.contract.checks.payloads import payload_key
from tests.contract.checks.words import Counting, coarse, coarse_bits


def by_kernel(m: Mechanism, indices: Indices, keystream: Keystream) -> Payloads:
    """Randomise a batch by the kernel, although plain Python would do for so few."""
    with patch.object(kernels, "pay_for", lambda _steps: True):
        return m.payloads(indices, keystream)


def check_batch_equals_one_by_one(m: Mechanism, seed: int) -> None:
    keystream = Keystream.seeded(seed)
    indices = np.random.default_rng(seed).integers(0, m.k, 500)
    batch = by_kernel(m, indices, keystream)
    stream = keystream.stream(0)
    for i, index in enumerate(indices.tolist()):
        words = stream.words(m.stride).tolist()
        assert payload_key(batch[i]) == m.randomize_one(index, Choices(words, keystream.overflow(i)))
    few = m.payloads(indices[:5], keystream)
    assert np.array_equal(few, batch[:5])


def check_rejected_draws_use_the_overflow_stream(m: Mechanism, seed: int) -> None:
    # with few bits many draws are rejected; both paths must still agree
    check_batch_equals_one_by_one(coarse(m, coarse_bits(m)), seed)


def check_overflow_is_indexed_by_report_beyond_the_first_chunk(m: Mechanism, seed: int) -> None:
    # the base hands words to the kernel in chunks; a report's overflow must not restart with each
    small, keystream, shown = coarse(m, coarse_bits(m)), Keystream.seeded(seed), 400
    n = CHUNK_WORDS // m.stride + shown
    indices = np.random.default_rng(seed).integers(0, m.k, n)
    batch = by_kernel(small, indices, keystream)
    words = keystream.stream(0).words(n * m.stride).reshape(n, m.stride)[-shown:].tolist()
    replaced = 0
    for i, own in enumerate(words, start=n - shown):
        overflow = Counting(keystream.overflow(i))
        assert payload_key(batch[i]) == small.randomize_one(int(indices[i]), Choices(own, iter(overflow)))
        replaced += overflow.read > 0
    assert replaced > 0 or not any(name.startswith("rejection") and t for name, t in small.thresholds.items())


def check_one_value_changes_one_report(m: Mechanism, seed: int) -> None:
    keystream = Keystream.seeded(seed)
    before = np.zeros(300, np.int64)
    after = before.copy()
    after[150] = m.k - 1
    differs = np.flatnonzero(
        [
            payload_key(a) != payload_key(b)
            for a, b in zip(by_kernel(m, before, keystream), by_kernel(m, after, keystream), strict=True)
        ]
    )
    assert set(differs.tolist()) <= {150}
