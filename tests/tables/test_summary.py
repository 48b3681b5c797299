"""The figures of a log, on one small enough to count by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sprintrec.records import Events, Items, Log
from sprintrec.tables.summary import describe, moment_of, repeated_share, repeats_sentence, tied

# ann: a b a (times 1 1 2), bob: b (time 2); item c is never used.
EVENTS = Events(np.array([0, 1, 0, 1], np.int32), np.array([0, 3, 4]), np.array([1, 1, 2, 2]))
ITEMS = Items(["a", "b", "c"], [{"title": "A"}, {"brand": "B", "price": 3}, {"price": 4}])


def test_describe() -> None:
    figures = describe(Log(EVENTS, ITEMS, ["ann", "bob"], ["made by hand"]), "tiny")
    json.dumps(figures, allow_nan=False)
    assert figures["events_per_item"].pop("q25") == 1.0
    assert figures == {
        "name": "tiny",
        "users": 2,
        "items": 3,
        "events": 4,
        "mean_length": 2.0,
        "density": pytest.approx(4 / 6),
        "repeats": 0.25,
        "ties": 0.5,
        "first_event": "1970-01-01T00:00:01Z",
        "last_event": "1970-01-01T00:00:02Z",
        "events_per_user": {
            "least": 1.0,
            "q25": 1.5,
            "median": 2.0,
            "q75": 2.5,
            "q95": pytest.approx(2.9),
            "most": 3.0,
        },
        "events_per_item": {"least": 0.0, "median": 2.0, "q75": 2.0, "q95": 2.0, "most": 2.0},
        "items_without_events": 1,
        "items_without_text": 1,
        "fields": {"price": pytest.approx(2 / 3), "title": pytest.approx(1 / 3), "brand": pytest.approx(1 / 3)},
        "headline": "item_seen_kept",
        "notes": ["made by hand"],
    }


def test_without_times() -> None:
    figures = describe(Log(Events(EVENTS.items, EVENTS.offsets), ITEMS, ["ann", "bob"]), "tiny")
    assert figures["ties"] is figures["first_event"] is figures["last_event"] is None


def test_a_log_without_events() -> None:
    empty = Events(np.zeros(0, np.int32), np.zeros(1, np.int64))
    figures = describe(Log(empty, Items([], []), []), "none")
    assert figures["repeats"] == figures["mean_length"] == 0
    assert figures["events_per_user"] == {}


def test_ties_do_not_reach_over_users() -> None:
    times = np.array([5, 5, 5, 7, 7])
    events = Events(np.zeros(5, np.int32), np.array([0, 0, 1, 3, 4, 5, 5]), times)
    assert tied(events).tolist() == [False, True, True, False, False]


def test_repeats_and_what_is_said_of_them() -> None:
    assert repeated_share(EVENTS) == 0.25
    assert repeated_share(Events(np.array([0, 1, 0], np.int32), np.array([0, 2, 3]))) == 0.0
    assert repeats_sentence(0.01) is None
    assert "headline item_seen_kept" in (repeats_sentence(0.037) or "")


def test_a_moment_out_of_any_calendar() -> None:
    assert moment_of(10**15) == "1000000000000000"
