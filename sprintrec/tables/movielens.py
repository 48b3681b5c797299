"""MovieLens as published: ``u.data`` with ``u.item``, ``ratings.dat`` or ``ratings.csv`` with ``movies`` alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sprintrec.errors import Mistake
from sprintrec.tables import delimited, files
from sprintrec.tables.delimited import Layout
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, ItemRow, Table

ROLES = {"user": "userId", "item": "movieId", "rating": "rating", "time": "timestamp"}
EVENTS = {
    "u.data": Layout("\t", tuple(ROLES.values()), quoted=False),
    "ratings.dat": Layout("::", tuple(ROLES.values()), quoted=False),
    "ratings.csv": Layout(",", tuple(ROLES.values()), skip_lines=1),
}
GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama"),
    *("Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
MOVIES = ("movieId", "title", "genres")
ITEMS = {
    "u.item": Layout("|", ("movieId", "title", "release_date", "video_date", "address", *GENRES), quoted=False),
    "movies.dat": Layout("::", MOVIES, quoted=False),
    "movies.csv": Layout(",", MOVIES, skip_lines=1),
}
NO_GENRES = "(no genres listed)"


def holds_events(path: Path) -> bool:
    file = _found(path, EVENTS)
    # Any shop may have a ratings.csv; this one names its movies.
    return file is not None and (_name(file) != "ratings.csv" or "movieId" in files.head_lines(file)[0])


def holds_items(path: Path) -> bool:
    file = _found(path, ITEMS)
    return file is not None and (_name(file) != "movies.csv" or "movieId" in files.head_lines(file)[0])


def items_beside(path: Path) -> Path | None:
    beside = dict(zip(EVENTS, ITEMS, strict=True))
    file = _found(path, EVENTS)
    return files.named(file.parent, beside[_name(file)]) if file else None


def events(path: Path, options: ReadOptions) -> list[Table]:
    file = _needed(path, EVENTS)
    return [delimited.table(file, EVENTS[_name(file)], roles=ROLES)]


def items(path: Path, options: ReadOptions) -> ItemList:
    file = _needed(path, ITEMS)
    layout = ITEMS[_name(file)]
    encoding = layout.encoding if files.is_utf8(file) else "latin-1"
    return ItemList(file.name, _item_rows(file, replace(layout, encoding=encoding)), id_column="movieId")


def _name(file: Path) -> str:
    return file.name.removesuffix(".gz")


def _found(path: Path, layouts: Mapping[str, Layout]) -> Path | None:
    if path.is_dir():
        return files.named(path, *layouts)
    return path if path.is_file() and _name(path) in layouts else None


def _needed(path: Path, layouts: Mapping[str, Layout]) -> Path:
    file = _found(files.existing(path), layouts)
    if file is None:
        raise Mistake(f"{path} is none of MovieLens' files ({', '.join(layouts)})")
    return file


def _item_rows(file: Path, layout: Layout) -> Iterator[ItemRow]:
    for row in delimited.item_list(file, layout).rows:
        yield row if row.fields is None else replace(row, fields=_with_genres(row.fields))


def _with_genres(fields: Mapping[str, object]) -> dict[str, object]:
    """Genres as one list, whether the file has them in one field or as a field of 0 or 1 each."""
    flagged = [genre for genre in GENRES if fields.get(genre) == "1"]
    listed = [genre for genre in str(fields.get("genres", "")).split("|") if genre != NO_GENRES]
    others = {name: fields[name] for name in ("movieId", "title", "release_date") if name in fields}
    return {**others, "genres": flagged or listed}
