from __future__ import annotations

import numpy as np
import pytest

from sprintrec.codes import codes_named, rqkmeans
from sprintrec.codes.assign import assign, squared_errors

VECTORS = (
    np.random.default_rng(0).standard_normal((900, 12)) @ np.random.default_rng(1).standard_normal((12, 12))
).astype(np.float32)
SETTINGS = rqkmeans.Settings(digits=3, tokens=16, iterations=5)


def test_every_level_leaves_less_over() -> None:
    tokenizer = rqkmeans.fit(VECTORS, np.arange(900), SETTINGS)
    assert tokenizer["levels"].shape == (3, 16, 12)
    errors = []
    for digits in (1, 2, 3):
        cut = {"levels": tokenizer["levels"][:digits]}
        errors.append(squared_errors(cut, VECTORS, assign(cut, VECTORS)).mean())
    assert errors[2] < 0.9 * errors[1] < 0.81 * errors[0]


def test_tokens_are_the_means_of_what_they_stand_for() -> None:
    # k-means at rest: a token is the mean of its residuals.
    tokenizer = rqkmeans.fit(VECTORS, np.arange(900), rqkmeans.Settings(digits=1, tokens=4, iterations=100))
    units = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    tokens = assign(tokenizer, VECTORS)[:, 0]
    means = [units[tokens == token].mean(axis=0) for token in range(4)]
    np.testing.assert_allclose(tokenizer["levels"][0], means, atol=2e-3)


def test_only_training_items_are_looked_at_and_a_seed_repeats() -> None:
    changed = VECTORS.copy()
    changed[800:] = 5.0
    first = rqkmeans.fit(VECTORS, np.arange(800), SETTINGS)
    np.testing.assert_array_equal(first["levels"], rqkmeans.fit(changed, np.arange(800), SETTINGS)["levels"])
    assert (first["levels"] != rqkmeans.fit(VECTORS, np.arange(800), SETTINGS, seed=1)["levels"]).any()


@pytest.mark.parametrize("items", [1, 3, 30])
def test_fewer_items_than_tokens(items: int) -> None:
    codes = codes_named("rqkmeans4x256-unique", VECTORS[:items], np.arange(items))
    assert len(codes.distinct()[0]) == items
