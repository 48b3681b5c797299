"""Intervals and tests against scipy, against exhaustive enumeration, and on data whose truth is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from sprintrec import significance
from sprintrec.metrics import ABSENT, ndcg, summary


def some_ranks(count: int, seed: int = 0) -> np.ndarray:
    """Ranks as a recommender gives them: some near the top, most absent."""
    drawn = np.random.default_rng(seed).pareto(0.4, count) * 20 + 1
    return np.minimum(drawn, ABSENT).astype(np.uint16)


# ---- intervals -----------------------------------------------------------------------------------


def test_interval_agrees_with_scipy() -> None:
    values = ndcg(some_ranks(500), 100)
    ours = significance.bootstrap_interval(values, draws=4000)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
    width = theirs.high - theirs.low
    assert ours.mean == pytest.approx(values.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.06 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.06 * width)


def test_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    """300 samples of 150 users from a skewed distribution whose mean is known."""
    generator = np.random.default_rng(0)
    values, chances = np.array([0.0, 0.3, 0.6, 1.0]), np.array([0.7, 0.1, 0.1, 0.1])
    covered = 0
    for seed in range(300):
        interval = significance.bootstrap_interval(generator.choice(values, 150, p=chances), draws=300, seed=seed)
        covered += interval.low <= values @ chances <= interval.high
    assert 0.91 <= covered / 300 <= 0.98


def test_interval_does_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(50)
    whole = significance.bootstrap_interval(values)
    monkeypatch.setattr(significance, "BLOCK", 70)
    assert significance.bootstrap_interval(values) == whole


def test_same_seed_same_interval_and_a_higher_level_is_wider() -> None:
    values = np.random.default_rng(0).random(80)
    interval = significance.bootstrap_interval(values, seed=3)
    assert significance.bootstrap_interval(values, seed=3) == interval
    assert significance.bootstrap_interval(values, seed=4) != interval
    wider = significance.bootstrap_interval(values, seed=3, level=0.99)
    assert wider.low < interval.low < interval.mean < interval.high < wider.high


def test_interval_of_equal_values_is_a_point() -> None:
    assert significance.bootstrap_interval(np.full(9, 0.25)) == significance.Interval(0.25, 0.25, 0.25)


def test_rank_intervals_are_the_intervals_of_the_metrics() -> None:
    ranks = some_ranks(2000)
    intervals = significance.rank_intervals(ranks, cuts=(10, 100), draws=4000)
    assert list(intervals) == list(summary(ranks, cuts=(10, 100)))
    for k in (10, 100):
        plain = significance.bootstrap_interval(ndcg(ranks, k), draws=4000)
        low, high = intervals[f"ndcg@{k}"]
        assert low == pytest.approx(plain.low, abs=0.06 * (plain.high - plain.low))
        assert high == pytest.approx(plain.high, abs=0.06 * (plain.high - plain.low))


def test_rank_intervals_at_the_ends() -> None:
    assert set(significance.rank_intervals(np.full(5, ABSENT, np.uint16)).values()) == {(0.0, 0.0)}
    assert set(significance.rank_intervals(np.ones(5, np.uint16)).values()) == {(1.0, 1.0)}
    with pytest.raises(ValueError, match="no users"):
        significance.rank_intervals(np.zeros(0, np.uint16))


@pytest.mark.parametrize(("hits", "count"), [(0, 7), (1, 10), (50, 100), (7, 7), (300, 22_363)])
def test_wilson_interval_agrees_with_scipy(hits: int, count: int) -> None:
    ours = significance.wilson_interval(hits / count, count)
    theirs = stats.binomtest(hits, count).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_interval_needs_users() -> None:
    with pytest.raises(ValueError, match="no users"):
        significance.wilson_interval(0.0, 0)


# ---- paired tests --------------------------------------------------------------------------------


def paired(count: int, gain: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    base = generator.random(count)
    return base + gain + generator.normal(0, 0.3, count), base


@pytest.mark.parametrize(("count", "gain"), [(2, 0.1), (3, 0.0), (30, 0.1), (400, 0.03), (5000, 0.05)])
def test_t_test_agrees_with_scipy(count: int, gain: float) -> None:
    a, b = paired(count, gain)
    assert significance.t_test(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(t=st.floats(-60, 60), degrees=st.integers(1, 300_000))
@example(t=6.9e-06, degrees=37_463)  # 1 - degrees / (degrees + t^2) has few true digits
def test_tails_of_t_agree_with_scipy(t: float, degrees: int) -> None:
    assert significance.t_tails(t, degrees) == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-7, abs=1e-300)


def test_permutation_test_agrees_with_every_sign_pattern() -> None:
    """Twelve users have 4,096 sign patterns: the exact p is their share with a sum as extreme."""
    differences = np.array([3, 2, 2, 1, 1, 1, 1, -1, -2, 4, -1, 3]) / 10  # few sizes, so that ties of sums matter
    a, b = differences, np.zeros(12)
    sums = np.array([np.dot(signs, differences) for signs in itertools.product((1, -1), repeat=12)])
    exact = (np.abs(sums) >= abs(differences.sum()) - 1e-9).mean()
    assert 0.02 < exact < 0.5
    assert significance.permutation_test(a, b, flips=40_000) == pytest.approx(exact, abs=0.01)


def test_permutation_test_agrees_with_scipy() -> None:
    a, b = paired(60, 0.06)
    theirs = stats.permutation_test(
        (a, b), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples", n_resamples=9999, rng=0
    )
    assert significance.permutation_test(a, b) == pytest.approx(theirs.pvalue, abs=0.015)


def test_permutation_test_rejects_a_true_null_as_often_as_it_says() -> None:
    p_values = [significance.permutation_test(*paired(40, 0.0, seed), flips=400, seed=seed) for seed in range(400)]
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.08


def test_permutation_test_does_not_depend_on_users_who_tie() -> None:
    a, b = paired(30, 0.1)
    padded = significance.permutation_test(np.append(a, np.ones(200)), np.append(b, np.ones(200)))
    assert padded == significance.permutation_test(a, b)


def test_permutation_test_in_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = paired(300, 0.04)
    whole = significance.permutation_test(a, b)
    monkeypatch.setattr(significance, "BLOCK", 10_000)
    assert significance.permutation_test(a, b) == pytest.approx(whole, abs=0.01)


def test_equal_methods() -> None:
    same = some_ranks(20) / 10
    comparison = significance.compare(same, same)
    assert comparison == significance.Comparison(significance.Interval(0.0, 0.0, 0.0), 1.0, 1.0, 0, 20, 0)


def test_a_constant_gain_is_certain() -> None:
    a = np.array([0.5, 0.25, 1.0])
    assert significance.t_test(a, a - 0.25) == 0.0


def test_comparison_says_who_won_and_by_how_much() -> None:
    a, b = np.array([1.0, 0.5, 0.5, 0.0, 1.0]), np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    comparison = significance.compare(a, b)
    assert (comparison.wins, comparison.ties, comparison.losses) == (3, 1, 1)
    assert comparison.difference.mean == pytest.approx(0.4)
    swapped = significance.compare(b, a)
    assert swapped.difference.mean == pytest.approx(-0.4)
    assert swapped.p_t == pytest.approx(comparison.p_t)


def test_a_clear_difference_has_the_smallest_p_there_is() -> None:
    a, b = paired(2000, 0.2)
    assert significance.permutation_test(a, b, flips=999) == 1 / 1000


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([0.1, 0.2], [0.1], "same users on both sides, not 2 and 1"),
        ([], [], "at least one user"),
        ([0.1, float("nan")], [0.1, 0.2], "finite"),
    ],
)
def test_what_can_not_be_compared(a: list[float], b: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        significance.compare(np.array(a), np.array(b))


def test_one_user_is_no_t_test() -> None:
    with pytest.raises(ValueError, match="two users"):
        significance.t_test(np.array([1.0]), np.array([0.5]))


# ---- many comparisons, many seeds ----------------------------------------------------------------


def test_holm_by_hand() -> None:
    """Sorted .005 .01 .03 .04 times 4 3 2 1: .02 .03 .06 .04, and the last is lifted to .06."""
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float]) -> None:
    """Walk up the sorted p values; stop at the first that is not within 0.05 / (tests left)."""
    rejected = set()
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for place, index in enumerate(order):
        if p_values[index] * (len(p_values) - place) > 0.05:
            break
        rejected.add(index)
    adjusted = significance.holm(p_values)
    assert {i for i, p in enumerate(adjusted) if p <= 0.05} == rejected
    assert all(one >= other for one, other in zip(adjusted, p_values, strict=True))
    assert all(p <= 1 for p in adjusted)


def test_over_seeds() -> None:
    assert significance.over_seeds([1.0, 2.0, 3.0]) == significance.Spread(2.0, 1.0, 3)
    assert significance.over_seeds([0.1]) == significance.Spread(0.1, None, 1)
