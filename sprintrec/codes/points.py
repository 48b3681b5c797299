"""What every tokenizer is fitted on: unit vectors of training items, and no more tokens than these can carry."""

from __future__ import annotations

import math

import numpy as np

from sprintrec.codes.assign import unit
from sprintrec.errors import Mistake

MOST_POINTS = 65_536  # of more training items a sample is enough
POINTS_PER_TOKEN = 4  # with fewer, tokens stand for single items, not for what items share


def training_points(vectors: np.ndarray, train_items: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Unit vectors of training items that have one, in random order, float32 [points, V]."""
    points = unit(np.asarray(vectors[generator.permutation(train_items)[:MOST_POINTS]], np.float32))
    points = points[points.any(axis=1)]
    if not len(points):
        raise Mistake("no item of the training events has a vector, so there is nothing to make codes from")
    return points


def tokens_for(asked: int, digits: int, points: int, items: int) -> int:
    """A power of two at most as asked: what the points carry, or what one code per item takes if that is more."""
    carried = 1 << (max(2, points // POINTS_PER_TOKEN).bit_length() - 1)
    needed = 1 << math.ceil(math.log2(max(items, 1)) / digits)
    return min(asked, max(carried, needed))


def at_least(points: np.ndarray, count: int) -> np.ndarray:
    """The points, repeated where they are fewer: k-means wants one for each token."""
    return points if len(points) >= count else np.resize(points, (count, points.shape[1]))


def check_size(digits: int, tokens: int) -> None:
    if digits < 1 or not 2 <= tokens <= 65_536:
        raise Mistake(f"codes have at least one digit of 2 to 65536 tokens, not {digits} of {tokens}")
