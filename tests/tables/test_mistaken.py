"""Logs that can be read and must not be: what they would make is nonsense, so the answer is a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.errors import Mistake
from sprintrec.tables import ReadOptions, read_log
from sprintrec.tables.reading import read_files

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


def test_an_item_list_of_other_ids_is_refused(write: Write) -> None:
    events = write("e.csv", "user,item\na,17\nb,4\n")
    items = write("i.csv", "item,title\n0017,Nail file\n0004,Cream\n")
    with pytest.raises(Mistake, match="the log has '17', the list '0017'"):
        read_log(events, items)


def test_some_items_in_common_are_enough(write: Write) -> None:
    log = read_log(write("e.csv", "user,item\na,17\nb,4\n"), write("i.csv", "item,title\n17,Nail file\n5,Cream\n"))
    assert list(log.items.ids) == ["17", "5", "4"]


def test_a_user_column_is_not_offered_as_the_item(write: Write) -> None:
    with pytest.raises(Mistake, match="--item NAME"):
        read_log(write("e.csv", "user_id,timestamp\na,1\nb,2\n"), None)


def test_rows_longer_than_the_first_are_no_traceback(write: Write) -> None:
    ragged = write("e.csv", "0042,0017\n0003,0004,0005\n")
    with pytest.raises(Mistake, match=r"e\.csv: its rows have different numbers of columns"):
        read_log(ragged, None)


def test_a_huge_text_is_called_huge(write: Write) -> None:
    items = write("i.csv", f"item,title\n1,{'x' * 2_000_000}\n2,b\n")
    with pytest.raises(Mistake, match="a field is longer than 100,000 characters"):
        read_log(write("e.csv", "user,item\na,1\nb,2\n"), items)


def test_the_reject_file_is_never_what_is_read(write: Write) -> None:
    events = write("e.csv", "user,item\na,1\n")
    with pytest.raises(Mistake, match="name another file"):
        read_files(events, None, ReadOptions(rejects=events))
    assert events.read_text() == "user,item\na,1\n"
