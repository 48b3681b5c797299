"""Lists of recommended items, one per user: read in any format that a log may have, written as a table.

A file of lists is a log whose order is the rank: lines "user, TAB, items best first", or a table of user and
item whose rows are ordered by a column ``rank`` or, without one, by their place in the file.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from sprintrec.errors import Mistake
from sprintrec.records import Log
from sprintrec.tables.columns import plain
from sprintrec.tables.formats import format_called, format_of_events
from sprintrec.tables.options import NO_COLUMN, ReadOptions
from sprintrec.tables.reading import read_files

COLUMNS = ("user_id", "item_id", "score", "rank")
WRITTEN = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet")


def read_lists(path: Path, options: ReadOptions | None = None) -> Log:
    """The lists as a log: every user's items, best first."""
    options = options or ReadOptions()
    columns = format_called(format_of_events(path)).events(path, options)[0].columns
    rank = next((column for column in columns if plain(column) == "rank"), NO_COLUMN)
    # Ranks are read as times are: small whole numbers by which a user's events are ordered.
    return read_files(path, None, replace(options, time=rank)).log


def write_lists(path: Path, blocks: Iterable[Mapping[str, Any]]) -> None:
    """Write blocks of the four columns, whole or not at all, in the format that the file's name says."""
    suffix = next((one for one in WRITTEN if path.name.endswith(one)), None)
    if suffix is None:
        raise Mistake(f"{path}: lists are written as {', '.join(WRITTEN)}: choose one of these endings")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    frames = (pl.DataFrame({name: block[name] for name in COLUMNS}) for block in blocks)
    try:
        if suffix == ".parquet":
            pl.concat(frames).write_parquet(draft)
        else:
            with draft.open("wb") as file, _packed(file) if suffix.endswith(".gz") else file as text:
                text.writelines(_lines(frames, suffix.removesuffix(".gz")))
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _packed(file: IO[bytes]) -> IO[bytes]:
    """Without name and time in the header, so that the same lists are the same bytes."""
    return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=file, mtime=0))


def _lines(frames: Iterable[pl.DataFrame], suffix: str) -> Iterator[bytes]:
    """Frame after frame as text, under one header."""
    for place, frame in enumerate(frames):
        text = frame.write_ndjson() if suffix == ".jsonl" else frame.write_csv(include_header=place == 0)
        yield text.encode()
