"""How sure a figure is: bootstrap intervals over users, paired tests between two methods, correction for many.

Users are the sample, so everything starts from one number per user (or one rank per user). The paired test to
report is the sign-flip permutation test: it assumes nothing about how the differences are spread, and
ranking metrics are mostly zeros with a few large values. The t-test stands beside it because papers print it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sprintrec.metrics import ABSENT, CUTS, RANK_METRICS

DRAWS = 1000  # resamples of an interval
FLIPS = 10_000  # random sign patterns of a permutation test: its smallest p value is 1 / 10,001
LEVEL = 0.95
BLOCK = 1 << 22  # random numbers held at once


@dataclass(frozen=True)
class Interval:
    """A mean over users and the range that holds the true mean with the stated probability."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Method a against method b on the same users; differences are a minus b."""

    difference: Interval
    p_permutation: float
    p_t: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Spread:
    """A figure over seeds; with one seed there is no deviation to speak of."""

    mean: float
    deviation: float | None  # sample standard deviation
    seeds: int


# ---- intervals -----------------------------------------------------------------------------------


def bootstrap_interval(values: np.ndarray, draws: int = DRAWS, seed: int = 0, level: float = LEVEL) -> Interval:
    """Percentile bootstrap of the mean: as many users as there are, drawn with replacement, many times."""
    values = _numbers(values)
    generator = np.random.default_rng(seed)
    means = [
        values[generator.integers(len(values), size=(rows, len(values)))].mean(axis=1)
        for rows in _rows_per_block(draws, len(values))
    ]
    low, high = np.quantile(np.concatenate(means), _tails(level))
    return Interval(float(values.mean()), float(low), float(high))


def rank_intervals(
    ranks: np.ndarray, cuts: Sequence[int] = CUTS, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> dict[str, tuple[float, float]]:
    """``bootstrap_interval`` of every metric of rank: ``{"recall@5": (low, high), ...}``, keys as in a summary.

    Users with the same rank are alike, so drawing how often each rank occurs is drawing users: one multinomial
    a resample, shared by all metrics.
    """
    if len(ranks) == 0:
        raise ValueError("no users: nothing to resample")
    counts = np.bincount(ranks, minlength=ABSENT + 1)
    every_rank = np.arange(1, ABSENT + 1)
    metrics = {f"{name}@{k}": metric(every_rank, k) for k in cuts for name, metric in RANK_METRICS.items()}
    shares = np.random.default_rng(seed).multinomial(len(ranks), counts[1:] / len(ranks), size=draws) / len(ranks)
    lows, highs = np.quantile(shares @ np.stack(list(metrics.values()), axis=1), _tails(level), axis=0)
    return {key: (float(low), float(high)) for key, low, high in zip(metrics, lows, highs, strict=True)}


def wilson_interval(share: float, count: int) -> Interval:
    """Wilson's 95 % interval of a share of ``count`` users: holds for few users and for shares near 0, too.

    With z = 1.96: (share + z^2 / 2n -+ z sqrt(share (1 - share) / n + z^2 / 4n^2)) / (1 + z^2 / n).
    """
    if count < 1:
        raise ValueError("no users: nothing to take a share of")
    z = 1.959963984540054  # the normal distribution's 97.5 % point
    middle, scale = share + z * z / (2 * count), 1 + z * z / count
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return Interval(share, max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))


# ---- two methods, the same users -----------------------------------------------------------------


def compare(a: np.ndarray, b: np.ndarray, seed: int = 0, draws: int = DRAWS, flips: int = FLIPS) -> Comparison:
    """Everything there is to say about two methods' figures for the same users in the same order."""
    differences = _differences(a, b)
    wins, ties, losses = wins_ties_losses(a, b)
    return Comparison(
        bootstrap_interval(differences, draws, seed),
        permutation_test(a, b, flips, seed),
        t_test(a, b),
        wins,
        ties,
        losses,
    )


def wins_ties_losses(a: np.ndarray, b: np.ndarray) -> tuple[int, int, int]:
    """Users for whom a is above, equal to and below b."""
    differences = _differences(a, b)
    return int((differences > 0).sum()), int((differences == 0).sum()), int((differences < 0).sum())


def permutation_test(a: np.ndarray, b: np.ndarray, flips: int = FLIPS, seed: int = 0) -> float:
    """Two-sided p of the mean difference if each user's two figures could as well have been swapped.

    p = (1 + patterns at least as extreme) / (1 + patterns drawn), so p is never 0.
    """
    differences = _differences(a, b)
    differences = differences[differences != 0]
    sums = _sign_flipped_sums(differences, flips, np.random.default_rng(seed))
    # Sums that differ in rounding alone count as equally extreme.
    bound = abs(differences.sum()) - 1e-9 * np.abs(differences).sum()
    return float(1 + (np.abs(sums) >= bound).sum()) / (1 + flips)


def _sign_flipped_sums(differences: np.ndarray, flips: int, generator: np.random.Generator) -> np.ndarray:
    """The sum of the differences under random signs [flips].

    Eight users share a random byte, and the 256 sums that eight signs can make are looked up: exact, and an
    eighth of the work.
    """
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    eights = np.pad(differences, (0, -len(differences) % 8)).reshape(-1, 8)
    columns = max(1, BLOCK // flips)
    sums = np.zeros(flips)
    for start in range(0, len(eights), columns):
        table = signs @ eights[start : start + columns].T
        picked = generator.integers(256, size=(flips, table.shape[1]), dtype=np.uint8)
        sums += table[picked, np.arange(table.shape[1])].sum(axis=1)
    return sums


def t_test(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p of the paired t-test: t = mean / (deviation / sqrt(n)) with n - 1 degrees of freedom."""
    differences = _differences(a, b)
    if len(differences) < 2:
        raise ValueError("a t-test needs at least two users")
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    mean = float(differences.mean())
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return t_tails(mean / error, len(differences) - 1)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Holm's adjusted p values, in the order given: compare with 0.05 as if there had been one test.

    The i-th smallest of m is multiplied by m - i + 1, then made no smaller than the one before it.
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def over_seeds(values: Sequence[float]) -> Spread:
    """Mean and sample standard deviation of one figure over seeds."""
    figures = _numbers(np.asarray(values))
    deviation = float(figures.std(ddof=1)) if len(figures) > 1 else None
    return Spread(float(figures.mean()), deviation, len(figures))


# ---- Student's t without a statistics library ----------------------------------------------------


def t_tails(t: float, degrees: int) -> float:
    """P(|T| >= |t|) of Student's t: I_x(degrees / 2, 1 / 2) at x = degrees / (degrees + t^2)."""
    whole = degrees + t * t
    return _incomplete_beta(degrees / 2.0, 0.5, degrees / whole, t * t / whole)


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised I_x(a, b) by its continued fraction, on the side where that converges fast.

    ``rest`` is 1 - x, given because a subtraction would lose a tiny one.
    """
    if x == 0.0 or rest == 0.0:
        return float(rest == 0.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(b, a, rest, x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(log_front) / (a * _continued_fraction(lambda n: _beta_numerator(a, b, x, n)))


def _beta_numerator(a: float, b: float, x: float, n: int) -> float:
    """d_n of I_x(a, b) = front / (a (1 + d_1 / (1 + d_2 / (1 + ...))))."""
    m = n // 2
    if n % 2:
        return -(a + m) * (a + b + m) * x / ((a + n - 1) * (a + n))
    return m * (b - m) * x / ((a + n - 1) * (a + n))


def _continued_fraction(numerator: Callable[[int], float], accuracy: float = 1e-15) -> float:
    """1 + d_1 / (1 + d_2 / (1 + ...)) by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for n in range(1, 100_000):
        d = 1.0 / _away_from_zero(1.0 + numerator(n) * d)
        c = _away_from_zero(1.0 + numerator(n) / c)
        value *= c * d
        if abs(c * d - 1.0) < accuracy:
            return value
    raise ArithmeticError("a continued fraction did not converge")


def _away_from_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300


# ---- what all of them check and share ------------------------------------------------------------


def _differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = _numbers(a), _numbers(b)
    if len(a) != len(b):
        raise ValueError(f"a paired test needs the same users on both sides, not {len(a)} and {len(b)}")
    return a - b


def _numbers(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError("needs one finite number per user, and at least one user")
    return values


def _tails(level: float) -> tuple[float, float]:
    return (1.0 - level) / 2.0, (1.0 + level) / 2.0


def _rows_per_block(rows: int, columns: int) -> Iterator[int]:
    """Row counts that add up to ``rows``, each block of rows times columns within BLOCK where it can be."""
    block = max(1, BLOCK // columns)
    for start in range(0, rows, block):
        yield min(block, rows - start)
