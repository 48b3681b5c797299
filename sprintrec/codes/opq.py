"""Optimised product quantization, the paper's tokenizer: digits that do not build on each other.

Unit vectors, PCA with whitening, unit again; then a rotation and, in each of L equal parts of the rotated
vector, k-means with M tokens. The rotation is learnt by turns: with the tokens fixed it is the one that
brings the vectors closest to what their codes stand for (Ge et al. 2013), as in faiss's OPQ; k-means is
faiss's. Everything is fitted on training items alone.

Departure from DiffGRM and SPRINT: without their one coarse cell, which shifts all points by one vector and
so changes no code's members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import faiss
import numpy as np
from threadpoolctl import threadpool_limits

from sprintrec.codes.assign import unit
from sprintrec.codes.points import at_least, check_size, tokens_for, training_points
from sprintrec.errors import Mistake

Progress = Callable[[int, int], None]

FIRST_KMEANS, LATER_KMEANS, LAST_KMEANS = 40, 4, 25  # iterations, faiss's own
POINTS_PER_DIRECTION = 8  # with fewer, whitening makes all points equally far from each other
SMALLEST_VARIANCE = 1e-6  # of the largest; whitening would blow up what rounding left in a direction


@dataclass(frozen=True)
class Settings:
    digits: int = 4
    tokens: int = 256  # per digit, a power of two
    dimensions: int = 256  # after PCA
    iterations: int = 50  # turns of rotation and k-means
    threads: int = 1  # more are faster, and the last bits of a code table then depend on how many


def fit(
    vectors: np.ndarray, train_items: np.ndarray, settings: Settings, seed: int = 0, progress: Progress | None = None
) -> dict[str, np.ndarray]:
    """The tokenizer's arrays, for ``codes/assign.py``."""
    _check(settings)
    generator = np.random.default_rng(seed)
    with threadpool_limits(settings.threads):
        points = training_points(vectors, train_items, generator)
        tokens = tokens_for(settings.tokens, settings.digits, len(points), len(vectors))
        mean, directions = whitening(points, directions_for(settings, len(points)), settings.digits)
        points = at_least(unit((points - mean) @ directions), tokens)
        quantizer = _quantizer(points.shape[1], settings.digits, tokens, seed)
        rotation = _rotation(points, quantizer, settings.iterations, generator, progress)
        quantizer.train_type = faiss.ProductQuantizer.Train_default
        quantizer.cp.niter = LAST_KMEANS
        quantizer.train(points @ rotation)
    return {"mean": mean, "directions": directions, "rotation": rotation, "parts": _tokens(quantizer)}


def directions_for(settings: Settings, points: int) -> int:
    """Directions of the PCA: as asked, or as many as so few points can carry."""
    return max(1, min(settings.dimensions, points // POINTS_PER_DIRECTION))


def whitening(points: np.ndarray, dimensions: int, digits: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean [V] and whitened main directions [V, D]; D is a multiple of the digits, at most ``dimensions``.

    Where the points span less than one direction per digit, directions of zeros fill up.
    """
    mean = points.mean(axis=0, dtype=np.float64)
    centred = points - mean.astype(np.float32)
    variances, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64) / len(points))
    variances, axes = variances[::-1], axes[:, ::-1]
    usable = min(dimensions, int((variances > SMALLEST_VARIANCE * max(variances[0], 1e-12)).sum()))
    usable = usable // digits * digits or usable
    directions = np.zeros((points.shape[1], max(usable, digits)), np.float32)
    directions[:, :usable] = axes[:, :usable] / np.sqrt(variances[:usable])
    return mean.astype(np.float32), directions


def _rotation(
    points: np.ndarray, quantizer: Any, iterations: int, generator: np.random.Generator, progress: Progress | None
) -> np.ndarray:
    """The rotation after so many turns, float32 [D, D]; ``points @ rotation`` rotates."""
    dimensions = points.shape[1]
    rotation = np.linalg.qr(generator.standard_normal((dimensions, dimensions)))[0].astype(np.float32)
    for turn in range(iterations):
        rotated = points @ rotation
        quantizer.cp.niter = LATER_KMEANS if turn else FIRST_KMEANS
        quantizer.train_type = faiss.ProductQuantizer.Train_hot_start if turn else faiss.ProductQuantizer.Train_default
        quantizer.train(rotated)
        decoded = quantizer.decode(quantizer.compute_codes(rotated))
        left, _, right = np.linalg.svd((points.T @ decoded).astype(np.float64))
        rotation = (left @ right).astype(np.float32)
        if progress:
            progress(turn + 1, iterations)
    return rotation


def _quantizer(dimensions: int, digits: int, tokens: int, seed: int) -> Any:
    quantizer = faiss.ProductQuantizer(dimensions, digits, tokens.bit_length() - 1)
    quantizer.cp.seed = seed + 1
    quantizer.cp.min_points_per_centroid = 1  # silences advice on stderr; size_for has seen to it
    return quantizer


def _tokens(quantizer: Any) -> np.ndarray:
    return faiss.vector_to_array(quantizer.centroids).reshape(quantizer.M, quantizer.ksub, quantizer.dsub)


def _check(settings: Settings) -> None:
    check_size(settings.digits, settings.tokens)
    if settings.tokens & (settings.tokens - 1):
        raise Mistake(f"OPQ takes a power of two as tokens per digit, not {settings.tokens}")
