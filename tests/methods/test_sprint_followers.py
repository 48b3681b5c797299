"""SPRINT's counted path: the same sums as the item neighbours it is made of, saved with the model."""

from __future__ import annotations

import numpy as np
import torch

from sprintrec.method import Run
from sprintrec.methods import itemknn
from sprintrec.methods.sprint import Settings, Sprint
from sprintrec.records import Events, Histories, Past
from sprintrec.settings import changed

TINY = {
    "network.width": 8,
    "network.inner": 8,
    "network.heads": 1,
    "network.decoder_layers": 1,
    "network.history": 3,
    "score.transitions": 2.0,
}
ASKED = Histories.of([[3], [], [5, 6, 7, 8, 9, 10, 11], list(range(27)) * 2])


def test_the_level_equals_the_neighbours_scores(tiny_past: Past) -> None:
    method = Sprint(changed(Settings(), TINY))
    method.begin(tiny_past, Run())
    method.network.eval()
    with torch.no_grad():
        found = method.levels(ASKED)["transitions"].numpy()
    plain = itemknn.ItemKNN(method.settings.transitions)
    plain.fit(tiny_past)
    lists = plain.recommend(ASKED, tiny_past.item_count, exclude_seen=False)
    assert lists.scores is not None
    expected = np.zeros_like(found)
    np.put_along_axis(expected, lists.items.astype(np.int64), lists.scores, axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found[0].argmax() == 4, "after item 3 comes item 4"
    assert not found[1].any(), "nothing follows an empty history"


def test_counts_are_saved_with_the_model(tiny_past: Past) -> None:
    method = Sprint(changed(Settings(), TINY))
    method.begin(tiny_past, Run())
    again = Sprint(method.settings)
    eventless = Past(Events(np.zeros(0, np.int32), np.zeros(1, np.int64)), tiny_past.item_count, tiny_past.codes)
    again.restore(method.state(), eventless)
    for k in (5, 30):
        np.testing.assert_array_equal(method.recommend(ASKED, k).items, again.recommend(ASKED, k).items)


def test_without_a_weight_nothing_is_counted(tiny_past: Past) -> None:
    method = Sprint(changed(Settings(), {**TINY, "score.transitions": 0.0}))
    method.begin(tiny_past, Run())
    assert method.network.followers is None
    assert "transitions" not in method.levels(ASKED)
