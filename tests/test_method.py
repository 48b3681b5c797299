"""What methods share: finding them, the exact top k, the rule for ties, blocks, repeats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from sprintrec import method as module
from sprintrec.errors import Mistake
from sprintrec.method import (
    Method,
    find_method,
    latest,
    mask_seen,
    method_names,
    popularity_order,
    ranked,
    top_k,
    without_repeats,
)
from sprintrec.records import Histories, Rankings


def top_k_plainly(scores: np.ndarray, k: int, tie_rank: np.ndarray) -> list[list[int]]:
    """Sort every row by (score, tie rank) and cut it."""
    rows = []
    for row in scores.astype(np.float32):
        eligible = [item for item in range(len(row)) if row[item] > -np.inf]
        best = sorted(eligible, key=lambda item: (-row[item], tie_rank[item]))[:k]
        rows.append(best + [-1] * (k - len(best)))
    return rows


def scores_with_ties(seed: int) -> np.ndarray:
    """Few distinct values: neighbouring negative floats, both zeros, infinities and no-numbers among them."""
    values = np.array(
        [
            -np.inf,
            -2.5,
            np.nextafter(np.float32(-2.5), np.float32(-3)),
            -1e-30,
            -0.0,
            0.0,
            1e-30,
            1.0,
            1.0 + 1e-12,
            3e38,
            np.inf,
            np.nan,
        ]
    )
    return np.random.default_rng(seed).choice(values, (20, 17))


@pytest.mark.parametrize("k", [1, 2, 5, 16, 17, 18, 40])
@pytest.mark.parametrize("seed", range(8))
def test_top_k_equals_plain_sorting(k: int, seed: int) -> None:
    scores, tie_rank = scores_with_ties(seed), np.random.default_rng(seed).permutation(17)
    best = top_k(scores, k, tie_rank)
    assert best.items.tolist() == top_k_plainly(scores, k, tie_rank)
    assert best.items.dtype == np.int32


def test_top_k_returns_the_scores_of_its_items() -> None:
    best = top_k(np.array([[0.5, -np.inf, 2.0, -1.0]]), 4, np.arange(4))
    assert best.scores is not None
    assert best.scores.dtype == np.float32
    assert best.items.tolist() == [[2, 0, 3, -1]]
    assert best.scores.tolist() == [[2.0, 0.5, -1.0, -np.inf]]


def test_top_k_leaves_the_scores_alone() -> None:
    scores = scores_with_ties(0)
    before = scores.copy()
    top_k(scores, 3, np.arange(17))
    np.testing.assert_array_equal(scores, before)


def test_popularity_order_puts_frequent_items_first_and_equal_ones_by_row() -> None:
    assert popularity_order(np.array([2, 5, 2, 0, 5])).tolist() == [2, 0, 3, 4, 1]


def test_mask_seen_touches_each_history_own_row_alone() -> None:
    scores = np.zeros((3, 4))
    mask_seen(scores, Histories.of([[1, 1, 3], [], [0]]))
    assert np.isneginf(scores).tolist() == [[False, True, False, True], [False] * 4, [True, False, False, False]]


def test_without_repeats_keeps_the_last_place_of_an_item() -> None:
    kept = without_repeats(Histories.of([[4, 2, 4, 3, 2], [], [7], [4, 4, 4]]))
    assert [kept.row(row).tolist() for row in range(4)] == [[4, 3, 2], [], [7], [4]]


def test_without_repeats_of_nothing_is_nothing() -> None:
    assert len(without_repeats(Histories.of([]))) == 0


def test_latest_cuts_rows_at_their_beginning() -> None:
    kept = latest(Histories.of([[4, 2, 4], [], [7, 1]]), 2)
    assert [kept.row(row).tolist() for row in range(3)] == [[2, 4], [], [7, 1]]


def test_ranked_answers_alike_whatever_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    table = random.normal(size=(9, 9)).astype(np.float32)
    histories = Histories.of([random.integers(0, 9, random.integers(0, 6)) for _ in range(50)])

    asked: list[int] = []

    def scores_of(block: Histories) -> np.ndarray:
        asked.append(len(block))
        return np.stack([table[block.row(row)].sum(axis=0) for row in range(len(block))])

    whole = ranked(histories, 4, True, np.arange(9), scores_of)
    monkeypatch.setattr(module, "SCORES_AT_ONCE", 9 * 7)
    blocks = ranked(histories, 4, True, np.arange(9), scores_of)
    assert asked == [50, 7, 7, 7, 7, 7, 7, 7, 1]
    np.testing.assert_array_equal(blocks.items, whole.items)


def test_ranked_without_questions_is_empty() -> None:
    assert ranked(Histories.of([]), 3, True, np.arange(5), lambda block: np.zeros((0, 5))).items.shape == (0, 3)


def test_methods_are_found_by_file_name() -> None:
    assert {"popular", "itemknn", "ease"} <= set(method_names())
    assert not [name for name in method_names() if name.startswith("_")]
    assert find_method("popular").name() == "popular"


def test_an_unknown_method_is_a_mistake_that_names_the_nearest() -> None:
    with pytest.raises(Mistake, match=r"unknown method 'popular_items'.*popular"):
        find_method("popular_items")


class Recorded(Method):
    """A method that answers with nothing, to see what the public face lets through."""

    def _fit(self, *parts: object) -> None: ...

    def _recommend(self, histories: Histories, k: int, exclude_seen: bool) -> Rankings:
        return Rankings(np.full((len(histories), k), -1, np.int32))

    def state(self) -> dict[str, np.ndarray]:
        return {"a": np.zeros((2, 3)), "b": np.zeros(4)}

    def restore(self, state: Mapping[str, np.ndarray], past: object) -> None: ...


def test_the_parameter_count_is_that_of_the_state() -> None:
    assert Recorded(settings=()).parameter_count() == 10


@pytest.mark.parametrize("k", [0, -3])
def test_k_must_be_positive(k: int) -> None:
    with pytest.raises(Mistake, match="at least 1"):
        Recorded(settings=()).recommend(Histories.of([[1]]), k)
