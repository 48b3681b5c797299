"""Rows made by hand from ranks alone, so that every figure of a report can be reckoned anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sprintrec.metrics import summary
from sprintrec.report import SavedRow
from sprintrec.significance import rank_intervals

USERS = 400


def ranks_of(hits: int, seed: int = 0, users: int = USERS) -> np.ndarray:
    """So many users with the target at places 1 to 10, all others at 500."""
    random = np.random.default_rng(seed)
    ranks = np.full(users, 500, np.uint16)
    ranks[random.choice(users, hits, replace=False)] = random.integers(1, 11, hits)
    return ranks


def made_run(
    method: str = "popular",
    ranks: np.ndarray | None = None,
    recipe: str | None = None,
    seed: int = 0,
    codes: dict[str, Any] | None = None,
    keep_ranks: bool = True,
    epochs: int = 0,
    **other: Any,
) -> SavedRow:
    """A saved row whose levels all come from the same ranks, those with seen items kept one place lower."""
    ranks = ranks_of(100) if ranks is None else ranks
    by_level = {"item": ranks, "item_seen_kept": ranks + 1}
    if codes is not None:
        by_level["code"] = np.maximum(ranks - 1, 1)
    row = {
        "dataset": "beauty",
        "method": method,
        "recipe": recipe or method,
        "seed": seed,
        "protocol": "last-out",
        "questions": {"validation": len(ranks), "test": len(ranks)},
        "codes": codes,
        "texts": {"encoder": "minilm"},
        "data_hash": "0123456789abcdef",
        "settings": {"network": {"history": 20}, "training": {"stop_on": "item"}} if epochs else {},
        "seconds": {"train": 61.4, "epochs": epochs, "best_epoch": epochs - 1 if epochs else None, "evaluate": 0.2},
        "parameters": 877_824,
        "machine": {"processor": "a processor", "cores": 2, "python": "3.11.7", "torch": "2.13.0", "device": "cpu"},
        "version": "0.1.0",
        **{
            level: summary(by_level[level]) if level in by_level else None
            for level in ("item", "item_seen_kept", "code")
        },
        "intervals": {level: rank_intervals(each, (5, 10, 20), draws=100) for level, each in by_level.items()},
        "beyond": {"coverage@10": 0.25, "popularity_lift@10": -0.125},
        "slices": {
            "history length": {
                "3 to 4": {"questions": 300, "recall@10": 0.25, "ndcg@10": 0.125},
                "20+": {"questions": 100, "recall@10": 0.5, "ndcg@10": 0.375},
            }
        },
        **other,
    }
    curve = [
        {"epoch": epoch, "loss": 9.0 - epoch, "validation": {"ndcg@10": 0.01 * (epoch + 1)}, "best_epoch": epoch}
        for epoch in range(epochs)
    ]
    return SavedRow(row, by_level if keep_ranks else {}, curve)


@pytest.fixture
def made() -> Callable[..., SavedRow]:
    return made_run


@pytest.fixture
def hits() -> Callable[..., np.ndarray]:
    return ranks_of


@pytest.fixture
def code_table() -> dict[str, Any]:
    return {"name": "paper", "items": 30, "distinct": 24, "hash": "feedfeedfeedfeed"}
