"""Tables in memory: whatever library they are from, the log is the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import ReadOptions, from_frames
from sprintrec.tables.frames import as_polars, of_the_same_kind

Told = Callable[[Log], dict[str, list[str]]]
EVENTS = {"user_id": ["ann", "bob", "ann"], "item_id": ["007", "7", "7"], "timestamp": [20, 10, 10]}
ITEMS = {"item_id": ["7", "9"], "title": ["Tea", None]}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_all_kinds_of_tables(told: Told, kind: Callable[[Any], Any]) -> None:
    log = from_frames(kind(EVENTS), kind(ITEMS))
    assert told(log) == {"ann": ["7", "007"], "bob": ["7"]}
    assert log.items.ids == ["7", "9", "007"]
    assert log.items.fields == [{"title": "Tea"}, {}, {}]


def test_pandas_needs_no_arrow(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame(EVENTS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert told(from_frames(frame)) == {"ann": ["7", "007"], "bob": ["7"]}


@pytest.mark.parametrize(
    ("column", "ids"),
    [
        (pd.Series([7, 8]), ["7", "8"]),
        (pd.Series([7.0, None]), ["7"]),
        (pd.Series(["007", None]), ["007"]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series([7, None], dtype="Int64"), ["7"]),
    ],
)
def test_ids_in_pandas_columns_of_any_type(told: Told, column: pd.Series, ids: list[str]) -> None:
    frame = pd.DataFrame({"user": "u", "item": column})
    assert told(from_frames(frame, options=ReadOptions(allow_bad=0.5))) == {"u": ids}


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Paris"])
def test_times_in_pandas(zone: str | None) -> None:
    times = pd.to_datetime(["2024-01-02", "2024-01-01"]).tz_localize(zone)
    log = from_frames(pd.DataFrame({"user": ["u", "u"], "item": ["b", "a"], "time": times}))
    assert log.events.times is not None
    offset = 3600 if zone == "Europe/Paris" else 0
    assert log.events.times.tolist() == [1704067200 - offset, 1704153600 - offset]


def test_rows_of_a_frame_count_from_nought() -> None:
    with pytest.raises(Mistake, match=r"events, row 1: column 'user' is blank"):
        from_frames(pl.DataFrame({"user": ["u", None], "item": [1, 2]}))


def test_what_is_no_table() -> None:
    with pytest.raises(Mistake, match="events must be a table of pandas, polars or Arrow, not list"):
        from_frames([("ann", 1)])
    with pytest.raises(Mistake, match="no column for the user: found 'a'"):
        from_frames(pl.DataFrame({"a": [1]}))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, pa.RecordBatch.from_pydict])
def test_a_table_of_the_same_kind(kind: Callable[[Any], Any]) -> None:
    frame = kind(EVENTS)
    made = of_the_same_kind(frame, ITEMS)
    assert type(made) is type(frame)
    assert as_polars(made, "items").collect().to_dict(as_series=False) == ITEMS


def test_other_kinds_of_arrow_get_polars() -> None:
    reader = pa.table(EVENTS).to_reader()
    assert isinstance(of_the_same_kind(reader, ITEMS), pl.DataFrame)
