"""Cases are drawn by chance, from the right side of the line, and told in titles."""

from __future__ import annotations

import numpy as np
import pytest

from sprintrec.metrics import ABSENT
from sprintrec.records import HeldOut, Histories, Rankings
from sprintrec.report import Cases, draw_cases

TITLES = [f"Stone {item}" for item in range(30)]


def drawn(ranks: np.ndarray, seed: int = 0) -> Cases:
    """User u walked 0, 1, 2 and was asked for item u modulo 30."""
    users = len(ranks)
    asked = HeldOut(Histories.of([[0, 1, 2]] * users), np.arange(users) % 30, np.arange(users))
    shown = np.tile(np.array([5, 6, -1, -1, -1, -1]), (users, 1))
    return draw_cases("popular", ranks, asked, Rankings(shown), TITLES, seed)


def test_good_and_bad_cases_come_from_their_sides() -> None:
    ranks = np.array([1, 5, 6, 100, 101, ABSENT] * 40, np.uint16)
    found = drawn(ranks)
    assert len(found.good) == len(found.bad) == 10
    assert {case.rank for case in found.good} <= {1, 5}
    assert {case.rank for case in found.bad} <= {101, ABSENT}


def test_a_case_in_titles() -> None:
    (case,) = drawn(np.array([3], np.uint16)).good
    assert case.history == ["Stone 0", "Stone 1", "Stone 2"]
    assert (case.target, case.rank) == ("Stone 0", 3)
    assert case.top == ["Stone 5", "Stone 6"]


def test_the_draw_is_the_same_again_and_another_with_another_seed() -> None:
    ranks = np.ones(200, np.uint16)
    assert drawn(ranks) == drawn(ranks)
    assert drawn(ranks) != drawn(ranks, seed=1)


@pytest.mark.parametrize(("rank", "good", "bad"), [(50, 0, 0), (1, 3, 0), (500, 0, 3)])
def test_there_may_be_too_few(rank: int, good: int, bad: int) -> None:
    found = drawn(np.full(3, rank, np.uint16))
    assert (len(found.good), len(found.bad)) == (good, bad)
