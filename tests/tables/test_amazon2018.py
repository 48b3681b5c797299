"""Amazon's reviews of 2018."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from sprintrec.records import Log
from sprintrec.tables import read_log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]


def test_reviews_with_the_items_beside_them(write: Write, told: Told) -> None:
    reviews = [
        {"overall": 5.0, "verified": True, "reviewerID": "A", "asin": "B2", "style": {"S:": "1"}, "unixReviewTime": 20},
        {"overall": 4.0, "verified": True, "reviewerID": "A", "asin": "B1", "reviewText": "x", "unixReviewTime": 10},
    ]
    items = [
        {"category": ["Music", "Rock"], "title": "Song", "also_buy": ["B2"], "brand": "Band", "feature": ["loud"],
         "rank": "3 in Music", "description": ["It", "sings"], "price": "$3", "image": ["u"], "asin": "B1"},
        {"category": [], "title": "var aPageStart = (new Date()).getTime();", "also_buy": [], "asin": "B2"},
    ]  # fmt: skip
    events = write("Music_5.json.gz", "\n".join(map(json.dumps, reviews)))
    write("meta_Music.json.gz", "\n".join(map(json.dumps, items)))
    log = read_log(events)
    assert "Music_5.json.gz is read as amazon2018." in log.notes
    assert told(log) == {"A": ["B1", "B2"]}
    assert log.items.fields == [
        {
            "title": "Song",
            "brand": "Band",
            "price": "$3",
            "description": "It sings",
            "features": ["loud"],
            "categories": ["Music", "Rock"],
            "sales_rank": "3 in Music",
        },
        {},
    ]
