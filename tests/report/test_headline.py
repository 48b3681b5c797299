"""What is headlined on a log in which users come back to items, wherever the report learns that from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sprintrec.report import Background, SavedRow, boards


def row(**changes: Any) -> SavedRow:
    figures = {f"{name}@{cut}": 0.1 for name in ("recall", "ndcg", "mrr") for cut in (5, 10, 20)}
    plain = {
        "dataset": "shop",
        "method": "popular",
        "recipe": "popular",
        "seed": 0,
        "protocol": "last-out",
        "data_hash": "0",
        "questions": {"test": 2, "validation": 2},
        "item": figures,
        "item_seen_kept": figures,
        "code": None,
        "codes": None,
        "intervals": {},
        "settings": {},
    }
    return SavedRow({**plain, **changes}, {"item": np.array([1, 2]), "item_seen_kept": np.array([1, 2])})


@pytest.mark.parametrize(
    ("in_row", "told", "headline"),
    [
        (None, None, "item"),
        (0.0, None, "item"),
        (0.037, None, "item_seen_kept"),
        (0.0, 0.037, "item_seen_kept"),
        (0.037, 0.0, "item"),
    ],
)
def test_headline(in_row: float | None, told: float | None, headline: str) -> None:
    saved = row() if in_row is None else row(repeats=in_row)
    place = ("shop", "last-out")
    backgrounds = {} if told is None else {place: replace(Background(), repeat_share=told)}
    assert boards([saved], backgrounds)[0].headline == headline
