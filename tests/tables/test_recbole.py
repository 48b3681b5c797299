"""RecBole's atomic files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import read_log

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]
INTER = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n1\t20\t3.0\t8.8E8\n1\t10\t4.0\t870000000.0\n"
ITEM = (
    "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq\tprice:float\n"
    "10\tToy \"Story\t1995\tAnimation Comedy\t3.5\n20\tGold\t\t'Arts, Crafts', 'Sewing'\t\n"
)


def test_events_and_items(write: Write, told: Told) -> None:
    inter = write("ml/ml.inter", INTER)
    write("ml/ml.item", ITEM)
    for path in (inter, inter.parent):
        log = read_log(path)
        assert told(log) == {"1": ["10", "20"]}
        assert log.events.times is not None
        assert log.events.times.tolist() == [870000000, 880000000]
        assert log.items.fields == [
            {"title": 'Toy "Story', "release_year": "1995", "categories": ["Animation", "Comedy"], "price": 3.5},
            {"title": "Gold", "categories": ["Arts, Crafts", "Sewing"]},
        ]


def test_a_log_that_was_split_is_one_log(write: Write, told: Told) -> None:
    header = "user_id:token\titem_id_list:token_seq\titem_id:token\n"
    write("x/x.test.inter", header + "u\ta b\tc\n")
    train = write("x/x.train.inter", header + "u\t\ta\n")
    write("x/x.valid.inter", header + "u\ta\tb\n")
    assert told(read_log(train)) == {"u": ["a", "b", "c"]}
    assert told(read_log(train.parent)) == {"u": ["a", "b", "c"]}


def test_what_is_not_recbole(write: Write) -> None:
    with pytest.raises(Mistake, match="no typed columns such as user_id:token"):
        read_log(write("a.inter", "user,item\n1,2\n"))
    write("b.inter", INTER)
    with pytest.raises(Mistake, match=r"several logs: a.inter, b.inter; name one"):
        read_log(write("c.txt", "").parent)
