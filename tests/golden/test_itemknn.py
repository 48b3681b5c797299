"""Item neighbours on four users, checked by hand, and on random logs against two plain loops.

user 0: 0 1 2          users of the items, n: 3, 4, 1, 1, 0
user 1: 0 1
user 2: 1 3            item 4 occurs nowhere
user 3: 1 0
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sprintrec.method import without_repeats
from sprintrec.methods.itemknn import ItemKNN, Settings
from sprintrec.records import Events, Histories, Past

LOG = Histories.of([[0, 1, 2], [0, 1], [1, 3], [1, 0]])
PAST = Past(Events(LOG.items, LOG.offsets), 5)


def fitted(past: Past, settings: Settings) -> ItemKNN:
    method = ItemKNN(settings)
    method.fit(past)
    return method


def lists(method: ItemKNN, histories: list[list[int]], k: int, exclude_seen: bool = True) -> list[list[int]]:
    return method.recommend(Histories.of(histories), k, exclude_seen).items.tolist()


def scores(method: ItemKNN, history: list[int], item_count: int) -> np.ndarray:
    """Every item's score after a history."""
    answer = method.recommend(Histories.of([history]), item_count, exclude_seen=False)
    assert answer.scores is not None
    return answer.scores[0][np.argsort(answer.items[0])]


def test_together() -> None:
    """Users of both: 0 and 1: 3 (users 0, 1, 3); 0 and 2: 1; 1 and 2: 1; 1 and 3: 1; other pairs 0.

    Cosines: 0-1 3/sqrt(12) = .866, 0-2 1/sqrt(3) = .577, 1-2 1/sqrt(4) = .5, 1-3 1/sqrt(4) = .5.
    """
    method = fitted(PAST, Settings(shrinkage=0.0))
    assert scores(method, [0], 5) == pytest.approx([0, 3 / sqrt(12), 1 / sqrt(3), 0, 0])
    # Without neighbours left, popular items follow: 3 occurs once, 4 never.
    assert lists(method, [[0]], 5) == [[1, 2, 3, 4, -1]]
    # 1 is similar to both, .5 + .5; 0 to item 2 alone, .577.
    assert lists(method, [[2, 3]], 3) == [[1, 0, 4]]
    # 2 and 3 tie at .5, and in popularity: the lower row first. Then 1 itself, popular but its own neighbour never.
    assert lists(method, [[1]], 5, exclude_seen=False) == [[0, 2, 3, 1, 4]]
    assert lists(method, [[]], 5) == [[1, 0, 2, 3, 4]]


def test_shrinkage_and_neighbours() -> None:
    """With shrinkage 2: 1-0 3/(sqrt(12) + 2) = .549, 1-2 and 1-3 1/(2 + 2) = .25; of these two only 2 is kept."""
    method = fitted(PAST, Settings(shrinkage=2.0, neighbours=2))
    assert scores(method, [1], 5) == pytest.approx([3 / (sqrt(12) + 2), 0, 0.25, 0, 0])


def test_after() -> None:
    """Pairs: 0 then 1: 1 + 1; 0 then 2: .5, two places apart; 1 then 2: 1; 1 then 3: 1; 1 then 0: 1.

    Over n + 1: after 0 (n = 3) item 1 2/4 and item 2 .5/4; after 1 (n = 4) items 0, 2 and 3 1/5 each.
    """
    method = fitted(PAST, Settings(pairs="after", fading=0.5, shrinkage=1.0, recency=0.5))
    assert scores(method, [0], 5) == pytest.approx([0, 0.5, 0.125, 0, 0])
    # 0 lies one place back and counts half: item 1 .25, item 2 .0625 + .2, items 0 and 3 .2, 0 the more popular.
    assert lists(method, [[0, 1]], 5, exclude_seen=False) == [[2, 1, 0, 3, 4]]
    assert lists(method, [[0, 1]], 3) == [[2, 3, 4]]


def test_only_the_last_items_are_read() -> None:
    """With a history of one, [0, 3] asks for the neighbours of 3 alone: 1, then popular ones."""
    assert lists(fitted(PAST, Settings(history=1)), [[0, 3]], 3) == [[1, 2, 4]]


def plain_similarity(rows: list[list[int]], item_count: int, settings: Settings) -> np.ndarray:
    """All pairs of all users, one by one, [items, items]; every kept neighbour."""
    users_of = [sum(item in row for row in rows) for item in range(item_count)]
    met = np.zeros((item_count, item_count))
    for row in rows:
        for place, item in enumerate(row):
            for other_place, other in enumerate(row):
                distance = other_place - place
                if settings.pairs == "together" and distance != 0:
                    met[item, other] += 1
                if settings.pairs == "after" and 0 < distance <= settings.history:
                    met[item, other] += settings.fading ** (distance - 1)
    for item in range(item_count):
        for other in range(item_count):
            together = sqrt(users_of[item] * users_of[other])
            norm = together if settings.pairs == "together" else users_of[item]
            met[item, other] /= max(norm + settings.shrinkage, 1e-9)
    return met


@pytest.mark.parametrize("pairs", ["together", "after"])
@pytest.mark.parametrize("shrinkage", [0.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_random_logs_against_plain_loops(pairs: str, shrinkage: float, seed: int) -> None:
    random, item_count = np.random.default_rng(seed), 25
    rows = [random.integers(0, item_count - 2, random.integers(0, 15)).tolist() for _ in range(30)]
    log = Histories.of(rows)
    settings = Settings(pairs=pairs, shrinkage=shrinkage, history=6, recency=0.7)  # type: ignore[arg-type]
    method = fitted(Past(Events(log.items, log.offsets), item_count), settings)
    distinct = without_repeats(log)
    similarity = plain_similarity([distinct.row(row).tolist() for row in range(len(log))], item_count, settings)
    for row in rows:
        wanted = sum((similarity[item] * 0.7**back for back, item in enumerate(row[::-1][:6])), np.zeros(item_count))
        assert scores(method, row, item_count) == pytest.approx(wanted, abs=1e-6)
