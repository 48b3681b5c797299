"""Vectors to codes with numpy alone, from the arrays that fitting a tokenizer leaves behind.

A tokenizer is a mapping of arrays, and the names in it say what happens to a unit vector:

    mean [V], directions [V, D]    it is centred and projected (PCA with whitening) and made a unit again
    rotation [D, D]                it is rotated
    layers.0.weight [V, H], ...    it goes through an encoder, ReLU between the layers (with layers.0.bias [H])
    parts [L, M, D / L]            digit l is the token nearest to the l-th part of the result, or
    levels [L, M, D]               digit l is the token nearest to what the digits before it left over

N vectors of V numbers become N points of D numbers, and these N codes of L digits out of M tokens each.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Tokenizer = Mapping[str, np.ndarray]

CHUNK = 1 << 14  # vectors at a time, so that memory does not grow with the catalogue


def assign(tokenizer: Tokenizer, vectors_NV: np.ndarray) -> np.ndarray:
    """The code of every vector, int32 [N, L]. A vector of zeros, an item without text, gets one too."""
    table = np.empty((len(vectors_NV), len(codebooks_of(tokenizer))), np.int32)
    for start in range(0, len(table), CHUNK):
        rows = slice(start, start + CHUNK)
        table[rows] = _nearest(tokenizer, project(tokenizer, vectors_NV[rows]))
    return table


def project(tokenizer: Tokenizer, vectors_NV: np.ndarray) -> np.ndarray:
    """The points that digits are read from, float32 [N, D]."""
    points = unit(np.asarray(vectors_NV, np.float32))
    if "directions" in tokenizer:
        points = unit((points - tokenizer["mean"]) @ tokenizer["directions"])
    if "rotation" in tokenizer:
        points = points @ tokenizer["rotation"]
    layer = 0
    while f"layers.{layer}.weight" in tokenizer:
        points = points if layer == 0 else np.maximum(points, 0)
        points = points @ tokenizer[f"layers.{layer}.weight"] + tokenizer[f"layers.{layer}.bias"]
        layer += 1
    return points


def reconstruct(tokenizer: Tokenizer, table_NL: np.ndarray) -> np.ndarray:
    """The points that codes stand for, float32 [N, D]."""
    digits = range(table_NL.shape[1])
    if "parts" in tokenizer:
        return np.concatenate([tokenizer["parts"][digit][table_NL[:, digit]] for digit in digits], axis=1)
    return np.sum([tokenizer["levels"][digit][table_NL[:, digit]] for digit in digits], axis=0)


def squared_errors(tokenizer: Tokenizer, vectors_NV: np.ndarray, table_NL: np.ndarray) -> np.ndarray:
    """Squared distance between every item's point and the point its code stands for, float32 [N]."""
    errors = np.empty(len(table_NL), np.float32)
    for start in range(0, len(table_NL), CHUNK):
        rows = slice(start, start + CHUNK)
        gap = project(tokenizer, vectors_NV[rows]) - reconstruct(tokenizer, table_NL[rows])
        errors[rows] = np.einsum("nd,nd->n", gap, gap)
    return errors


def codebooks_of(tokenizer: Tokenizer) -> np.ndarray:
    """The tokens of every digit, [L, M, numbers of a token]."""
    return tokenizer["parts"] if "parts" in tokenizer else tokenizer["levels"]


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows of length one; rows of zeros stay zeros."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))


def _nearest(tokenizer: Tokenizer, points_ND: np.ndarray) -> np.ndarray:
    codebooks = codebooks_of(tokenizer)
    tokens = np.empty((len(points_ND), len(codebooks)), np.int32)
    if "parts" in tokenizer:
        parts = np.split(points_ND, len(codebooks), axis=1)
        for digit, (part, tokens_MD) in enumerate(zip(parts, codebooks, strict=True)):
            tokens[:, digit] = nearest_rows(part, tokens_MD)
        return tokens
    left_ND = points_ND
    for digit, tokens_MD in enumerate(codebooks):
        tokens[:, digit] = nearest_rows(left_ND, tokens_MD)
        left_ND = left_ND - tokens_MD[tokens[:, digit]]
    return tokens


def nearest_rows(points: np.ndarray, tokens_MD: np.ndarray) -> np.ndarray:
    """argmin |x - c|^2; the first of equals."""
    return ((tokens_MD * tokens_MD).sum(axis=1) - 2 * (points @ tokens_MD.T)).argmin(axis=1)
