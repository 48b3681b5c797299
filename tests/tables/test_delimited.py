"""CSV in all its dialects, and the dirt that comes in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import ReadOptions, read_log
from sprintrec.tables.delimited import Layout, item_list

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]
PLAIN = "user_id,item_id,timestamp\nann,007,20\nbob,7,10\nann,7,10\n"
HISTORIES = {"ann": ["7", "007"], "bob": ["7"]}


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " ", "::", "§", "<->"])
def test_any_delimiter(write: Write, told: Told, delimiter: str) -> None:
    path = write("events.csv", PLAIN.replace(",", delimiter))
    given = None if delimiter in ",\t;| " else delimiter
    assert told(read_log(path, options=ReadOptions(delimiter=given))) == HISTORIES


@pytest.mark.parametrize("name", ["events.csv.gz", "events.tsv", "events.txt", "events"])
def test_any_name_and_gzip(write: Write, told: Told, name: str) -> None:
    assert told(read_log(write(name, PLAIN))) == HISTORIES


def test_gzip_is_seen_by_content(write: Write, told: Told) -> None:
    packed = write("events.csv.gz", PLAIN)
    assert told(read_log(packed.rename(packed.with_name("events.csv")))) == HISTORIES


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "\n\n" + text + "\n\n",
        lambda text: text.replace("\nbob", "\n\nbob"),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("ann", '"ann"').replace("item_id", '"item_id"'),
        lambda text: text.replace("ann,", "ann , "),
        lambda text: text.replace("\n", ",\n"),
    ],
    ids=["windows", "bom", "blank-around", "blank-within", "no-last-end", "quoted", "blanks", "trailing-delimiter"],
)
def test_harmless_dirt_changes_nothing(write: Write, told: Told, change: Callable[[str], str]) -> None:
    log = read_log(write("events.csv", change(PLAIN)))
    assert told(log) == HISTORIES
    assert not any("can't be read" in note for note in log.notes)


def test_quoted_fields_hold_delimiters_and_line_ends(write: Write, told: Told) -> None:
    text = 'user,item,review\n"a,b",1,"fine,\nreally"\nc,"say ""x""",\n'
    assert told(read_log(write("events.csv", text))) == {"a,b": ["1"], "c": ['say "x"']}


def test_two_columns_without_header_and_time(write: Write, told: Told) -> None:
    log = read_log(write("pairs.csv", "u1,a1\nu2,a1\nu1,a2\n"))
    assert told(log) == {"u1": ["a1", "a2"], "u2": ["a1"]}
    assert log.events.times is None
    assert any("no header" in note and "1 the user, 2 the item" in note for note in log.notes)
    assert "No time stamps: the order of the rows is the order in time." in log.notes


def test_four_columns_without_header(write: Write, told: Told) -> None:
    log = read_log(write("ratings.csv", "A1,B1,5.0,1400000009\nA1,B2,3.0,1400000001\n"))
    assert told(log) == {"A1": ["B2", "B1"]}
    assert any("3 the rating, 4 the time" in note for note in log.notes)


def test_columns_without_header_are_named_by_number(write: Write, told: Told) -> None:
    path = write("events.csv", "x9,a,u1\nx8,b,u1\n")
    log = read_log(path, options=ReadOptions(header=False, user="3", item="2"))
    assert told(log) == {"u1": ["a", "b"]}


def test_a_row_of_words_may_be_data_or_not(write: Write, told: Told) -> None:
    path = write("events.csv", "alice,tea\nbob,milk\n")
    with pytest.raises(Mistake, match=r"no column for the user: found 'alice', 'tea'; .*--no-header"):
        read_log(path)
    assert told(read_log(path, options=ReadOptions(header=False))) == {"alice": ["tea"], "bob": ["milk"]}


def test_a_missing_column_names_what_was_found_and_what_to_type(write: Write) -> None:
    path = write("events.csv", "usr_id,item_id,when\nann,1,2\n")
    with pytest.raises(
        Mistake, match=r"events.csv has no column for the user: found 'usr_id', 'item_id', 'when'.*--user usr_id"
    ):
        read_log(path)


def test_a_wrong_delimiter(write: Write) -> None:
    path = write("events.csv", PLAIN)
    with pytest.raises(Mistake, match=r"one column only, cut at ';'.*looks as if ',' separates"):
        read_log(path, options=ReadOptions(delimiter=";"))
    with pytest.raises(Mistake, match=r"one column only.*--delimiter"):
        read_log(write("single.csv", "user\nann\nbob\n"))


def test_an_unreadable_row_costs_itself_alone(write: Write, told: Told) -> None:
    rows = [f"u{n % 7},i{n % 5},{n}" for n in range(1, 1000)]
    rows[3] = "u1,,4"
    rows[4] = "u1,i1,5,6,7"
    rows[5] = "u1,i1,yesterday"
    rows[6] = f"{'x' * 200_000},i1,7"
    rows[7] = "u1"
    log = read_log(write("events.csv", "\n".join(["user,item,time", *rows])))
    assert len(log.events.items) == 994
    (note,) = [note for note in log.notes if "can't be read" in note]
    assert note.startswith("5 of 999 rows can't be read and are left out: ")
    for reason in (
        "2 where column 'item' is blank",
        "1 where the row has more fields than the 3 columns",
        "1 where column 'time' is no time stamp",
        "1 where column 'user' is longer than 1000 bytes",
    ):
        assert reason in note


def test_an_unpaired_quotation_mark_costs_its_row(write: Write) -> None:
    rows = [f"u{n % 7},i{n % 5},{n}" for n in range(1, 500)]
    rows[3] = 'u1,"i9,4'
    log = read_log(write("events.csv", "\n".join(["user,item,time", *rows])))
    assert len(log.events.items) == 498
    assert any("the row has a quotation mark that is not closed" in note for note in log.notes)
    assert any("quotation marks do not pair up" in note for note in log.notes)


def test_bytes_that_are_not_utf8(write: Write) -> None:
    rows = [b"u%d,i%d" % (n % 7, n % 5) for n in range(500)]
    rows[3] = b"u\xff,i1"
    log = read_log(write("events.csv", b"\n".join([b"user,item", *rows])))
    assert len(log.events.items) == 499
    assert any("1 where column 'user' isn't UTF-8" in note for note in log.notes)


def test_nameless_and_double_columns(write: Write, told: Told) -> None:
    log = read_log(write("events.csv", ",user,item,user\n0,ann,1,x\n1,ann,2,x\n"))
    assert told(log) == {"ann": ["1", "2"]}


def test_items_go_by_the_header(write: Write) -> None:
    events = write("events.csv", "user,item\nann,01\n")
    items = write("items.csv", '\ufeffitem_id,name,price\r\n01,"Tea, black",3\r\n02,"5"" pipe",4\r\n03,,\r\n')
    log = read_log(events, items)
    assert log.items.ids == ["01", "02", "03"]
    assert log.items.fields == [{"title": "Tea, black", "price": "3"}, {"title": '5" pipe', "price": "4"}, {}]


def test_items_without_header(write: Write) -> None:
    log = read_log(write("events.csv", "user,item\nann,1\n"), write("items.csv", "1,Tea\n2,Milk\n"))
    assert log.items.fields == [{"title": "Tea"}, {"title": "Milk"}]


def test_items_lose_one_line_to_an_unclosed_quotation(write: Write) -> None:
    lines = [f'{n},"Title {n}"' for n in range(1, 200)]
    lines[3] = '4,"Title 4'
    items = write("items.csv", "\n".join(["item,title", *lines]))
    rows = list(item_list(items, Layout(",", ("item", "title"), 1)).rows)
    bad = [row for row in rows if row.fields is None]
    assert [(row.row, row.raw) for row in bad] == [(5, '4,"Title 4')]
    assert len(rows) == 199


def test_items_with_a_line_end_inside_a_title(write: Write) -> None:
    items = write("items.csv", 'item,title\n1,"two\nlines"\n2,one\n')
    rows = [row.fields for row in item_list(items, Layout(",", ("item", "title"), 1)).rows]
    assert rows == [{"item": "1", "title": "two\nlines"}, {"item": "2", "title": "one"}]


def test_an_item_field_of_any_size(write: Write) -> None:
    lines = [f"{n},t" for n in range(200)]
    lines[1] = f"1,{'x' * 2_000_000}"
    log = read_log(write("events.csv", "user,item\nann,0\n"), write("items.csv", "\n".join(["item,title", *lines])))
    assert len(log.items) == 199
    assert any(note.startswith("1 of 200 items can't be read") for note in log.notes)
