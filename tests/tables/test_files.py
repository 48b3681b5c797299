"""Files that can't be read, each with one sentence."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.errors import Mistake
from sprintrec.tables import ReadOptions, files, read_log

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", b"", "e.csv is empty"),
        ("e.csv", b"\xef\xbb\xbf \r\n\n", "e.csv is empty"),
        ("e.csv.gz", b"", "e.csv.gz is empty"),
        ("e.csv", "user,item\n".encode("utf-16"), "written in UTF-16: save it as UTF-8"),
        ("e.xlsx", b"PK\x03\x04rest", "zip or Excel file: save it as CSV"),
        ("e.csv.bz2", b"BZh9rest", "packed with bzip2"),
        ("e.csv", b"user,item\rann,1\r", "carriage return alone"),
        ("e.csv", b"user,item\n", "no events are left"),
        ("e.jsonl", b"\n\n", "e.jsonl is empty"),
    ],
)
def test_what_can_not_be_read(write: Write, name: str, content: bytes, message: str) -> None:
    with pytest.raises(Mistake, match=message):
        read_log(write(name, content))


def test_a_missing_file_and_a_folder(write: Write) -> None:
    path = write("events.csv", "user,item\nann,1\n")
    with pytest.raises(Mistake, match=r"there is no file .*event.csv: did you mean 'events.csv'\?"):
        read_log(path.with_name("event.csv"))
    with pytest.raises(Mistake, match="is a folder in which no known format was found"):
        read_log(path.parent)
    with pytest.raises(Mistake, match=r"there is no file .*itms.csv"):
        read_log(path, path.with_name("itms.csv"))


@pytest.mark.parametrize("rows", [10, 100_000])
def test_a_packed_file_that_is_cut_off(tmp_path: Path, rows: int) -> None:
    packed = gzip.compress("".join(f"u{n},i{n * 7919 % 9973}\n" for n in range(rows)).encode())
    path = tmp_path / "events.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(Mistake, match=r"events.csv.gz.*(cut off or damaged|can't be read)"):
        read_log(path)
    with pytest.raises(Mistake, match="cut off or damaged"):
        list(files.lines(path))


def test_signs_that_only_look_like_line_ends(write: Write) -> None:
    log = read_log(write("e.csv", "user,item\x0c,time\u2028\nann,a\x85b,1\n"))
    assert log.items.ids == ["a\x85b"]
    assert log.events.times is not None


def test_names_with_wildcards_are_plain_names(write: Write) -> None:
    write("e1.csv", "user,item\nann,1\n")
    assert read_log(write("e[1].csv", "user,item\nbob,1\n")).users == ["bob"]
    assert read_log(write("e[1].jsonl", '{"user": "cid", "item": 1}')).users == ["cid"]


def test_parts_of_a_split_log_in_order(write: Write) -> None:
    paths = [write(f"x.{part}.csv.gz", "a") for part in ("train", "valid", "test")]
    assert files.split_parts(paths[2]) == paths
    assert files.split_parts(write("x.csv", "a")) == [paths[0].with_name("x.csv")]


def test_one_part_alone_is_said_to_be_one(write: Write) -> None:
    log = read_log(write("x.train.csv", "user_id,parent_asin,rating,timestamp\nu,i,5,1400000000000\n"))
    assert any("one part of a log that was split" in note for note in log.notes)
    options = ReadOptions(format="amazon2023")
    write("x.test.csv", "user_id,parent_asin,rating,timestamp\nu,j,5,1400000001000\n")
    notes = read_log(
        write("x.train.csv", "user_id,parent_asin,rating,timestamp\nu,i,5,1400000000000\n"), None, options
    ).notes
    assert "2 files are one log: x.train.csv, x.test.csv." in notes
