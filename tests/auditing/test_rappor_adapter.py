"""The adapter for Google's RAPPOR client that the documents print, run against a stand-in for that client."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import deniable as dn
from deniable.auditing.empirical.adapters import load
from tests.docs.pages import DOCS, blocks

P, Q, F = 0.5, 0.75, 0.5  # of the client's own example


class Params:
    num_bloombits = 16


class SecureIrrRand:
    def __init__(self, _: Params) -> None:
        self.random = np.random.default_rng(3)


class Encoder:
    """Two bits of a Bloom filter; one step keeps a bit with probability 1 - F, the next is new for each report."""

    def __init__(self, _: Params, __: int, secret: bytes, irr: SecureIrrRand) -> None:
        assert len(secret) == 32
        self.random = irr.random

    def encode(self, word: str) -> int:
        number = int(word.split()[1])
        bits = np.isin(np.arange(16), (number, number + 5))
        coins = self.random.random((3, 16))
        bits = np.where(coins[0] < F, coins[1] < 0.5, bits)
        return int((coins[2] < np.where(bits, Q, P)) @ (1 << np.arange(16)))


def test_the_adapter_that_is_printed_audits_a_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    stand_in = SimpleNamespace(Params=Params, SecureIrrRand=SecureIrrRand, Encoder=Encoder)
    monkeypatch.setitem(sys.modules, "rappor", stand_in)  # type: ignore[arg-type]
    (block,) = [each.text for each in blocks(DOCS / "audited-elsewhere.md") if "rappor_client.py" in each.text]
    exec(block, {})
    found = dn.audit(load(Path("rappor_client.py")), trials=6000).empirical
    assert found is not None
    assert found.what.startswith("Google's RAPPOR client")
    # each of up to four bits that differ spends log(q* (1 - p*) / (p* (1 - q*))) of the two steps together
    on, off = (1 - F / 2) * Q + F / 2 * P, F / 2 * Q + (1 - F / 2) * P
    assert 0 < found.bound < 4 * np.log(on * (1 - off) / (off * (1 - on)))
