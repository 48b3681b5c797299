from __future__ import annotations

import faiss
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sprintrec.codes import opq
from sprintrec.codes.assign import assign, project, squared_errors
from sprintrec.errors import Mistake

VECTORS = (
    np.random.default_rng(0).standard_normal((1200, 20)) @ np.random.default_rng(1).standard_normal((20, 20))
).astype(np.float32)
SETTINGS = opq.Settings(digits=4, tokens=16, dimensions=16, iterations=6)


def test_the_rotation_is_as_good_as_faiss_makes_it() -> None:
    tokenizer = opq.fit(VECTORS, np.arange(1200), SETTINGS)
    ours = squared_errors(tokenizer, VECTORS, assign(tokenizer, VECTORS)).mean()
    points = np.ascontiguousarray(project({**tokenizer, "rotation": np.eye(16, dtype=np.float32)}, VECTORS))
    theirs = faiss.OPQMatrix(16, 4)
    theirs.niter = 6
    quantizer = faiss.ProductQuantizer(16, 4, 4)
    theirs.pq = quantizer
    with threadpool_limits(1):
        theirs.train(points)
        rotated = theirs.apply(points)
        quantizer.train(rotated)
    error = ((quantizer.decode(quantizer.compute_codes(rotated)) - rotated) ** 2).sum(axis=1).mean()
    assert ours < 1.02 * error
    np.testing.assert_allclose(tokenizer["rotation"] @ tokenizer["rotation"].T, np.eye(16), atol=1e-5)


def test_whitening_makes_every_direction_equally_wide() -> None:
    mean, directions = opq.whitening(VECTORS, 12, 4)
    points = (VECTORS - mean) @ directions
    np.testing.assert_allclose(np.cov(points.T, bias=True), np.eye(12), atol=1e-3)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-3)


def test_only_training_items_are_looked_at() -> None:
    changed = VECTORS.copy()
    changed[1000:] = 5.0
    train = np.arange(1000)
    first, second = opq.fit(VECTORS, train, SETTINGS), opq.fit(changed, train, SETTINGS)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_a_seed_repeats_and_another_differs() -> None:
    tables = [assign(opq.fit(VECTORS, np.arange(1200), SETTINGS, seed), VECTORS) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(tables[0], tables[1])
    assert (tables[0] != tables[2]).any()


@pytest.mark.parametrize(("points", "directions"), [(12_000, 256), (1000, 125), (40, 5), (1, 1)])
def test_few_items_get_few_directions(points: int, directions: int) -> None:
    assert opq.directions_for(opq.Settings(), points) == directions


@pytest.mark.parametrize("items", [1, 2, 3, 9, 50])
def test_fewer_items_than_tokens(items: int) -> None:
    tokenizer = opq.fit(VECTORS[:items], np.arange(items), opq.Settings(iterations=2))
    table = assign(tokenizer, VECTORS[:items])
    assert table.shape == (items, 4)
    assert np.isfinite(tokenizer["parts"]).all()


def test_equal_vectors_have_no_direction_and_still_get_codes() -> None:
    vectors = np.ones((30, 6), np.float32)
    table = assign(opq.fit(vectors, np.arange(30), opq.Settings(iterations=1)), vectors)
    assert len(np.unique(table, axis=0)) == 1


def test_digits_need_not_divide_the_dimensions() -> None:
    tokenizer = opq.fit(VECTORS, np.arange(1200), opq.Settings(digits=3, tokens=8, dimensions=16, iterations=1))
    assert tokenizer["parts"].shape == (3, 8, 5)


def test_progress_is_told() -> None:
    steps: list[tuple[int, int]] = []
    opq.fit(VECTORS, np.arange(1200), SETTINGS, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(turn, 6) for turn in range(1, 7)]


def test_tokens_that_are_no_power_of_two_are_a_mistake() -> None:
    with pytest.raises(Mistake, match="power of two"):
        opq.fit(VECTORS, np.arange(1200), opq.Settings(tokens=100))
