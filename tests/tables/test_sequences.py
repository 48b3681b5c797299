"""Sequence files: a folder alone is a whole log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.records import Log
from sprintrec.tables import ReadOptions, read_log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]
ITEMS = '{"item": "007", "title": "Tea", "brand": ""}\n{"item": "8", "title": "Milk", "categories": ["a", "b"]}\n'
SEQUENCES = "bob\t8 007 8\nann\t007\n"
HISTORIES = {"bob": ["8", "007", "8"], "ann": ["007"]}


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_folder_or_its_sequences(write: Write, told: Told, packed: str) -> None:
    write(f"log/items.jsonl{packed}", ITEMS)
    sequences = write(f"log/sequences.tsv{packed}", SEQUENCES)
    for path in (sequences.parent, sequences):
        log = read_log(path)
        assert told(log) == HISTORIES
        assert log.items.ids == ["007", "8"]
        assert log.items.fields == [{"title": "Tea"}, {"title": "Milk", "categories": ["a", "b"]}]
        assert log.events.times is None


@pytest.mark.parametrize("options", [ReadOptions(), ReadOptions(format="sequences")])
def test_without_items_and_under_another_name(write: Write, told: Told, options: ReadOptions) -> None:
    path = write("mine.tsv", (SEQUENCES + "eve\t7 8\n").replace(" 007", "  007 ").replace("\n", "\r\n"))
    assert told(read_log(path, options=options)) == {**HISTORIES, "eve": ["7", "8"]}


def test_two_columns_with_blanks_are_not_taken_for_sequences(write: Write, told: Told) -> None:
    path = write("titles.tsv", "user\titem\nann\tToy Story\nbob\tThe Wall\n")
    assert told(read_log(path)) == {"ann": ["Toy Story"], "bob": ["The Wall"]}


def test_a_user_on_two_lines_goes_on(write: Write, told: Told) -> None:
    assert told(read_log(write("sequences.tsv", "ann\t1 2\nbob\t3\nann\t4\n"))) == {
        "ann": ["1", "2", "4"],
        "bob": ["3"],
    }


def test_bad_lines(write: Write) -> None:
    lines = [f"u{n}\t1 2 3" for n in range(200)]
    lines[4], lines[9] = "u4 1 2 3", "u9\t"
    log = read_log(write("sequences.tsv", "\n".join(lines)))
    assert len(log.users) == 198
    (note,) = [note for note in log.notes if "can't be read" in note]
    assert "1 where the row has no tab between the user and the items" in note
    assert "1 where column 'item' is blank" in note
