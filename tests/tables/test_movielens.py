"""MovieLens in the three forms that it was published in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sprintrec.records import Log
from sprintrec.tables import read_log
from sprintrec.tables.movielens import GENRES

Write = Callable[..., Path]
Told = Callable[[Log], dict[str, list[str]]]
RATINGS = [("1", "31", "2.5", "1260759144"), ("1", "10", "3.0", "1260759100"), ("2", "31", "4.0", "835355493")]
HISTORIES = {"1": ["10", "31"], "2": ["31"]}


def rows(delimiter: str) -> str:
    return "".join(delimiter.join(row) + "\n" for row in RATINGS)


def flags(*genres: str) -> str:
    return "|".join(str(int(genre in genres)) for genre in GENRES)


def test_u_data(write: Write, told: Told) -> None:
    events = write("ml-100k/u.data", rows("\t"))
    lines = [f"10|Léon (1994)|01-Jan-1994||http://x|{flags('Crime', 'Drama')}", f"31|Q|||http://x|{flags()}"]
    write("ml-100k/u.item", "\n".join(lines).encode("latin-1"))
    for path in (events, events.parent):
        log = read_log(path)
        assert told(log) == HISTORIES
        assert log.items.fields == [
            {"title": "Léon (1994)", "release_date": "01-Jan-1994", "categories": ["Crime", "Drama"]},
            {"title": "Q"},
        ]


def test_ratings_dat(write: Write, told: Told) -> None:
    events = write("ml-1m/ratings.dat", rows("::"))
    write("ml-1m/movies.dat", "31::Toy: Story (1995)::Animation|Children's\n10::Léon::Drama\n".encode())
    log = read_log(events.parent)
    assert told(log) == HISTORIES
    assert log.items.ids == ["31", "10"]
    assert log.items.fields[0] == {"title": "Toy: Story (1995)", "categories": ["Animation", "Children's"]}
    assert log.items.fields[1] == {"title": "Léon", "categories": ["Drama"]}


def test_ratings_csv(write: Write, told: Told) -> None:
    events = write("ml-latest/ratings.csv", "userId,movieId,rating,timestamp\n" + rows(","))
    write("ml-latest/movies.csv", 'movieId,title,genres\n10,"Dogma, The",Comedy|Drama\n31,"X",(no genres listed)\n')
    for path in (events, events.parent):
        log = read_log(path)
        assert told(log) == HISTORIES
        assert log.items.fields == [{"title": "Dogma, The", "categories": ["Comedy", "Drama"]}, {"title": "X"}]
        assert any("Events of every rating are kept (2.5 to 4" in note for note in log.notes)


def test_ratings_csv_of_somebody_else(write: Write, told: Told) -> None:
    events = write("ratings.csv", "shopper;user_id;sku\nx;ann;1\n")
    assert told(read_log(events)) == {"ann": ["1"]}
