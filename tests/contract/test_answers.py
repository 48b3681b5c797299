"""What ``recommend`` of every method holds to, whatever it is asked."""

from __future__ import annotations

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.method import Method, popularity_order
from sprintrec.records import HeldOut, Histories, Past

NEVER_SEEN = 29  # an item that is in the catalogue and in no training event

ODD_HISTORIES = {
    "empty": [],
    "one item that training never saw": [NEVER_SEEN],
    "an order that training never saw": [20, 3, 11, 7],
    "repeats": [5, 5, 6, 5, 6],
    "very long": [step * 7 % 13 for step in range(500)],
    "all items but two": list(range(28)),
}


@pytest.mark.parametrize("k", [1, 10, 30, 45])
@pytest.mark.parametrize("exclude_seen", [True, False])
def test_lists_hold_k_distinct_eligible_items(fitted: Method, questions: HeldOut, k: int, exclude_seen: bool) -> None:
    rankings = fitted.recommend(questions.histories, k, exclude_seen)
    assert rankings.items.shape == (len(questions), k)
    assert rankings.items.dtype == np.int32
    for row, listed in enumerate(rankings.items):
        eligible = set(range(30)) - (set(questions.histories.row(row).tolist()) if exclude_seen else set())
        shown = listed[listed >= 0].tolist()
        assert len(shown) == len(set(shown)) == min(k, len(eligible))
        assert set(shown) <= eligible
        assert (listed[len(shown) :] == -1).all()


@pytest.mark.parametrize("history", ODD_HISTORIES.values(), ids=ODD_HISTORIES)
def test_every_history_is_answered(fitted: Method, history: list[int]) -> None:
    for exclude_seen in (True, False):
        listed = fitted.recommend(Histories.of([history]), 30, exclude_seen).items[0]
        eligible = set(range(30)) - (set(history) if exclude_seen else set())
        assert set(listed[: len(eligible)].tolist()) == eligible
        assert (listed[len(eligible) :] == -1).all()


def test_nothing_is_left_where_everything_was_seen(fitted: Method) -> None:
    assert (fitted.recommend(Histories.of([list(range(30))]), 3).items == -1).all()


def test_an_empty_history_gets_popular_items(fitted: Method, tiny_past: Past) -> None:
    popular = np.argsort(popularity_order(tiny_past.popularity()))[:10]
    assert fitted.recommend(Histories.of([[]]), 10).items[0].tolist() == popular.tolist()


def test_no_question_gets_no_answer(fitted: Method) -> None:
    assert fitted.recommend(Histories.of([]), 10).items.shape == (0, 10)


def test_scores_go_with_their_items_best_first(fitted: Method, questions: HeldOut) -> None:
    rankings = fitted.recommend(questions.histories, 40)
    if rankings.scores is None:
        return
    assert rankings.scores.shape == rankings.items.shape
    assert rankings.scores.dtype == np.float32
    assert not np.isnan(rankings.scores).any()
    shown = rankings.items >= 0
    assert np.isfinite(rankings.scores[shown]).all()
    assert (rankings.scores[:, 1:] <= rankings.scores[:, :-1])[shown[:, 1:]].all()


def test_a_longer_list_begins_with_the_shorter_one(fitted: Method, questions: HeldOut) -> None:
    longest = fitted.recommend(questions.histories, 30).items
    for k in (1, 5, 12):
        np.testing.assert_array_equal(fitted.recommend(questions.histories, k).items, longest[:, :k])


def test_a_batch_is_answered_like_single_questions(fitted: Method, questions: HeldOut) -> None:
    rows = [questions.histories.row(row) for row in range(len(questions))] + list(ODD_HISTORIES.values())
    for exclude_seen in (True, False):
        together = fitted.recommend(Histories.of(rows), 30, exclude_seen).items
        alone = [fitted.recommend(Histories.of([row]), 30, exclude_seen).items[0] for row in rows]
        np.testing.assert_array_equal(together, np.stack(alone))


def test_asking_teaches_nothing(fitted: Method, questions: HeldOut) -> None:
    first = fitted.recommend(questions.histories, 10).items
    fitted.recommend(Histories.of(list(ODD_HISTORIES.values())), 10)
    np.testing.assert_array_equal(fitted.recommend(questions.histories, 10).items, first)


def test_a_question_without_answers_is_a_mistake(fitted: Method, questions: HeldOut) -> None:
    with pytest.raises(Mistake, match="k must be at least 1"):
        fitted.recommend(questions.histories, 0)
