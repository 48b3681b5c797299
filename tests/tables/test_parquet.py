"""Parquet: one file, a folder of them, and ids of every type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import ReadOptions, read_log

Told = Callable[[Log], dict[str, list[str]]]
FRAME = pl.DataFrame({"user": ["ann", "bob", "ann"], "item": ["007", "7", "7"], "time": [20, 10, 10]})


def test_a_file_and_a_folder(tmp_path: Path, told: Told) -> None:
    FRAME.write_parquet(tmp_path / "events.parquet")
    folder = tmp_path / "parts"
    (folder / "day=2").mkdir(parents=True)
    FRAME[:2].write_parquet(folder / "a.parquet")
    FRAME[2:].write_parquet(folder / "day=2" / "b.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".a.parquet.crc").touch()
    expected = {"ann": ["7", "007"], "bob": ["7"]}
    assert told(read_log(tmp_path / "events.parquet")) == expected
    assert told(read_log(folder)) == expected


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        (pl.Series([7, 2**40]), ["7", str(2**40)]),
        (pl.Series([7, 8], dtype=pl.UInt8), ["7", "8"]),
        (pl.Series([7.0, 8.5]), ["7", "8.5"]),
        (pl.Series(["007", "b"], dtype=pl.Categorical), ["007", "b"]),
    ],
)
def test_ids_of_any_type_become_text(tmp_path: Path, told: Told, values: pl.Series, ids: list[str]) -> None:
    pl.DataFrame({"user": ["u", "u"], "item": values}).write_parquet(tmp_path / "e.parquet")
    assert told(read_log(tmp_path / "e.parquet")) == {"u": ids}


@pytest.mark.parametrize(
    "times",
    [
        [datetime(2024, 1, 2), datetime(2024, 1, 1)],
        [datetime(2024, 1, 2, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)],
        [date(2024, 1, 2), date(2024, 1, 1)],
        [1704153600.0, 1704067200.0],
    ],
)
def test_times_of_any_type(tmp_path: Path, told: Told, times: list[object]) -> None:
    pl.DataFrame({"user": ["u", "u"], "item": ["b", "a"], "time": times}).write_parquet(tmp_path / "e.parquet")
    log = read_log(tmp_path / "e.parquet")
    assert told(log) == {"u": ["a", "b"]}
    assert log.events.times is not None
    assert log.events.times.tolist() == [1704067200, 1704153600]


def test_rows_without_ids_are_counted(tmp_path: Path) -> None:
    pl.DataFrame({"user": ["u", None, "", "v"], "item": [1, 2, 3, None]}).write_parquet(tmp_path / "e.parquet")
    log = read_log(tmp_path / "e.parquet", options=ReadOptions(allow_bad=0.75))
    assert len(log.events.items) == 1
    assert any("3 of 4 rows" in note for note in log.notes)
    with pytest.raises(Mistake, match=r"e.parquet, row 2: column 'user' is blank"):
        read_log(tmp_path / "e.parquet")


def test_what_can_not_be_an_id(tmp_path: Path) -> None:
    pl.DataFrame({"user": ["u"], "item": [["a", "b"]]}).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(Mistake, match=r"column 'item' holds values of type List.*no ids"):
        read_log(tmp_path / "e.parquet")


@pytest.mark.parametrize("name", ["type", "score"])
def test_a_list_that_has_the_name_of_a_role(tmp_path: Path, told: Told, name: str) -> None:
    pl.DataFrame({"user": ["u"], "item": ["i"], name: [["a", "b"]]}).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(Mistake, match=rf"column '{name}' holds values of type List.*or say --[a-z-]+ none"):
        read_log(tmp_path / "e.parquet")
    assert told(read_log(tmp_path / "e.parquet", options=ReadOptions(event_type="none", rating="none"))) == {"u": ["i"]}


def test_a_part_with_other_columns(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.rename({"item": "thing"}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(Mistake, match=r"b.parquet has no column 'item', which a.parquet has"):
        read_log(tmp_path)


def test_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / "e.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(Mistake, match="can't be read as Parquet"):
        read_log(tmp_path / "e.parquet")
    FRAME.write_parquet(tmp_path / "good.parquet")
    with pytest.raises(Mistake, match="can't be read as Parquet"):
        read_log(tmp_path / "good.parquet", tmp_path / "e.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Mistake, match="no Parquet file and holds none"):
        read_log(tmp_path / "empty", options=ReadOptions(format="parquet"))


def test_items(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "events.parquet")
    items = pl.DataFrame(
        {"item_id": ["7", "9"], "title": ["Tea", None], "made": [date(2024, 1, 1), None], "tags": [["a"], []]}
    )
    items.write_parquet(tmp_path / "items.parquet")
    log = read_log(tmp_path / "events.parquet", tmp_path / "items.parquet")
    assert log.items.ids == ["7", "9", "007"]
    assert log.items.fields == [{"title": "Tea", "made": "2024-01-01", "categories": ["a"]}, {}, {}]
