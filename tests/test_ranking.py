"""Scores and lists against loops and a full sort: this file is what every engine is later held to."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from sprintrec.ranking import ScoreSettings, TieOrder, combined, exclude_seen, listed
from sprintrec.records import Histories

NOWHERE = -math.inf
WEIGHTS = {"tokens": 0.7, "vectors": 1.3, "ids": 0.4, "texts": 2.1}
# Few distinct values, so that ties are everywhere and often lie across place k.
TIED_SCORES = st.integers(1, 12).flatmap(
    lambda items: st.lists(
        st.lists(st.sampled_from([NOWHERE, -1.5, 0.0, 0.25, 2.0]), min_size=items, max_size=items),
        min_size=1,
        max_size=4,
    )
)


def levels() -> dict[str, Tensor]:
    torch.manual_seed(0)
    return {name: torch.randn(2, 5, dtype=torch.float64) for name in ("tokens", "vectors", "ids", "texts")}


def softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


# ---- adding the levels ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["log", "softmax"])
@pytest.mark.parametrize("names", [["tokens", "vectors"], ["vectors"], list(WEIGHTS)], ids="+".join)
def test_levels_are_added_with_their_weights(form: str, names: list[str]) -> None:
    """``log`` as they are; ``softmax`` each after its softmax over all candidates, as in the paper."""
    scored = {name: level for name, level in levels().items() if name in names}
    found = combined(scored, ScoreSettings(form, **WEIGHTS))
    for b in range(2):
        expected = [0.0] * 5
        for name, level in scored.items():
            values = softmax(level[b].tolist()) if form == "softmax" else level[b].tolist()
            expected = [total + WEIGHTS[name] * value for total, value in zip(expected, values, strict=True)]
        assert found[b].tolist() == pytest.approx(expected)


def test_the_papers_score_is_the_default_of_its_form() -> None:
    """Eq. "inference": softmax of the token sums plus softmax of the cosines, weight 1 each."""
    both = {name: level for name, level in levels().items() if name in ("tokens", "vectors")}
    expected = both["tokens"].softmax(-1) + both["vectors"].softmax(-1)
    torch.testing.assert_close(combined(both, ScoreSettings("softmax")), expected)


def test_no_level_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="no level"):
        combined({}, ScoreSettings())


@pytest.mark.parametrize("form", ["log", "softmax"])
def test_exclusion_keeps_the_order_of_the_others(form: str) -> None:
    """Taking items out comes after normalising, so it moves nobody who stays."""
    scores = combined(levels(), ScoreSettings(form))
    seen = [[0, 3], [2]]
    before = TieOrder(np.arange(5), "cpu").top(scores.clone(), 5)[1].tolist()
    value, item = TieOrder(np.arange(5), "cpu").top(exclude_seen(scores, Histories.of(seen)), 5)
    after = listed(value, item, 5)[0].tolist()
    for gone, old, new in zip(seen, before, after, strict=True):
        stayed = [place for place in old if place not in gone]
        assert new == stayed + [-1] * len(gone)


def test_exclusion_leaves_the_given_scores_alone() -> None:
    scores = levels()["tokens"]
    copy = scores.clone()
    exclude_seen(scores, Histories.of([[1, 1], []]))
    assert torch.equal(scores, copy)


# ---- the best k ----------------------------------------------------------------------------------


def sorted_fully(scores: list[float], tie_rank: list[int]) -> list[int]:
    return sorted(range(len(scores)), key=lambda item: (-scores[item], tie_rank[item]))


@given(TIED_SCORES, st.integers(1, 14), st.randoms(use_true_random=False))
def test_the_best_k_are_those_of_a_full_sort(rows: list[list[float]], k: int, random: np.random.Generator) -> None:
    tie_rank = list(range(len(rows[0])))
    random.shuffle(tie_rank)
    scores = torch.tensor(rows)
    values, items = TieOrder(np.array(tie_rank), "cpu").top(scores, k)
    expected = [sorted_fully(row, tie_rank)[:k] for row in rows]
    assert items.tolist() == expected
    assert values.tolist() == [[row[item] for item in best] for row, best in zip(rows, expected, strict=True)]


@given(TIED_SCORES, st.integers(1, 12))
def test_a_batch_is_ranked_like_single_rows(rows: list[list[float]], k: int) -> None:
    order, scores = TieOrder(np.arange(len(rows[0]))[::-1].copy(), "cpu"), torch.tensor(rows)
    together = order.top(scores, k)[1]
    alone = torch.cat([order.top(row[None], k)[1] for row in scores])
    assert torch.equal(together, alone)


def test_a_tie_across_the_last_place_goes_by_the_rule() -> None:
    """Popularity ranks 4 first: of the four items with score 1 it takes the second of two places."""
    order = TieOrder(np.array([3, 1, 2, 4, 0]), "cpu")
    assert order.top(torch.tensor([[1.0, 5.0, 1.0, 1.0, 1.0]]), 2)[1].tolist() == [[1, 4]]


def test_lists_say_where_nothing_is_left() -> None:
    values, items = torch.tensor([[2.0, 1.0, NOWHERE]]), torch.tensor([[4, 2, 0]])
    found_items, found_values = listed(values, items, 5)
    assert found_items.tolist() == [[4, 2, -1, -1, -1]]
    assert found_values.tolist() == [[2.0, 1.0, NOWHERE, NOWHERE, NOWHERE]]
    assert (found_items.dtype, found_values.dtype) == (np.int32, np.float32)
