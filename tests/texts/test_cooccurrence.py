from __future__ import annotations

import numpy as np
import pytest

from sprintrec.records import Histories
from sprintrec.texts import cooccurrence
from sprintrec.texts.cooccurrence import SymmetricMatrix, cooccurrence_vectors, pair_counts, ppmi


def clustered(clusters: int = 4, size: int = 6, users: int = 200, seed: int = 0) -> Histories:
    """Users who stay in one of some groups of items: item i belongs to group i // size."""
    generator = np.random.default_rng(seed)
    return Histories.of([generator.integers(0, size, 8) + size * generator.integers(0, clusters) for _ in range(users)])


def test_pairs_counted_by_hand() -> None:
    # Steps 1 and 2 within users; 1-1 is no pair; the last of one user and the first of the next are none.
    events = Histories.of([[0, 1, 1, 2], [2, 0], [], [3]])
    first, second, count = pair_counts(events, 4, window=2)
    found = {(a, b): n for a, b, n in zip(first.tolist(), second.tolist(), count.tolist(), strict=True)}
    assert found == {(0, 1): 2, (1, 2): 2, (0, 2): 1}


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    events = clustered()
    whole = pair_counts(events, 24, 3)
    monkeypatch.setattr(cooccurrence, "EVENTS_AT_ONCE", 20)
    for one, other in zip(whole, pair_counts(events, 24, 3), strict=True):
        np.testing.assert_array_equal(one, other)


def test_too_many_pairs_lose_the_rarest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "EVENTS_AT_ONCE", 30)
    generator = np.random.default_rng(0)
    noise = [generator.permutation(np.arange(2, 40))[:3] for _ in range(30)]
    events = Histories.of([np.array([0, 1]) for _ in range(30)] + noise)
    first, second, count = pair_counts(events, 40, 2, most_pairs=40)
    assert len(count) <= 40
    assert count[(first == 0) & (second == 1)].tolist() == [30]
    equal = np.ones(100, np.int32)
    assert cooccurrence._most_frequent(np.arange(100), equal, 30).sum() == 30


def test_ppmi_by_hand() -> None:
    # n_01 = 3, n_12 = 1, so n_0 = 3, n_1 = 4, n_2 = 1, n = 8: log(3 * 8 / 12) and log(1 * 8 / 4).
    values = ppmi(np.array([0, 1]), np.array([1, 2]), np.array([3, 1]), 3)
    np.testing.assert_allclose(values, [np.log(2), np.log(2)], rtol=1e-6)
    # A pair rarer than chance is worth nothing: n = 22, n_0 = n_1 = 11 - 10 more for pairs with others.
    rare = ppmi(np.array([0, 0, 1]), np.array([1, 2, 3]), np.array([1, 10, 10]), 4)
    assert rare[0] == 0


def test_products_of_the_sparse_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "PRODUCTS_AT_ONCE", 7)
    generator = np.random.default_rng(0)
    dense = np.triu(generator.random((9, 9)) * (generator.random((9, 9)) < 0.3), 1).astype(np.float32)
    dense[4], dense[:, 4] = 0, 0
    first, second = np.nonzero(dense)
    matrix = SymmetricMatrix(first, second, dense[first, second], 9)
    right = generator.random((9, 3)).astype(np.float32)
    np.testing.assert_allclose(matrix.times(right), (dense + dense.T) @ right, rtol=1e-5)


def test_vectors_are_the_main_positive_directions() -> None:
    noise = np.random.default_rng(1).integers(0, 24, (30, 4))
    events = Histories.of([*(clustered(users=60).row(user) for user in range(60)), *noise])
    first, second, count = pair_counts(events, 24, 5)
    dense = np.zeros((24, 24))
    dense[first, second] = ppmi(first, second, count, 24)
    values, axes = np.linalg.eigh(dense + dense.T)
    best = np.argsort(-values)[:4]
    rows = axes[:, best] * np.sqrt(values[best])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = cooccurrence_vectors(events, 24, dimensions=4)
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=1e-3)


def test_clusters_are_found_and_the_unseen_have_zeros() -> None:
    vectors = cooccurrence_vectors(clustered(), 27, dimensions=8)
    assert vectors.dtype == np.float32
    assert not vectors[24:].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[:24], axis=1), 1, atol=1e-5)
    alike = vectors[:24] @ vectors[:24].T
    same = np.equal.outer(np.arange(24) // 6, np.arange(24) // 6)
    assert alike[same].min() > alike[~same].max() + 0.3


def test_a_log_without_pairs_has_zeros_only() -> None:
    assert not cooccurrence_vectors(Histories.of([[0], [1], [2]]), 3).any()
    assert cooccurrence_vectors(Histories.of([]), 3).shape == (3, 3)


def test_same_seed_same_vectors() -> None:
    one, other = (cooccurrence_vectors(clustered(), 24, dimensions=6) for _ in range(2))
    np.testing.assert_array_equal(one, other)
