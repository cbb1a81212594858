"""Long transforms in four steps convolve as one transform does."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.estimation.operators import transforms
from deniable.estimation.operators.transforms import Transform
from deniable.kernels.transforms import turn


@pytest.mark.parametrize("shape", [(1, 90), (2, 45), (64, 90), (256, 129)])
def test_a_product_of_spectra_is_a_cyclic_convolution(shape: tuple[int, int], rng: np.random.Generator) -> None:
    transform = Transform(*shape)
    first, second = rng.normal(size=(2, transform.length))
    short = first[: transform.length // 3]
    product = transform.forward(short) * transform.forward(second)
    assert product.shape == transform.shape
    padded = np.concatenate([short, np.zeros(transform.length - len(short))])
    wanted = np.fft.ifft(np.fft.fft(padded) * np.fft.fft(second)).real
    np.testing.assert_allclose(transform.backward(product), wanted, rtol=0, atol=1e-11)


@pytest.mark.parametrize("least", [7, 2**15 - 1, 2**15, 300_007])
def test_a_transform_is_as_long_as_asked_and_little_longer(least: int) -> None:
    transform = Transform.of_at_least(least)
    assert least <= transform.length <= 1.1 * least + 1
    row = np.zeros(transform.length)
    row[3] = 1.0
    np.testing.assert_allclose(transform.backward(transform.forward(row)), row, rtol=0, atol=1e-13)


def test_memory_is_used_again_and_threads_change_no_bit(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    transform = Transform.of_at_least(2**20 + 300)
    row, whole = rng.normal(size=2**19 + 5), rng.integers(0, 9, transform.length)
    assert transform.length >= transforms._LARGE
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setenv("DENIABLE_THREADS", str(threads))
        spectrum, back = np.full(transform.shape, np.nan, np.complex128), np.full(transform.length, np.nan)
        assert transform.forward(row, spectrum) is spectrum
        kept = spectrum.copy()
        assert transform.backward(spectrum, back) is back
        found.append((kept, back, transform.forward(whole, spectrum)))
    for one in found[1:]:
        assert all(map(np.array_equal, one, found[0]))
    np.testing.assert_allclose(found[0][1], np.pad(row, (0, transform.length - len(row))), rtol=0, atol=1e-12)


@pytest.mark.twin
def test_turning_equals_its_slow_twin(rng: np.random.Generator) -> None:
    table = rng.normal(size=(5, 150)) + 1j * rng.normal(size=(5, 150))
    wanted = [[table[r, c] * np.exp(0.37j * (3 + r) * c) for c in range(150)] for r in range(5)]
    turn(table, 0.37, 3)
    np.testing.assert_allclose(table, wanted, rtol=1e-12)
