"""A large batch gives the same bytes, counts and errors whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.core.threads import VARIABLE
from deniable.mechanisms.base import client, counting
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.keystream import Keystream
from deniable.testing.checks.batches import by_kernel
from deniable.testing.checks.words import coarse, coarse_bits
from tests.contract import cases

THREADS = ("2", "3")
N = 2_000

every_mechanism = pytest.mark.parametrize("name", dn.list_mechanisms())


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share what one would do alone; chunks have an odd number of words where the stride is odd."""
    monkeypatch.setattr(client, "LARGE_WORDS", 1)
    monkeypatch.setattr(client, "CHUNK_WORDS", 500)
    monkeypatch.setattr(counting, "LARGE", 1)
    monkeypatch.setenv(VARIABLE, "1")


def batch(m: Mechanism, seed: int = 3) -> np.ndarray:
    indices = np.random.default_rng(seed).integers(0, m.k, N)
    return by_kernel(m, indices, Keystream.seeded(seed))


@every_mechanism
def test_reports_are_the_same_bytes(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    m = cases.of(name).one()
    for made in (m, coarse(m, coarse_bits(m))):  # with words of few bits many draws are rejected
        alone = batch(made)
        for threads in THREADS:
            monkeypatch.setenv(VARIABLE, threads)
            assert batch(made).tobytes() == alone.tobytes()
        monkeypatch.setenv(VARIABLE, "1")


@every_mechanism
def test_summaries_are_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    m = cases.of(name).one()
    data = batch(m)
    alone = m.summarize(data)
    for threads in THREADS:
        monkeypatch.setenv(VARIABLE, threads)
        assert m.summarize(data) == alone
        assert m.summarize(data.astype(np.uint64)) == alone


@every_mechanism
def test_errors_are_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    m = cases.of(name).one()
    wrong = batch(m)
    for place in (N // 2 + 7, N // 3):
        wrong[place] = np.iinfo(wrong.dtype).max
    shapes = wrong, wrong.reshape(N, -1)[:, :, np.newaxis], wrong.astype(float)
    for data in shapes:
        messages = set()
        for threads in ("1", *THREADS):
            monkeypatch.setenv(VARIABLE, threads)
            with pytest.raises(dn.MalformedReport) as caught:
                m.summarize(data)
            messages.add(str(caught.value))
        assert len(messages) == 1
        assert data is not wrong or f"position {N // 3} " in messages.pop()


def test_counts_of_threads_take_no_more_memory_than_the_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "8")
    shared: list[int] = []

    def noted(work, pieces, threads):  # type: ignore[no-untyped-def]
        shared.append(threads)
        return [work(pieces)]

    monkeypatch.setattr(counting, "share", noted)
    for k in (10, 500, 100_000):
        m = dn.mechanism("grr", k=k, epsilon=1.0)
        data = np.arange(N, dtype=np.uint32) % 10
        assert m.summarize(data).counts[:10].tolist() == [N // 10] * 10
    assert shared == [8, 2]  # at k = 500 two threads; at 100,000 one
