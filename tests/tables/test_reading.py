"""The same table in any format is the same log; what is refused is listed; too much of it ends the reading."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sprintrec.records import Log
from sprintrec.tables import ReadOptions, from_frames, name_of, read_log
from sprintrec.tables.checks import TooManyRejects
from sprintrec.tables.reading import read_files

Write = Callable[..., Path]
# Anything but what no text file can hold: line ends and control characters, and half characters.
IDS = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufffd"), min_size=1, max_size=6
)
ROWS = st.lists(st.tuples(IDS, IDS, st.integers(0, 4)), min_size=1, max_size=12)


def assert_same(one: Log, other: Log) -> None:
    assert list(one.users) == list(other.users)
    assert list(one.items.ids) == list(other.items.ids)
    assert one.items.fields == other.items.fields
    np.testing.assert_array_equal(one.events.items, other.events.items)
    np.testing.assert_array_equal(one.events.offsets, other.events.offsets)
    assert one.events.times is not None
    assert other.events.times is not None
    np.testing.assert_array_equal(one.events.times, other.events.times)


@settings(max_examples=60, deadline=None)
@given(ROWS.filter(lambda rows: any(user.strip() and item.strip() for user, item, _ in rows)))
def test_csv_jsonl_and_parquet_give_the_same_log(rows: list[tuple[str, str, int]]) -> None:
    options = ReadOptions(allow_bad=1, delimiter=",", header=True)
    frame = pl.DataFrame(rows, schema={"user": pl.String, "item": pl.String, "time": pl.Int64}, orient="row")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"events.{suffix}" for suffix in ("csv", "jsonl", "parquet")]
        with paths[0].open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([frame.columns, *rows])
        lines = (json.dumps(dict(zip(frame.columns, row, strict=True))) for row in rows)
        paths[1].write_text("\n".join(lines), encoding="utf-8")
        frame.write_parquet(paths[2])
        logs = [read_log(path, options=options) for path in paths]
    for log in logs:
        assert_same(log, from_frames(frame, options=options))


def dirty(write: Write) -> Path:
    rows = [f"u{n % 7},i{n % 5},{n}" for n in range(1, 101)]
    rows[10], rows[20], rows[30] = ",i1,11", "u1,i1,soon", "u2,,31"
    return write("events.csv", "\n".join(["user,item,time", *rows]))


def test_too_many_refused_rows_end_the_reading(write: Write, tmp_path: Path) -> None:
    options = ReadOptions(rejects=tmp_path / "rejects.csv")
    with pytest.raises(TooManyRejects) as caught:
        read_log(dirty(write), options=options)
    assert str(caught.value) == (
        "3 of 100 rows can't be read: 3.0%, where --allow-bad allows 1.0%. First: "
        "events.csv, row 12: column 'user' is blank (fill it in or delete the row); "
        "events.csv, row 22: column 'time' is no time stamp: 'soon' (give seconds or milliseconds since 1970, or "
        "ISO 8601 such as 2024-01-31 or 2024-01-31T08:30:00); "
        "events.csv, row 32: column 'item' is blank (fill it in or delete the row). "
        f"{tmp_path / 'rejects.csv'} lists them all"
    )
    with (tmp_path / "rejects.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [
            ["file", "row", "reason", "text"],
            ["events.csv", "12", "column 'user' is blank", ",i1,11"],
            ["events.csv", "22", "column 'time' is no time stamp", "u1,i1,soon"],
            ["events.csv", "32", "column 'item' is blank", "u2,,31"],
        ]


def test_refused_rows_may_be_allowed(write: Write) -> None:
    reading = read_files(dirty(write), None, ReadOptions(allow_bad=0.03))
    assert len(reading.log.events.items) == 97
    assert reading.rejects[0].counts == {
        "column 'user' is blank": 1,
        "column 'time' is no time stamp": 1,
        "column 'item' is blank": 1,
    }


def test_refused_items_count_as_well(write: Write) -> None:
    events = write("events.csv", "user,item\nu,1\n")
    items = write("items.csv", "item,title\n1,a\n,b\n")
    with pytest.raises(TooManyRejects, match=r"1 of 2 items can't be read.*items.csv, row 3: column 'item' is blank"):
        read_log(events, items)


def test_of_every_fault_ten_rows_are_shown(write: Write) -> None:
    rows = [f"u,i,{n}" for n in range(100)] + [",i,1"] * 30 + ["u,i,x"] * 20
    reading = read_files(write("e.csv", "\n".join(["user,item,time", *rows])), None, ReadOptions(allow_bad=1))
    shown = [reject.fault for reject in reading.rejects[0].examples()]
    assert shown == ["column 'user' is blank"] * 10 + ["column 'time' is no time stamp"] * 10


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("amazon2014_beauty/", "beauty"),
        ("amazon2014_beauty/sequences.tsv.gz", "beauty"),
        ("yelp/", "yelp"),
        ("ml-100k/u.data", "ml-100k"),
        ("shop/clicks.csv.gz", "clicks"),
    ],
)
def test_names(tmp_path: Path, path: str, name: str) -> None:
    place = tmp_path / path
    place.parent.mkdir(exist_ok=True)
    if path.endswith("/"):
        place.mkdir()
    else:
        place.touch()
    assert name_of(place) == name
