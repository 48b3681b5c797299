"""Popular items on five users, checked by hand.

user 0: 2 1        at day 0, 1          counts: item 0: 1, item 1: 3, item 2: 3, item 3: 0
user 1: 2 1        at day 0, 1
user 2: 2 1        at day 0, 1
user 3: 0          at day 2
"""

from __future__ import annotations

import numpy as np

from sprintrec.methods.popular import Popular, Settings
from sprintrec.records import Events, Histories, Past

LOG = Histories.of([[2, 1], [2, 1], [2, 1], [0]])
TIMES = np.array([0, 1, 0, 1, 0, 1, 2]) * 86_400
PAST = Past(Events(LOG.items, LOG.offsets, TIMES), 4)


def lists(method: Popular, histories: list[list[int]], k: int, exclude_seen: bool = True) -> list[list[int]]:
    return method.recommend(Histories.of(histories), k, exclude_seen).items.tolist()


def test_counts_decide_and_equal_counts_go_by_row() -> None:
    method = Popular()
    method.fit(PAST)
    assert lists(method, [[], [2], [1, 3], [0, 1, 2, 3]], 3) == [[1, 2, 0], [1, 0, 3], [2, 0, -1], [-1, -1, -1]]
    assert lists(method, [[1]], 4, exclude_seen=False) == [[1, 2, 0, 3]]
    assert method.scores.tolist() == [1, 3, 3, 0]


def test_half_life_weighs_by_age() -> None:
    """With a half-life of half a day: item 0 is new, 1; item 1 one day old, 3/4; item 2 two days old, 3/16."""
    method = Popular(Settings(half_life_days=0.5))
    method.fit(PAST)
    assert method.scores.tolist() == [1, 0.75, 0.1875, 0]
    assert lists(method, [[], [0]], 4) == [[0, 1, 2, 3], [1, 2, 3, -1]]
