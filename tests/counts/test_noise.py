"""Discrete Laplace noise: exactly two-sided geometric, by coins whose probabilities are never rounded."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from scipy.stats import chi2

import deniable as dn
from deniable.kernels import noise as discrete_laplace
from deniable.randomness.bounds import digits_below
from deniable.randomness.discrete_laplace import Coin, Sampler, ratio_of_neighbours, sampler
from deniable.randomness.keystream import Keystream
from tests.naive import noise as naive

SMALL = Fraction(3, 4)  # a ratio whose digits can be written out


def probability(coin: Coin) -> Fraction:
    """The coin's probability in exact arithmetic."""
    power = coin.q**coin.power
    return power / (1 + power) if coin.odds else power


def test_the_coins_make_the_two_sided_geometric_distribution() -> None:
    for q in (SMALL, Fraction(1, 3), Fraction(9, 10)):
        source = Sampler(q)
        *digits, sign, tail = map(probability, source.coins)
        for z in range(-40, 41):
            number = z if z >= 0 else -1 - z
            chance = sign if z < 0 else 1 - sign
            for place, p in enumerate(digits):
                chance *= p if number >> place & 1 else 1 - p
            left = number >> len(digits)  # geometric: each further 2^K has the tail's probability once more
            chance *= tail**left * (1 - tail)
            assert chance == (1 - q) / (1 + q) * q ** abs(z)


@pytest.mark.parametrize("q", [SMALL, Fraction(1, 5), ratio_of_neighbours(1.0, 1), ratio_of_neighbours(0.3, 2)])
def test_a_coin_has_the_digits_of_its_probability(q: Fraction) -> None:
    for power, odds, bits in itertools.product((1, 2, 8), (True, False), (3, 32, 96, 400)):
        exact = probability(Coin(q, power, odds))
        assert digits_below(q, power, odds, bits) == exact.numerator * 2**bits // exact.denominator


@pytest.mark.parametrize("odds", [True, False])
def test_a_coin_decided_by_overflow_is_exact(odds: bool) -> None:
    # all first parts of 6 bits; one of them ties and goes on with 64 more: the share that is true is then
    # p to 70 digits, and so on: nothing is ever rounded
    coin = Coin(SMALL, 3, odds)
    bits, exact = 6, probability(Coin(SMALL, 3, odds))
    whole = exact.numerator * 2**bits // exact.denominator
    decided = [coin.decide(drawn, bits, iter(())) for drawn in range(2**bits) if drawn != whole]
    assert sum(decided) == whole
    border = digits_below(SMALL, 3, odds, bits + 64) - (whole << 64)
    assert coin.decide(whole, bits, iter([border - 1]))
    assert not coin.decide(whole, bits, iter([border + 1]))
    last = digits_below(SMALL, 3, odds, bits + 128) & (2**64 - 1)
    if last:
        assert coin.decide(whole, bits, iter([border, last - 1]))
    assert not coin.decide(whole, bits, iter([border, last + 1]))


def every_word(coins: int, bits: int) -> np.ndarray:
    """All words of one count, for half words of that many bits: two coins a word, the low half first."""
    halves = np.array(list(itertools.product(range(2**bits), repeat=coins)), np.uint64) << np.uint64(32 - bits)
    return (halves[:, 0::2] | halves[:, 1::2] << np.uint64(32)).reshape(-1)


def ways(z: int, thresholds: list[int], bits: int) -> int:
    """How many of all words decide for z: a coin is true below its threshold, false above, undecided on it."""
    number, size = (z if z >= 0 else -1 - z), len(thresholds) - 2
    true = [*(number >> place & 1 for place in range(size)), z < 0, False]
    return math.prod(t if is_true else 2**bits - t - 1 for t, is_true in zip(thresholds, true, strict=True))


@pytest.mark.twin
@pytest.mark.parametrize(("thresholds", "bits"), [([3, 5, 2, 1], 3), ([1, 2, 3, 0, 2, 1], 2)])
def test_the_kernel_counts_as_the_coins_do_on_all_words_there_are(thresholds: list[int], bits: int) -> None:
    words = every_word(len(thresholds), bits)
    n = len(words) // (len(thresholds) // 2)
    out, undecided = np.empty(n, np.int64), np.empty(n, np.bool_)
    shifted = np.array(thresholds, np.uint64) << np.uint64(32 - bits)
    assert discrete_laplace.draw_noise(words, shifted, undecided, out) == undecided.sum()
    reach = 2 ** (len(thresholds) - 2)
    counts = {z: int(((out == z) & ~undecided).sum()) for z in range(-reach, reach)}
    assert counts == {z: ways(z, thresholds, bits) for z in counts}
    assert sum(counts.values()) + undecided.sum() == n


def test_what_is_decided_is_within_the_distribution_and_the_rest_is_undecided() -> None:
    bits, m = 2, dn.DiscreteLaplace(0.6)
    source = sampler(m.q)
    words, n = every_word(len(source.coins), bits), 4 ** len(source.coins)
    out, undecided = np.empty(n, np.int64), np.empty(n, np.bool_)
    discrete_laplace.draw_noise(words, source.thresholds(bits), undecided, out)
    first = [coin.digits(bits) for coin in source.coins]
    assert first[:3] == [1, 0, 0]
    for z in range(-(2**source.size), 2**source.size):
        decided = int(((out == z) & ~undecided).sum())
        assert decided == ways(z, first, bits)
        assert Fraction(decided, n) <= m.probability(z)


@pytest.mark.twin
@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 8.0, 40.0])
def test_the_kernel_agrees_with_its_twin(epsilon: float, rng: np.random.Generator) -> None:
    source = sampler(ratio_of_neighbours(epsilon, 1))
    thresholds = source.thresholds()
    words = rng.integers(0, 2**64, 60 * source.stride, dtype=np.uint64)
    places = rng.choice(len(words), len(words) // 8, replace=False)
    words[places] = thresholds[2 * (places % source.stride)]  # ties of low halves
    words[places[: len(places) // 2]] = thresholds[2 * (places[: len(places) // 2] % source.stride) + 1] << np.uint64(
        32
    )
    out, undecided = np.empty(60, np.int64), np.empty(60, np.bool_)
    count = discrete_laplace.draw_noise(words, thresholds, undecided, out)
    numbers, wanted = naive.draw_noise(words.tolist(), thresholds.tolist())
    assert (out.tolist(), undecided.tolist(), count) == (numbers, wanted, sum(wanted))
    assert 0 < count < 60


def test_one_by_one_and_in_chunks_are_the_same() -> None:
    for epsilon in (0.001, 1.0, 20.0):
        source, keystream = sampler(ratio_of_neighbours(epsilon, 1)), Keystream.seeded(3)
        assert source._one_by_one(700, keystream).tolist() == source._in_chunks(700, keystream).tolist()


def test_the_tail_has_no_end() -> None:
    source = sampler(ratio_of_neighbours(1.0, 1))
    *halves, tail = (int(t) + 1 for t in source.thresholds())  # all coins false, but for the tail
    halves = [*halves, tail - 2 if tail > 1 else 0]
    words = [low | high << 32 for low, high in zip(halves[0::2], halves[1::2], strict=True)]
    # the tail's coin ties at its first digits, 0; then it is true as often as overflow words are small
    overflow = iter([0, 0, 0, 0, 0, 0, 2**64 - 1])
    assert source.draw_one(words, overflow) >= 2 * 2**source.size


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_the_sampler_follows_the_distribution(epsilon: float, seed: int) -> None:
    m, n = dn.DiscreteLaplace(epsilon), 400_000
    z = m.release(np.zeros(n, np.int64), seed=seed).values
    cells = 25
    edge = max(1, int(2 / epsilon))
    inside = np.clip(z, -edge * 3, edge * 3)
    seen, counts = np.unique(inside, return_counts=True)
    q = float(m.q)
    expected = []
    for value in seen.tolist():
        chance = (1 - q) / (1 + q) * q ** abs(value)
        expected.append(n * (chance / (1 - q) if abs(value) == edge * 3 else chance))
    assert len(seen) >= min(cells, 7)
    assert math.isclose(sum(expected), n, rel_tol=1e-9)
    statistic = float(((counts - np.array(expected)) ** 2 / np.array(expected)).sum())
    assert statistic < chi2.isf(1e-9, len(seen) - 1)
    planted = np.where(z == 0, 1, z)[: n // 4]  # a sampler that never says zero is noticed
    assert (planted == 0).sum() == 0 < expected[int(np.flatnonzero(seen == 0)[0])] - 6 * math.sqrt(n)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, math.log(3), 7.0, 50.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 50])
def test_the_guarantee_is_within_epsilon(epsilon: float, sensitivity: int) -> None:
    m = dn.DiscreteLaplace(epsilon, sensitivity)
    guarantee = m.guarantee()
    # neighbours differ by at most the sensitivity: the largest ratio is q^-sensitivity, reached beyond both counts
    shifted = [m.probability(z) / m.probability(z + sensitivity) for z in (-sensitivity, -1, 0, 7)]
    assert max(shifted + [1 / ratio for ratio in shifted]) == guarantee.ratio
    with flint.ctx.workprec(600):
        assert flint.arb(flint.fmpq(guarantee.ratio.numerator, guarantee.ratio.denominator)) <= flint.arb(epsilon).exp()
    assert guarantee.slack >= 0
    assert guarantee.epsilon <= math.nextafter(epsilon, math.inf)
    assert sum(m.probability(z) for z in range(-3, 4)) <= 1


def test_a_release_keeps_shape_and_noise() -> None:
    m = dn.DiscreteLaplace(2.0, sensitivity=2)
    for counts in (7, [1, 2, 3], [[1, 2], [3, 4]], np.arange(6, dtype=np.uint8), [2**70, 0], -3):
        release = m.release(counts, seed=1)
        assert release.shape == np.shape(counts)
        assert release.simulated
        assert (release.epsilon, release.sensitivity) == (2.0, 2)
        assert dn.Release.from_json(release.to_json()) == release
        assert dn.Release.from_arrow(release.to_arrow()) == release
        assert release.std_error == pytest.approx(math.sqrt(2 * math.exp(-1)) / (1 - math.exp(-1)))
    assert not m.release([1]).simulated
    assert abs(int(m.release([2**70], seed=5).values[0]) - 2**70) < 100
    assert m.release([1, 2], seed=4) == m.release([1, 2], seed=4)
    with pytest.raises(ValueError, match="read-only"):
        m.release([1]).values[0] = 3
    assert "1 at sensitivity" not in str(m.release([1, 2]))


def test_fresh_noise_is_fresh() -> None:
    m, zeros = dn.DiscreteLaplace(0.1), np.zeros(200, np.int64)
    assert m.release(zeros).values.tolist() != m.release(zeros).values.tolist()


WRONG = [
    (lambda: dn.DiscreteLaplace(0.0), "epsilon must be positive, got 0.0"),
    (lambda: dn.DiscreteLaplace(-1.0), "epsilon must be positive, got -1.0"),
    (lambda: dn.DiscreteLaplace(60.0), "epsilon must be from"),
    (lambda: dn.DiscreteLaplace(1e-12), "epsilon must be from"),
    (lambda: dn.DiscreteLaplace(1.0, -1), "sensitivity must be a whole number from 1"),
    (lambda: dn.DiscreteLaplace(1.0, 1.5), "sensitivity must be a whole number from 1"),
    (lambda: dn.DiscreteLaplace(1.0).release([1.5]), "counts must be whole numbers, got a value of type float"),
    (lambda: dn.DiscreteLaplace(1.0).release([True]), "counts must be whole numbers"),
    (lambda: dn.DiscreteLaplace(1.0).release(np.ma.masked_equal([1, 2], 2)), "none of them masked"),
    (
        lambda: dn.DiscreteLaplace(1.0).release([float("nan"), 1]),
        "counts must be whole numbers, got a value of type float",
    ),
    (lambda: dn.DiscreteLaplace(1.0).release(["a"]), "counts must be whole numbers, got a value of type str"),
    (lambda: dn.DiscreteLaplace(1.0).release([[1], [2, 3]]), "counts must be whole numbers in rows of equal length"),
    (lambda: dn.DiscreteLaplace(1.0).release([]), "counts must hold at least one count, got 'none'"),
    (lambda: dn.Release.from_json("{}"), "this text is not a release"),
    (lambda: dn.Release.from_json('{"deniable.release": 2}'), "layout of the release has version 2"),
    (lambda: dn.Release.from_json('{"deniable.release": 1, "epsilon": 1.0}'), "the release is damaged"),
    (
        lambda: dn.Release.from_json(
            dn.DiscreteLaplace(1.0).release([1]).to_json().replace('"epsilon": 1.0', '"epsilon": 1.1')
        ),
        "its ratio is not that of its epsilon",
    ),
]


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says[:50] for _, says in WRONG])
def test_a_wrong_call_gives_one_clear_line(call: object, says: str) -> None:
    with pytest.raises(dn.DeniableError) as caught:
        call()  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_words_keep_their_meaning() -> None:
    # the same key gives the same noise in every release and language: two coins a word, the low half first
    keystream = Keystream(bytes(range(32)))
    golden = {
        (1.0, 1): [-1, 0, -3, -2, 1, 0, -2, 1, -1, 0, -1, 0],
        (0.01, 1): [-69, 42, 86, -83, 3, -6, -40, -45, 85, -103, 80, 12],
        (1.0, 2): [-1, 0, -3, -2, 1, -1, -2, 3, -5, -2, -1, 2],
    }
    for (epsilon, sensitivity), numbers in golden.items():
        assert sampler(ratio_of_neighbours(epsilon, sensitivity)).draw(12, keystream).tolist() == numbers
    assert [int(t) for t in sampler(ratio_of_neighbours(1.0, 1)).thresholds()[:3]] == [
        1155094609,
        511972651,
        77250183,
    ]
