"""EASE on three users, checked by hand, and on the tiny log against the constrained least squares it solves.

user 0: 0 1        X'X + 1 = 4 2 1      its inverse: 1/13 of   6 -4 -3
user 1: 1 0                  2 3 0                            -4  7  2
user 2: 0 2                  1 0 2                            -3  2  8

B_ij = -P_ij / P_jj:   0   4/7   3/8
                      2/3   0   -1/4       item 3 occurs nowhere
                      1/2 -2/7    0
"""

from __future__ import annotations

import numpy as np
import pytest

from sprintrec.methods.ease import EASE, OUTSIDE, Settings, closed_form
from sprintrec.records import Events, Histories, Past

LOG = Histories.of([[0, 1], [1, 0], [0, 2]])
PAST = Past(Events(LOG.items, LOG.offsets), 4)


def fitted(settings: Settings) -> EASE:
    method = EASE(settings)
    method.fit(PAST)
    return method


def lists(method: EASE, histories: list[list[int]], k: int, exclude_seen: bool = True) -> list[list[int]]:
    return method.recommend(Histories.of(histories), k, exclude_seen).items.tolist()


def test_weights() -> None:
    weights = closed_form(PAST, np.arange(3), penalty=1.0)
    assert weights == pytest.approx(np.array([[0, 4 / 7, 3 / 8], [2 / 3, 0, -1 / 4], [1 / 2, -2 / 7, 0]]), abs=1e-6)


def test_lists() -> None:
    method = fitted(Settings(penalty=1.0))
    assert lists(method, [[0], [1], [0, 0]], 3) == [[1, 2, 3], [0, 2, 3], [1, 2, 3]]
    # Rows 1 and 2 added: 7/6, -2/7, -1/4. The item outside comes after all, negative or not.
    answer = method.recommend(Histories.of([[1, 2, 1]]), 5, exclude_seen=False)
    assert answer.items.tolist() == [[0, 2, 1, 3, -1]]
    assert answer.scores is not None
    assert answer.scores[0, :4] == pytest.approx([7 / 6, -1 / 4, -2 / 7, OUTSIDE])
    # Nothing known: by popularity, 3, 2, 1 and 0 events.
    assert lists(method, [[], [3]], 4) == [[0, 1, 2, 3], [0, 1, 2, -1]]


def test_only_the_most_popular_items_are_in_the_matrix() -> None:
    """With items 0 and 1: X'X + 1 = 4 2, 2 3; its inverse 1/8 of 3 -2, -2 4; B_01 = 2/4, B_10 = 2/3."""
    method = fitted(Settings(penalty=1.0, max_items=2))
    assert method.weights == pytest.approx(np.array([[0, 1 / 2], [2 / 3, 0]]))
    assert lists(method, [[1], [2]], 3) == [[0, 2, 3], [0, 1, 3]]


def test_the_closed_form_solves_the_least_squares_with_a_zero_diagonal(tiny_past: Past) -> None:
    """Column j of B is the ridge regression of item j on all other items."""
    known, penalty = np.flatnonzero(tiny_past.popularity()), 3.0
    x = np.zeros((len(tiny_past.events), tiny_past.item_count))
    x[tiny_past.events.row_of_each(), tiny_past.events.items] = 1
    weights = closed_form(tiny_past, known, penalty)
    for column, item in enumerate(known):
        others = known[known != item]
        ridge = np.vstack([x[:, others], np.sqrt(penalty) * np.eye(len(others))])
        aim = np.concatenate([x[:, item], np.zeros(len(others))])
        solution = np.linalg.lstsq(ridge, aim, rcond=None)[0]
        assert np.delete(weights[:, column], column) == pytest.approx(solution, abs=1e-5)
        assert weights[column, column] == 0
