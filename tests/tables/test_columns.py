"""Columns by name, and the sentence that says which."""

from __future__ import annotations

import pytest

from sprintrec.errors import Mistake
from sprintrec.tables.columns import choose, choose_items_id, is_known, plain
from sprintrec.tables.options import ReadOptions


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (("user_id", "item_id", "timestamp"), ("user_id", "item_id", "timestamp", None, None)),
        (("USER_ID", "ITEM_ID", "TIMESTAMP", "EVENT_TYPE"), ("USER_ID", "ITEM_ID", "TIMESTAMP", None, "EVENT_TYPE")),
        (("FeedbackType", "UserId", "ItemId", "Timestamp"), ("UserId", "ItemId", "Timestamp", None, "FeedbackType")),
        (
            ("reviewerID", "asin", "overall", "unixReviewTime"),
            ("reviewerID", "asin", "unixReviewTime", "overall", None),
        ),
        (("asin", "parent_asin", "user_id", "rating"), ("user_id", "parent_asin", None, "rating", None)),
        (("visitorid", "event", "itemid", "timestamp"), ("visitorid", "itemid", "timestamp", None, "event")),
        (("user_id", "item_id", "datetime", "weight"), ("user_id", "item_id", "datetime", "weight", None)),
        (("session_id", "item_id", "user_id"), ("user_id", "item_id", None, None, None)),
    ],
)
def test_names_that_people_use(columns: tuple[str, ...], expected: tuple[str | None, ...]) -> None:
    choice = choose("log.csv", columns, ReadOptions())
    assert (choice.user, choice.item, choice.time, choice.rating, choice.event_type) == expected


def test_the_decision_is_a_sentence() -> None:
    sentence = choose("log.csv", ("user_id", "asin", "parent_asin", "ts", "note"), ReadOptions()).sentence
    assert sentence == (
        "log.csv: user from 'user_id', item from 'parent_asin' (not 'asin'), time from 'ts', no rating, no event type."
    )


def test_flags_win_over_names_and_over_the_format() -> None:
    options = ReadOptions(user="b", item="a", time="none")
    choice = choose("x", ("a", "b", "user_id", "time"), options, {"user": "user_id", "item": "user_id"})
    assert (choice.user, choice.item, choice.time) == ("b", "a", None)


def test_a_flag_that_names_no_column() -> None:
    with pytest.raises(Mistake, match=r"log.csv has no column 'usr' \(--user\): did you mean 'user'\?"):
        choose("log.csv", ("user", "item"), ReadOptions(user="usr"))


def test_one_column_can_not_be_both() -> None:
    with pytest.raises(Mistake, match="column 'user' can't be both user and item"):
        choose("log.csv", ("user", "item"), ReadOptions(item="user"))


def test_a_missing_column_with_and_without_a_likeness() -> None:
    with pytest.raises(Mistake, match=r"no column for the item: found 'user', 'itm_id'; name it with --item itm_id"):
        choose("log.csv", ("user", "itm_id"), ReadOptions())
    with pytest.raises(Mistake, match=r"no column for the user: found 'q', 'item'; name it with --user NAME"):
        choose("log.csv", ("q", "item"), ReadOptions())


@pytest.mark.parametrize(
    ("columns", "options", "fixed", "expected"),
    [
        (("title", "id"), ReadOptions(), None, "id"),
        (("id", "item_id"), ReadOptions(), None, "item_id"),
        (("sku", "key"), ReadOptions(item="key"), None, "key"),
        (("sku", "key"), ReadOptions(item="other"), None, "sku"),
        (("sku", "key"), ReadOptions(items_id="key"), "sku", "key"),
        (("1", "title"), ReadOptions(), "1", "1"),
    ],
)
def test_the_id_of_an_item_list(
    columns: tuple[str, ...], options: ReadOptions, fixed: str | None, expected: str
) -> None:
    assert choose_items_id("items.csv", columns, options, fixed) == expected


def test_an_item_list_without_an_id() -> None:
    with pytest.raises(Mistake, match=r"items.csv has no column for the item.*--items-id"):
        choose_items_id("items.csv", ("title", "colour"), ReadOptions(), None)


def test_plain_names() -> None:
    assert plain("USER_ID") == plain("user_id:token") == plain("UserId") == "userid"
    assert is_known("Movie ID")
    assert not is_known("colour")
