"""Sorting, thinning and numbering of a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import ReadOptions, from_frames, read_log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]


def log_of(rows: list[tuple[str, str, int]], items: list[str] | None = None, **options: Any) -> Log:
    events = pl.DataFrame(rows, schema=["user", "item", "time"], orient="row")
    listed = None if items is None else pl.DataFrame({"item": items, "title": [f"T{item}" for item in items]})
    return from_frames(events, listed, ReadOptions(**options))


def test_ties_keep_the_order_of_the_file_and_are_counted(told: Told) -> None:
    log = log_of([("u", "c", 9), ("v", "a", 5), ("u", "b", 7), ("u", "z", 7), ("u", "a", 7), ("v", "b", 6)])
    assert told(log) == {"u": ["b", "z", "a", "c"], "v": ["a", "b"]}
    assert log.events.times is not None
    assert log.events.times.tolist() == [7, 7, 7, 9, 5, 6]
    assert any(note.startswith("3 of 6 events (50.0%) share user and second with another") for note in log.notes)


def test_finer_times_than_seconds_order_events(told: Told) -> None:
    log = log_of([("u", "b", 1_400_000_000_700), ("u", "a", 1_400_000_000_200)])
    assert told(log) == {"u": ["a", "b"]}
    assert log.events.times is not None
    assert log.events.times.tolist() == [1_400_000_000] * 2


def test_duplicate_rows_are_kept_and_counted(told: Told) -> None:
    log = log_of([("u", "a", 1), ("u", "b", 1), ("u", "a", 1), ("u", "a", 1), ("u", "a", 2)])
    assert told(log) == {"u": ["a", "b", "a", "a", "a"]}
    assert "Rows that repeat another in user, item and second: 2; they are kept." in log.notes


def test_rows_are_in_order_of_first_appearance_in_the_file(told: Told) -> None:
    log = log_of([("v", "z", 9), ("u", "y", 1), ("v", "x", 1)])
    assert list(log.users) == ["v", "u"]
    assert list(log.items.ids) == ["z", "y", "x"]
    assert told(log) == {"v": ["x", "z"], "u": ["y"]}
    assert log.events.items.dtype == np.int32
    assert log.events.offsets.dtype == np.int64


def test_listed_items_come_first_in_the_order_of_the_list() -> None:
    log = log_of([("u", "z", 1), ("u", "b", 2), ("u", "y", 3)], ["c", "b", "a"])
    assert list(log.items.ids) == ["c", "b", "a", "z", "y"]
    assert log.items.fields == [{"title": "Tc"}, {"title": "Tb"}, {"title": "Ta"}, {}, {}]
    assert log.events.items.tolist() == [3, 1, 4]
    assert "Listed items without events, kept because their text can be ranked: 2 of 3." in log.notes
    assert "Items of the log that are not in the item list, kept without fields: 2." in log.notes
    assert "Items without text: 2 of 5." in log.notes


def test_used_items_alone() -> None:
    log = log_of([("u", "z", 1), ("u", "b", 2)], ["c", "b", "a"], used_items_only=True)
    assert list(log.items.ids) == ["b", "z"]
    assert "Listed items without events, left out: 2 of 3." in log.notes


def test_first_only(told: Told) -> None:
    log = log_of([("u", "a", 3), ("u", "a", 1), ("u", "b", 2), ("v", "a", 4)], first_only=True)
    assert told(log) == {"u": ["a", "b"], "v": ["a"]}
    assert "Events after a user's first one with an item, left out: 1." in log.notes


def test_drop_repeats(told: Told) -> None:
    log = log_of([("u", "a", 1), ("u", "a", 2), ("u", "b", 3), ("u", "a", 4), ("v", "a", 5)], drop_repeats=True)
    assert told(log) == {"u": ["a", "b", "a"], "v": ["a"]}
    assert "Events that repeat the one just before, left out: 1." in log.notes


def test_k_core_goes_on_until_nothing_changes(told: Told) -> None:
    # Without item d user w has one event left; without w's, item c has one; without that, v has one.
    rows = [("w", "d", 1), ("w", "c", 2), ("v", "c", 3), ("v", "a", 4), ("u", "a", 5), ("u", "b", 6)]
    rows += [("t", "a", 7), ("t", "b", 8)]
    log = log_of(rows, k_core=(2,))
    assert told(log) == {"u": ["a", "b"], "t": ["a", "b"]}
    assert list(log.items.ids) == ["a", "b"]
    assert any("leaves 2 users, 2 items and 4 events" in note for note in log.notes)
    assert told(log_of(rows, k_core=(1, 3))) == {"v": ["a"], "u": ["a"], "t": ["a"]}


def test_min_history(told: Told) -> None:
    log = log_of([("v", "a", 1), ("u", "b", 2), ("u", "c", 3)], min_history=2)
    assert told(log) == {"u": ["b", "c"]}
    assert list(log.items.ids) == ["b", "c"]
    assert "Users with fewer than 2 events, left out: 1." in log.notes


def test_nothing_left() -> None:
    with pytest.raises(Mistake, match=r"no events are left: .*The k-core"):
        log_of([("u", "a", 1)], k_core=(2,), min_history=1, drop_repeats=True)


def test_without_times_the_order_of_rows_is_the_order_in_time(write: Write, told: Told) -> None:
    log = read_log(write("e.csv", "user,item,time\nu,b,9\nv,a,8\nu,a,1\n"), options=ReadOptions(time="none"))
    assert told(log) == {"u": ["b", "a"], "v": ["a"]}
    assert log.events.times is None


def test_against_a_plain_sort() -> None:
    random = np.random.default_rng(3)
    rows = [(f"u{u}", f"i{i}", int(t)) for u, i, t in random.integers(0, (30, 50, 200), (2000, 3))]
    log = log_of(rows)
    users = list(dict.fromkeys(user for user, _, _ in rows))
    items = list(dict.fromkeys(item for _, item, _ in rows))
    assert list(log.users) == users
    assert list(log.items.ids) == items
    expected = sorted(rows, key=lambda row: (users.index(row[0]), row[2]))
    assert log.events.items.tolist() == [items.index(item) for _, item, _ in expected]
    assert log.events.times is not None
    assert log.events.times.tolist() == [time for _, _, time in expected]
    assert log.events.lengths.tolist() == [sum(row[0] == user for row in rows) for user in users]
