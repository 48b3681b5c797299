from __future__ import annotations

import subprocess
import sys

import faiss
import numpy as np
import pytest

from sprintrec.codes import opq
from sprintrec.codes.assign import assign, project, reconstruct, squared_errors

SMALL = opq.Settings(digits=4, tokens=16, dimensions=16, iterations=3)


def vectors_of(items: int, dimensions: int = 24, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return (
        generator.standard_normal((items, dimensions)) @ generator.standard_normal((dimensions, dimensions))
    ).astype(np.float32)


@pytest.mark.parametrize(("digits", "tokens", "dimensions"), [(4, 16, 16), (1, 32, 8), (3, 8, 24), (8, 256, 16)])
def test_opq_codes_are_those_of_faiss(digits: int, tokens: int, dimensions: int) -> None:
    vectors = vectors_of(3000)
    settings = opq.Settings(digits=digits, tokens=tokens, dimensions=dimensions, iterations=2)
    tokenizer = opq.fit(vectors, np.arange(2000), settings)
    theirs = faiss.ProductQuantizer(dimensions, digits, tokens.bit_length() - 1)
    faiss.copy_array_to_vector(tokenizer["parts"].ravel(), theirs.centroids)
    packed = theirs.compute_codes(np.ascontiguousarray(project(tokenizer, vectors)))
    found = assign(tokenizer, vectors)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, unpacked(packed, digits, tokens))
    np.testing.assert_allclose(reconstruct(tokenizer, found), theirs.decode(packed), atol=1e-6)


def unpacked(packed: np.ndarray, digits: int, tokens: int) -> np.ndarray:
    """faiss writes the bits of all digits one after the other, lowest first."""
    bits = tokens.bit_length() - 1
    flat = np.unpackbits(packed, axis=1, bitorder="little")[:, : digits * bits].reshape(len(packed), digits, bits)
    return (flat * (1 << np.arange(bits))).sum(axis=2)


def test_levels_code_what_is_left_over() -> None:
    # By hand: 0.9 is nearest to 1, which leaves -0.1, nearest to -0.2; in the other direction 0 and 0.
    tokenizer = {"levels": np.array([[[0, 0], [1, 0]], [[0, 0], [-0.2, 0]]], np.float32)}
    points = np.array([[0.9, 0.0], [0.0, 0.1]], np.float32)
    tokenizer_of_points = {**tokenizer, "layers.0.weight": np.eye(2, dtype=np.float32), "layers.0.bias": np.zeros(2)}
    vectors = points / np.linalg.norm(points, axis=1, keepdims=True)  # unit: (1, 0) and (0, 1)
    np.testing.assert_array_equal(assign(tokenizer, vectors), [[1, 0], [0, 0]])
    np.testing.assert_array_equal(assign(tokenizer_of_points, points), assign(tokenizer, vectors))
    np.testing.assert_allclose(reconstruct(tokenizer, np.array([[1, 1]])), [[0.8, 0]])
    np.testing.assert_allclose(squared_errors(tokenizer, vectors, np.array([[1, 1], [0, 0]])), [0.04, 1.0], atol=1e-6)


def test_an_encoder_has_relu_between_its_layers() -> None:
    tokenizer = {
        "levels": np.zeros((1, 2, 1), np.float32),
        "layers.0.weight": np.array([[1, -1], [0, 0]], np.float32),
        "layers.0.bias": np.array([0, 0.5], np.float32),
        "layers.1.weight": np.array([[2], [10]], np.float32),
        "layers.1.bias": np.array([-3], np.float32),
    }
    # (1, 0) -> (1, -0.5) -> (1, 0) -> 2 - 3 = -1
    np.testing.assert_allclose(project(tokenizer, np.array([[5.0, 0.0]])), [[-1.0]])


def test_one_at_a_time_half_precision_and_zeros() -> None:
    vectors = vectors_of(500).astype(np.float16)
    vectors[7] = 0
    tokenizer = opq.fit(vectors, np.arange(500), SMALL)
    together = assign(tokenizer, vectors)
    alone = np.concatenate([assign(tokenizer, vectors[row : row + 1]) for row in range(500)])
    np.testing.assert_array_equal(together, alone)
    assert np.isfinite(project(tokenizer, vectors)).all()


def test_numpy_is_all_it_needs() -> None:
    code = "import sys, sprintrec.codes.assign; print({'torch', 'faiss', 'polars', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
