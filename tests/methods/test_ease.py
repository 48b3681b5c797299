"""EASE: what it refuses, and which part of a history it reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sprintrec.errors import Mistake
from sprintrec.methods import ease
from sprintrec.methods.ease import EASE, Settings
from sprintrec.records import Histories, Past


@pytest.mark.parametrize("change", [{"penalty": 0.0}, {"max_items": 0}, {"history": 0}])
def test_settings_out_of_range_are_named(change: dict[str, Any]) -> None:
    with pytest.raises(Mistake, match=next(iter(change))):
        Settings(**change)


def test_a_catalogue_too_large_is_refused_with_its_memory(tiny_past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ease, "LARGEST", 20)
    with pytest.raises(Mistake, match=r"28 x 28 items, about 0 GB: set max_items to 20 or less"):
        EASE().fit(tiny_past)
    method = EASE(Settings(max_items=20))
    method.fit(tiny_past)
    assert method.weights.shape == (20, 20)


def test_only_the_last_items_are_read(tiny_past: Past) -> None:
    short, whole = EASE(Settings(history=2)), EASE()
    short.fit(tiny_past)
    whole.fit(tiny_past)
    asked = short.recommend(Histories.of([[20, 3, 4]]), 30, exclude_seen=False)
    wanted = whole.recommend(Histories.of([[3, 4]]), 30, exclude_seen=False)
    np.testing.assert_array_equal(asked.items, wanted.items)
