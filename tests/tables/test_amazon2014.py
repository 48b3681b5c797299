"""Amazon's reviews of 2014: JSON reviews, and items as Python literals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from sprintrec.records import Log
from sprintrec.tables import ReadOptions, read_log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]


def review(user: str, item: str, time: int, rating: float = 5.0) -> str:
    row = {"reviewerID": user, "asin": item, "reviewerName": "x", "helpful": [0, 1], "reviewText": 'it\'s "fine"'}
    return json.dumps({**row, "overall": rating, "summary": "s", "unixReviewTime": time, "reviewTime": "02 1, 2014"})


REVIEWS = "\n".join(
    [review("A1", "B2", 1391040000), review("A1", "0000000078", 1391000000), review("A2", "B2", 1, 1.0)]
)
META = "\n".join(
    [
        "{'asin': '0000000078', 'title': \"Rock's\", 'price': 9.5, 'salesRank': {'Toys': 7}, 'imUrl': 'u', "
        "'related': {'also_bought': ['B2']}, 'categories': [['Beauty', 'Hair'], ['Beauty', 'Skin']]}",
        "{'asin': 'B2', 'description': 'Soft'}",
        "{'asin': 'B9', 'title': 'never bought'}",
    ]
)


def test_reviews_with_the_items_beside_them(write: Write, told: Told) -> None:
    events = write("reviews_Beauty_5.json.gz", REVIEWS)
    write("meta_Beauty.json.gz", META)
    log = read_log(events)
    assert told(log) == {"A1": ["0000000078", "B2"], "A2": ["B2"]}
    assert log.items.ids == ["0000000078", "B2", "B9"]
    assert log.items.fields[:2] == [
        {"title": "Rock's", "categories": ["Beauty", "Hair", "Skin"], "price": 9.5, "sales_rank": "7 in Toys"},
        {"description": "Soft"},
    ]
    assert "reviews_Beauty_5.json.gz is read as amazon2014." in log.notes


def test_used_items_alone(write: Write) -> None:
    events = write("reviews_Beauty_5.json.gz", REVIEWS)
    items = write("meta.json.gz", META.replace("'never bought'}", "'never bought"))
    options = ReadOptions(used_items_only=True, min_rating=3)
    log = read_log(events, items.rename(items.with_name("meta_Beauty.json.gz")), options)
    assert log.items.ids == ["0000000078", "B2"]
    assert log.users == ["A1"]


def test_ratings_without_header(write: Write, told: Told) -> None:
    log = read_log(write("ratings_Beauty.csv", "A1,B2,5.0,1391040000\nA1,B1,1.0,1391000000\n"))
    assert told(log) == {"A1": ["B1", "B2"]}
