"""Lists of recommended items: read from anything a log may be, written whole, and read back as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables.lists import WRITTEN, read_lists, write_lists

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]
LISTS = {"ann": ["7", "007", "b"], "bob": ["b", "7"]}
BLOCKS: list[dict[str, list[Any]]] = [
    {"user_id": ["ann"] * 3, "item_id": ["7", "007", "b"], "score": [0.5, 0.25, -1.0], "rank": [1, 2, 3]},
    {"user_id": ["bob"] * 2, "item_id": ["b", "7"], "score": [1e-9, 0.0], "rank": [1, 2]},
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lists.tsv", "ann\t7 007 b\nbob\tb 7\n"),
        ("lists.tsv.gz", "ann\t7 007 b\nbob\tb 7\n"),
        ("lists.csv", "user_id,item_id\nann,7\nann,007\nbob,b\nann,b\nbob,7\n"),
        ("lists.csv", "user,item,rank\nann,b,10\nbob,7,2\nbob,b,1\nann,007,2\nann,7,1\n"),
        ("lists.csv", "user,item,score,Rank\nann,b,.1,3\nbob,7,.5,2\nann,7,.9,1\nbob,b,.1,1\nann,007,.2,2\n"),
        ("lists.csv", "user,item,timestamp\nann,7,9\nann,007,5\nbob,b,1\nann,b,3\nbob,7,0\n"),
        ("lists.jsonl", '{"user": "ann", "item": "7"}\n{"user": "ann", "item": "007"}\n'
         '{"user": "ann", "item": "b"}\n{"user": "bob", "item": "b"}\n{"user": "bob", "item": "7"}\n'),
    ],
    ids=["one line per user", "packed", "by place", "by rank", "score beside rank", "times say nothing", "JSON lines"],
)  # fmt: skip
def test_all_forms_of_lists(write: Write, told: Told, name: str, content: str) -> None:
    assert told(read_lists(write(name, content))) == LISTS


@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_is_written_is_read(told: Told, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "deep" / f"lists{suffix}"
    write_lists(path, BLOCKS)
    assert told(read_lists(path)) == LISTS
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_table_has_one_header_and_four_columns(tmp_path: Path) -> None:
    write_lists(tmp_path / "lists.csv", BLOCKS)
    assert (tmp_path / "lists.csv").read_text().splitlines()[::3] == ["user_id,item_id,score,rank", "ann,b,-1.0,3"]
    write_lists(tmp_path / "lists.parquet", BLOCKS)
    assert pl.read_parquet(tmp_path / "lists.parquet")["item_id"].to_list() == ["7", "007", "b", "b", "7"]


def test_the_same_lists_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first.csv.gz", "second.csv.gz"):
        write_lists(tmp_path / name, BLOCKS)
    assert (tmp_path / "first.csv.gz").read_bytes() == (tmp_path / "second.csv.gz").read_bytes()


def test_another_ending_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=r"lists.xlsx: lists are written as .csv, .csv.gz"):
        write_lists(tmp_path / "lists.xlsx", BLOCKS)


def test_lists_that_break_off_leave_what_was_there(tmp_path: Path) -> None:
    def breaking() -> Iterator[dict[str, list[Any]]]:
        yield BLOCKS[0]
        raise KeyboardInterrupt

    write_lists(tmp_path / "lists.csv", BLOCKS[1:])
    before = (tmp_path / "lists.csv").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        write_lists(tmp_path / "lists.csv", breaking())
    assert (tmp_path / "lists.csv").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["lists.csv"]
