"""Amazon's reviews of 2023: raw, and the benchmark's files that are one log cut in three."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.records import Log
from sprintrec.tables import read_log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]
HEADER = "user_id,parent_asin,rating,timestamp"
ROWS = {"train": ["U1,P1,5.0,1400000001000", "U2,P2,5.0,1400000000000"], "valid": ["U1,P2,1.0,1400000002000"],
        "test": ["U1,P3,3.0,1400000003000"]}  # fmt: skip
HISTORY = {"P1": "", "P2": "P1", "P3": "P1 P2"}
META = {
    "main_category": "Video Games",
    "title": "Game",
    "store": "Maker",
    "features": ["fast"],
    "description": ["a", "b"],
    "price": 3.5,
    "images": [{"thumb": "u"}],
    "categories": ["Games", "PC"],
    "details": {"x": "y"},
    "parent_asin": "P1",
    "bought_together": None,
}


@pytest.mark.parametrize("headed", [True, False])
@pytest.mark.parametrize("with_history", [True, False])
def test_the_three_benchmark_files_are_one_log(write: Write, told: Told, headed: bool, with_history: bool) -> None:
    paths = {}
    for part, rows in ROWS.items():
        lines = [f"{row},{HISTORY[row.split(',')[1]]}" if with_history else row for row in rows]
        header = [HEADER + (",history" if with_history else "")] if headed else []
        paths[part] = write(f"Games.{part}.csv", "\n".join(header + lines) + "\n")
    write("meta_Games.jsonl.gz", json.dumps(META))
    for path in paths.values():
        log = read_log(path)
        assert told(log) == {"U1": ["P1", "P2", "P3"], "U2": ["P2"]}
        assert log.items.ids == ["P1", "P2", "P3"]
        assert any("Times are milliseconds: 2014-05-13T16:53:20Z" in note for note in log.notes)


def test_raw_reviews(write: Write, told: Told) -> None:
    reviews = [
        {"rating": 5.0, "title": "Good", "text": "x", "images": [], "asin": "V1", "parent_asin": "P1", "user_id": "U",
         "timestamp": 1600000002000, "helpful_vote": 0, "verified_purchase": True},
        {"rating": 1.0, "title": "Bad", "text": "", "images": [], "asin": "V2", "parent_asin": "P2", "user_id": "U",
         "timestamp": 1600000001000, "helpful_vote": 0, "verified_purchase": True},
    ]  # fmt: skip
    events = write("Games.jsonl.gz", "\n".join(map(json.dumps, reviews)))
    write("meta_Games.jsonl.gz", json.dumps(META))
    log = read_log(events)
    assert told(log) == {"U": ["P2", "P1"]}
    assert any("item from 'parent_asin' (not 'asin')" in note for note in log.notes)
    assert log.items.fields[0] == {
        "title": "Game",
        "brand": "Maker",
        "features": ["fast"],
        "description": "a b",
        "price": 3.5,
        "categories": ["Games", "PC"],
    }
