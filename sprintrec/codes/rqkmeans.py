"""Residual k-means: every digit codes what the digits before it left over.

As DiffGRM has it: unit vectors without PCA, k-means on the residuals of the training items, L levels, no
balancing. For the paper's ablation, which says "RQ-Kmeans" and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import faiss
import numpy as np
from threadpoolctl import threadpool_limits

from sprintrec.codes.assign import nearest_rows
from sprintrec.codes.points import at_least, check_size, tokens_for, training_points

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Settings:
    digits: int = 4
    tokens: int = 256  # per digit
    iterations: int = 20  # of k-means per level
    threads: int = 1  # more are faster, and the last bits of a code table then depend on how many


def fit(
    vectors: np.ndarray, train_items: np.ndarray, settings: Settings, seed: int = 0, progress: Progress | None = None
) -> dict[str, np.ndarray]:
    """The tokenizer's arrays, for ``codes/assign.py``."""
    check_size(settings.digits, settings.tokens)
    points = training_points(vectors, train_items, np.random.default_rng(seed))
    tokens = tokens_for(settings.tokens, settings.digits, len(points), len(vectors))
    with threadpool_limits(settings.threads):
        return {"levels": levels_of(points, settings.digits, tokens, settings.iterations, seed, progress)}


def levels_of(
    points: np.ndarray, digits: int, tokens: int, iterations: int, seed: int, progress: Progress | None = None
) -> np.ndarray:
    """Tokens of every level, [L, M, D], by k-means on what the levels before left over."""
    left = np.ascontiguousarray(at_least(points, tokens), np.float32)
    levels = []
    for digit in range(digits):
        clustering = faiss.Kmeans(
            left.shape[1], tokens, niter=iterations, seed=seed + digit + 1, min_points_per_centroid=1
        )
        clustering.train(left)
        levels.append(np.asarray(clustering.centroids).reshape(tokens, -1))
        left = left - levels[-1][nearest_rows(left, levels[-1])]
        if progress:
            progress(digit + 1, digits)
    return np.stack(levels)
