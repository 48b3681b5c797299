from __future__ import annotations

import numpy as np
import pytest

from sprintrec.codes.points import at_least, check_size, tokens_for, training_points
from sprintrec.errors import Mistake


@pytest.mark.parametrize(
    ("points", "items", "tokens"),
    [(12_000, 13_000, 256), (1000, 1000, 128), (40, 40, 8), (1, 1, 2), (40, 5000, 16)],
)
def test_a_small_catalogue_gets_a_small_code(points: int, items: int, tokens: int) -> None:
    assert tokens_for(256, 4, points, items) == tokens


def test_points_are_units_of_training_items_that_have_a_vector() -> None:
    vectors = np.array([[3, 4], [0, 0], [0, 2], [9, 9]], np.float16)
    points = training_points(vectors, np.array([0, 1, 2]), np.random.default_rng(0))
    np.testing.assert_allclose(sorted(points.tolist()), [[0, 1], [0.6, 0.8]], atol=1e-6)


def test_no_training_item_with_a_vector_is_a_mistake() -> None:
    with pytest.raises(Mistake, match="nothing to make codes from"):
        training_points(np.zeros((5, 4)), np.arange(5), np.random.default_rng(0))


def test_too_few_points_are_repeated() -> None:
    assert at_least(np.array([[1.0], [2.0]]), 3).tolist() == [[1], [2], [1]]
    assert len(at_least(np.ones((5, 1)), 3)) == 5


@pytest.mark.parametrize(("digits", "tokens"), [(0, 4), (4, 1), (4, 65_537)])
def test_sizes_that_cannot_be(digits: int, tokens: int) -> None:
    with pytest.raises(Mistake):
        check_size(digits, tokens)
