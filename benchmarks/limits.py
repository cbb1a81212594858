"""Limits of the machine, measured in the same run: times differ between machines, ratios much less."""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from benchmarks.clock import medians

KEYSTREAM = "AES-CTR keystream"
BINCOUNT = "np.bincount"
COPY = "memory copy"

_MEGABYTE = 2**20
_ELEMENTS = 2**22
_CELLS = 1024


def measure() -> dict[str, float]:
    """Seconds per 64-bit word of secure keystream, per counted int64 and per copied byte."""
    encryptor = Cipher(algorithms.AES256(bytes(32)), modes.CTR(bytes(16))).encryptor()
    zeros, words = bytes(_MEGABYTE), bytearray(_MEGABYTE + 16)
    indices = np.random.default_rng(0).integers(_CELLS, size=_ELEMENTS)
    source = np.ones(_ELEMENTS)
    target = np.empty_like(source)
    seconds = medians(
        {
            KEYSTREAM: lambda: encryptor.update_into(zeros, words),
            BINCOUNT: lambda: np.bincount(indices, minlength=_CELLS),
            COPY: lambda: np.copyto(target, source),
        }
    )
    sizes = {KEYSTREAM: _MEGABYTE // 8, BINCOUNT: _ELEMENTS, COPY: source.nbytes}
    return {name: seconds[name] / size for name, size in sizes.items()}


def described(limits: dict[str, float]) -> str:
    """Describe the limits in one line."""
    return (
        f"AES-256-CTR {limits[KEYSTREAM] * 1e9:.2f} ns per word, np.bincount {limits[BINCOUNT] * 1e9:.2f} ns "
        f"per element (k={_CELLS}), copy {1e-9 / limits[COPY]:.1f} GB/s"
    )
