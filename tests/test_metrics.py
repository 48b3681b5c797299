"""Metrics against numbers worked by hand and against the textbook definitions, written with lists and loops."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sprintrec import metrics
from sprintrec.metrics import ABSENT
from sprintrec.records import Rankings


def rankings(*lists: list[int], width: int | None = None) -> Rankings:
    width = width or max(map(len, lists))
    return Rankings(np.array([row + [-1] * (width - len(row)) for row in lists], np.int32))


# ---- worked by hand ------------------------------------------------------------------------------

#         item: 0  1  2  3  4  5     five users, catalogue of six items, four codes
CODE = np.array([0, 0, 1, 2, 1, 3])
LISTS = rankings([3, 1, 5], [0, 1, 2], [4, 2], [5, 0, 3], [2, 3, 4])
TARGETS = np.array([3, 2, 2, 1, 0])


def test_target_ranks() -> None:
    assert metrics.target_ranks(LISTS, TARGETS).tolist() == [1, 3, 2, ABSENT, ABSENT]


def test_code_ranks() -> None:
    """User 1: codes 0 0 1, so code 1 is second. User 2: 4 and 2 share a code. User 3: item 0 has the code of 1."""
    assert metrics.code_ranks(LISTS, TARGETS, CODE).tolist() == [1, 2, 1, 2, ABSENT]


def test_metrics_of_rank() -> None:
    ranks = np.array([1, 3, 2, ABSENT, ABSENT], np.uint16)
    assert metrics.recall(ranks, 2).tolist() == [1, 0, 1, 0, 0]
    assert metrics.ndcg(ranks, 3) == pytest.approx([1, 0.5, 1 / math.log2(3), 0, 0])
    assert metrics.mrr(ranks, 3) == pytest.approx([1, 1 / 3, 1 / 2, 0, 0])


def test_summary() -> None:
    ranks = np.array([1, 3, 2, ABSENT, ABSENT], np.uint16)
    assert metrics.summary(ranks, cuts=(1, 3)) == pytest.approx(
        {
            "recall@1": 0.2,
            "ndcg@1": 0.2,
            "mrr@1": 0.2,
            "recall@3": 0.6,
            "ndcg@3": (1 + 0.5 + 1 / math.log2(3)) / 5,
            "mrr@3": (1 + 1 / 3 + 1 / 2) / 5,
        }
    )


def test_summary_of_no_question() -> None:
    with pytest.raises(ValueError, match="no question"):
        metrics.summary(np.zeros(0, np.uint16))


@pytest.mark.parametrize("metric", metrics.RANK_METRICS.values())
def test_absent_is_never_a_hit(metric: metrics.RankMetric) -> None:
    assert metric(np.array([ABSENT], np.uint16), metrics.DEEPEST).tolist() == [0]
    for k in (0, metrics.DEEPEST + 1):
        with pytest.raises(ValueError, match="cut"):
            metric(np.array([ABSENT], np.uint16), k)


def test_ranks_beyond_the_deepest_are_absent() -> None:
    long = Rankings(np.arange(3000, dtype=np.int32)[None].repeat(4, axis=0))
    targets = np.array([0, 999, 1000, 2999])
    assert metrics.target_ranks(long, targets).tolist() == [1, 1000, ABSENT, ABSENT]
    assert metrics.code_ranks(long, targets, np.arange(3000)).tolist() == [1, 1000, ABSENT, ABSENT]
    # Three items a code: the 1,000 codes of 3,000 items are all within reach.
    assert metrics.code_ranks(long, targets, np.arange(3000) // 3).tolist() == [1, 334, 334, 1000]


def test_coverage() -> None:
    assert metrics.coverage(LISTS, 6, 1) == pytest.approx(5 / 6)  # 3 0 4 5 2
    assert metrics.coverage(rankings([1], [1]), 4, 5) == 0.25
    assert metrics.coverage(rankings([], width=3), 4, 3) == 0


def test_novelty() -> None:
    """Counts 3 and 0 smoothed to 4/5 and 1/5: one common item shown twice, one new item once."""
    expected = -(2 * math.log2(4 / 5) + math.log2(1 / 5)) / 3
    assert metrics.novelty(rankings([0, 1], [0]), np.array([3, 0]), 2) == pytest.approx(expected)


def test_popularity_lift() -> None:
    popularity = np.array([9, 3, 0])
    assert metrics.popularity_lift(rankings([0, 1], [0]), popularity, 3.5, 2) == pytest.approx(1.0)
    assert metrics.popularity_lift(rankings([0, 1], [0]), popularity, 9.0, 1) == pytest.approx(0.0)


def test_intra_list_distance() -> None:
    """East, north and west: distances 1, 1 and 2; a list of one item has no distance and doesn't count."""
    vectors = np.array([[1, 0], [0, 5], [-2, 0]], np.float32)
    assert metrics.intra_list_distance(rankings([0, 1, 2]), vectors, 3) == pytest.approx(4 / 3)
    assert metrics.intra_list_distance(rankings([0, 2, 1], [1]), vectors, 2) == pytest.approx(2.0)


def test_intra_list_distance_of_vectors_in_half_precision() -> None:
    """As the prepared folder keeps them: large norms must not overflow, a vector of zeros is at distance 1."""
    vectors = np.array([[300, 0], [300, 300], [0, 0]], np.float16)
    assert metrics.intra_list_distance(rankings([0, 1]), vectors, 2) == pytest.approx(1 - math.sqrt(0.5))
    assert metrics.intra_list_distance(rankings([0, 2]), vectors, 2) == pytest.approx(1.0)


def test_nothing_shown_is_a_number() -> None:
    nothing = rankings([], [], width=3)
    assert metrics.novelty(nothing, np.array([3, 0]), 3) == 0
    assert metrics.popularity_lift(nothing, np.array([3, 0]), 1.5, 3) == 0
    assert metrics.intra_list_distance(nothing, np.eye(2), 3) == 0


# ---- the textbook, with lists and loops ----------------------------------------------------------


def textbook(shown: list[int], relevant: set[int], k: int) -> dict[str, float]:
    """Recall, nDCG and reciprocal rank of one list, for any number of relevant items."""
    top = shown[:k]
    dcg = sum(1 / math.log2(place + 2) for place, item in enumerate(top) if item in relevant)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))
    first = next((place + 1 for place, item in enumerate(top) if item in relevant), None)
    return {
        "recall": len(relevant & set(top)) / len(relevant),
        "ndcg": dcg / ideal,
        "mrr": 1 / first if first else 0.0,
    }


def deduplicated(codes: list[int]) -> list[int]:
    return list(dict.fromkeys(codes))


ITEMS = 12
one_list = st.lists(st.integers(0, ITEMS - 1), unique=True, max_size=ITEMS)
lists = st.lists(one_list, min_size=1, max_size=8)
one_world = lists.flatmap(
    lambda rows: st.tuples(
        st.just([list(row) for row in rows]),
        st.lists(st.integers(0, ITEMS - 1), min_size=len(rows), max_size=len(rows)),
        st.lists(st.integers(0, 5), min_size=ITEMS, max_size=ITEMS),
    )
)
World = tuple[list[list[int]], list[int], list[int]]  # lists, targets, the code of every item
quick = settings(max_examples=60, deadline=None)


@quick
@given(one_world, st.integers(1, ITEMS + 3))
def test_item_metrics_against_the_textbook(world: World, k: int) -> None:
    rows, targets, _ = world
    ranks = metrics.target_ranks(rankings(*rows, width=ITEMS), np.array(targets))
    for name, metric in metrics.RANK_METRICS.items():
        assert metric(ranks, k) == pytest.approx(
            [textbook(row, {target}, k)[name] for row, target in zip(rows, targets, strict=True)]
        )


@quick
@given(one_world, st.integers(1, ITEMS))
def test_code_metrics_against_a_naive_list_of_distinct_codes(world: World, k: int) -> None:
    rows, targets, code = world
    ranks = metrics.code_ranks(rankings(*rows, width=ITEMS), np.array(targets), np.array(code))
    expected = [
        textbook(deduplicated([code[item] for item in row]), {code[target]}, k)["ndcg"]
        for row, target in zip(rows, targets, strict=True)
    ]
    assert metrics.ndcg(ranks, k) == pytest.approx(expected)


@quick
@given(one_world)
def test_with_one_code_per_item_both_levels_agree(world: World) -> None:
    rows, targets, _ = world
    shown = rankings(*rows, width=ITEMS)
    by_code = metrics.code_ranks(shown, np.array(targets), np.arange(ITEMS)[::-1])
    assert by_code.tolist() == metrics.target_ranks(shown, np.array(targets)).tolist()


@quick
@given(one_world, st.randoms(use_true_random=False))
def test_the_order_of_users_does_not_matter(world: World, random: Random) -> None:
    rows, targets, code = world
    order = list(range(len(rows)))
    random.shuffle(order)
    shown, shuffled = (rankings(*(rows[u] for u in users), width=ITEMS) for users in (range(len(rows)), order))
    ranks = metrics.code_ranks(shown, np.array(targets), np.array(code))
    ranks_shuffled = metrics.code_ranks(shuffled, np.array(targets)[order], np.array(code))
    assert ranks[order].tolist() == ranks_shuffled.tolist()
    assert metrics.summary(ranks) == pytest.approx(metrics.summary(ranks_shuffled))


@quick
@given(st.integers(1, ABSENT), st.integers(1, ABSENT), st.integers(1, metrics.DEEPEST))
def test_a_better_rank_is_never_worth_less(one: int, other: int, k: int) -> None:
    ranks = np.array([min(one, other), max(one, other)], np.uint16)
    for metric in metrics.RANK_METRICS.values():
        better, worse = metric(ranks, k)
        assert 0 <= worse <= better <= 1
        assert metric(ranks, metrics.DEEPEST)[0] >= better  # a longer list never hurts


@quick
@given(lists, st.integers(2, ITEMS), st.integers(0, 1000))
def test_intra_list_distance_against_all_pairs(rows: list[list[int]], k: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(ITEMS, 3))
    per_list = []
    for row in rows:
        pairs = [
            1 - vectors[i] @ vectors[j] / np.linalg.norm(vectors[i]) / np.linalg.norm(vectors[j])
            for i, j in combinations(row[:k], 2)
        ]
        per_list += [np.mean(pairs)] if pairs else []
    found = metrics.intra_list_distance(rankings(*map(list, rows), width=ITEMS), vectors, k)
    assert found == pytest.approx(np.mean(per_list) if per_list else 0.0)


@quick
@given(lists, st.integers(1, ITEMS))
def test_coverage_and_novelty_against_loops(rows: list[list[int]], k: int) -> None:
    popularity = np.arange(ITEMS) ** 2
    shown = [item for row in rows for item in row[:k]]
    share = [(n + 1) / (popularity.sum() + ITEMS) for n in popularity.tolist()]
    made = rankings(*map(list, rows), width=ITEMS)
    assert metrics.coverage(made, ITEMS, k) == pytest.approx(len(set(shown)) / ITEMS)
    bits = [-math.log2(share[item]) for item in shown]
    assert metrics.novelty(made, popularity, k) == pytest.approx(sum(bits) / len(bits) if bits else 0.0)


def test_code_ranks_are_worked_out_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    shown = Rankings(np.stack([generator.permutation(50)[:20] for _ in range(33)]).astype(np.int32))
    targets, code = generator.integers(0, 50, 33), generator.integers(0, 30, 50)
    whole = metrics.code_ranks(shown, targets, code)
    monkeypatch.setattr(metrics, "ROWS_AT_ONCE", 4)
    assert metrics.code_ranks(shown, targets, code).tolist() == whole.tolist()
