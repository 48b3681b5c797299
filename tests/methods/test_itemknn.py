"""Item neighbours: settings out of range, and which pairs of a user count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.methods.itemknn import ItemKNN, Settings, similar_items
from sprintrec.records import Events, Histories, Past


def met(rows: list[list[int]], settings: Settings, item_count: int = 6) -> dict[tuple[int, int], float]:
    """The similarity of every pair that was met."""
    log = Histories.of(rows)
    found = similar_items(Past(Events(log.items, log.offsets), item_count), settings)
    return {
        (item, other): pytest.approx(value)
        for item, others, values in found
        for other, value in zip(others, values, strict=True)
    }


@pytest.mark.parametrize(
    "change",
    [
        {"shrinkage": -1.0},
        {"neighbours": 0},
        {"history": 0},
        {"fading": 0.0},
        {"fading": 1.5},
        {"recency": 0.0},
        {"recency": 2.0},
    ],
)
def test_settings_out_of_range_are_named(change: dict[str, Any]) -> None:
    with pytest.raises(Mistake, match=next(iter(change))):
        Settings(**change)


def test_a_user_counts_an_item_once_at_its_last_place() -> None:
    """1 2 1 3 1 reads as 2 3 1."""
    plain = Settings(shrinkage=0.0, pairs="after", fading=0.5)
    assert met([[1, 2, 1, 3, 1]], plain) == {(2, 3): 1, (2, 1): 0.5, (3, 1): 1}
    assert met([[1, 2, 1]], Settings(shrinkage=0.0)) == {(1, 2): 1, (2, 1): 1}


def test_pairs_do_not_cross_from_user_to_user() -> None:
    assert met([[0, 1], [], [2], [3, 4]], Settings(shrinkage=0.0, pairs="after")) == {(0, 1): 1, (3, 4): 1}


def test_pairs_reach_as_far_as_a_question_is_read() -> None:
    far = Settings(shrinkage=0.0, pairs="after", fading=1.0, history=2)
    assert met([[0, 1, 2, 3]], far) == {(0, 1): 1, (0, 2): 1, (1, 2): 1, (1, 3): 1, (2, 3): 1}


def test_only_the_most_similar_are_kept_and_ties_go_to_popular_items() -> None:
    """After 0 came 1, 2 and 3, once each; of these 3 is the most popular, and 1 stands before 2."""
    log = Histories.of([[0, 1], [0, 2], [0, 3], [3, 4], [3, 5]])
    method = ItemKNN(Settings(pairs="after", neighbours=2))
    method.fit(Past(Events(log.items, log.offsets), 6))
    assert method.neighbours[0].tolist() == [3, 1]
    assert method.similarities[0].tolist() == pytest.approx([1 / 13, 1 / 13])
    assert not np.any(method.similarities[5])


@pytest.mark.parametrize("pairs", ["together", "after"])
def test_recency_counts_from_each_history_own_end(tiny_past: Past, pairs: Any) -> None:
    method = ItemKNN(Settings(pairs=pairs, recency=0.5))
    method.fit(tiny_past)
    rows = [[3, 4, 5, 9], [7], [], [20, 1, 2, 3, 4, 5, 6, 7]]
    together = method.recommend(Histories.of(rows), 30)
    assert together.scores is not None
    for row, history in enumerate(rows):
        alone = method.recommend(Histories.of([history]), 30)
        np.testing.assert_array_equal(together.items[row], alone.items[0])
        np.testing.assert_array_equal(together.scores[row], alone.scores[0])
