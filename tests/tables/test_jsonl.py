"""JSON lines of events and items."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import ReadOptions, read_log
from sprintrec.tables.jsonl import item_list

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]


def as_lines(*rows: object) -> str:
    return "".join(row + "\n" if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("name", ["events.jsonl", "events.jsonl.gz", "events.json", "events"])
def test_events(write: Write, told: Told, name: str) -> None:
    rows = as_lines(
        {"user_id": "ann", "item_id": "007", "timestamp": 20, "tags": ["x"]},
        {"timestamp": 10, "item_id": 7, "user_id": "ann", "more": {"a": 1}},
        "",
        {"user_id": 12345678901234567890123, "item_id": 'é\u2028"', "timestamp": 5},
    )
    log = read_log(write(name, rows))
    assert told(log) == {"ann": ["7", "007"], "12345678901234567890123": ['é\u2028"']}


def bad_lines() -> list[object]:
    good: list[object] = [{"user": f"u{n % 7}", "item": n % 5, "time": n} for n in range(1000)]
    good[10] = '{"user": "u1", "item": 3, '
    good[11] = "[1, 2]"
    good[12] = {"user": {"name": "ann"}, "item": 1, "time": 3}
    good[13] = {"user": None, "item": 1, "time": 3}
    good[14] = {"item": 1, "time": 3}
    good[15] = {"user": 90071992547409931234567, "item": 1, "time": 3}
    return good


def test_bad_lines_cost_themselves_alone(write: Write, told: Told, tmp_path: Path) -> None:
    rejects = tmp_path / "rejects.csv"
    log = read_log(write("events.jsonl", as_lines(*bad_lines())), options=ReadOptions(rejects=rejects))
    assert len(log.events.items) == 995
    assert "90071992547409931234567" in told(log)
    (note,) = [note for note in log.notes if "can't be read" in note]
    assert "3 where the row is no JSON object" in note
    assert "2 where column 'user' is blank" in note
    text = rejects.read_text()
    assert "events.jsonl,11,the row is no JSON object" in text
    assert "events.jsonl,14,column 'user' is blank" in text


def test_bytes_that_are_not_utf8(write: Write) -> None:
    lines = [b'{"user": "u%d", "item": 1}' % n for n in range(300)]
    lines[7] = b'{"user": "\xff", "item": 1}'
    assert len(read_log(write("events.jsonl", b"\n".join(lines))).users) == 299


def test_one_array_is_no_lines(write: Write) -> None:
    with pytest.raises(Mistake, match="one JSON array"):
        read_log(write("events.json", '[\n{"user": 1, "item": 2}\n]'))
    with pytest.raises(Mistake, match="none of the first lines is a JSON object"):
        read_log(write("events.json", "hello\n"))


def test_items_of_any_kind_of_value(write: Write) -> None:
    items = as_lines(
        {"id": 1, "name": "Tea", "tags": "hot|black", "price": 3.5, "hidden": False, "note": None, "more": {"a": [1]}},
        {"id": "2", "name": "Milk", "tags": ["cold", "cold", ["white"]], "price": None, "description": ["a", "b"]},
        "{'id': 3, 'name': 'Python\\'s'}",
    )
    log = read_log(write("events.csv", "user,item\nann,1\n"), write("items.jsonl", items))
    assert log.items.ids == ["1", "2", "3"]
    assert log.items.fields == [
        {"title": "Tea", "categories": ["hot", "black"], "price": 3.5, "hidden": False, "more": {"a": [1]}},
        {"title": "Milk", "categories": ["cold", "white"], "description": "a b"},
        {"title": "Python's"},
    ]


def test_nothing_is_evaluated(write: Write, tmp_path: Path) -> None:
    path = write("items.json", f"{{'asin': __import__('pathlib').Path({str(tmp_path / 'made')!r}).touch()}}\n")
    assert [row.fields for row in item_list(path).rows] == [None]
    assert not (tmp_path / "made").exists()


def test_items_that_are_not_wanted_are_not_parsed(write: Write) -> None:
    path = write(
        "meta.json", "{'asin': 'A', 'title': broken\n{'asin': 'B', 'title': 'b'}\n{'title': 'c', 'asin': 'C'}\n"
    )
    listed = item_list(path, id_column="asin")
    assert listed.rows_of is not None
    assert [row.fields for row in listed.rows_of({"B"})] == [{"asin": "B", "title": "b"}]
