"""Parquet: a file, or a folder of files with the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from sprintrec.errors import Mistake
from sprintrec.tables import files
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import FAULT, RAW, ROW, ItemList, ItemRow, Table

MAGIC = b"PAR1"


def holds_events(path: Path) -> bool:
    return any(_parts(path))


holds_items = holds_events


def items_beside(path: Path) -> Path | None:
    return None


def events(path: Path, options: ReadOptions) -> list[Table]:
    return [_table(part, part.name) for part in _opened(path)]


def items(path: Path, options: ReadOptions) -> ItemList:
    return ItemList(path.name, _item_rows(_opened(path)))


def of_frame(frame: pl.LazyFrame, source: str, first_row: int = 1) -> Table:
    """A table of events from a lazy frame whose row numbers are in ROW."""

    def scan(wanted: Sequence[str]) -> pl.LazyFrame:
        raw = pl.struct(wanted).struct.json_encode()
        return frame.select(ROW, *wanted, raw.alias(RAW), pl.lit(None, pl.UInt8).alias(FAULT))

    columns = [name for name in frame.collect_schema().names() if name != ROW]
    return Table(source=source, columns=columns, scan=scan, first_row=first_row)


def item_rows_of(frame: pl.DataFrame, first_row: int = 1) -> Iterator[ItemRow]:
    for row, fields in enumerate(frame.iter_rows(named=True), first_row):
        yield ItemRow(row, ",".join("" if value is None else str(value) for value in fields.values()), fields)


def _parts(path: Path) -> Iterator[Path]:
    """The Parquet files of a path; Spark and others put files of their own, named _ or ., beside them."""
    if path.is_dir():
        yield from (part for part in sorted(path.rglob("*.parquet")) if not part.name.startswith(("_", ".")))
    elif path.is_file():
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                yield path


def _opened(path: Path) -> list[Path]:
    parts = list(_parts(files.existing(path)))
    if not parts:
        raise Mistake(f"{path} is no Parquet file and holds none")
    return parts


def _table(path: Path, source: str) -> Table:
    try:
        return of_frame(pl.scan_parquet(path, row_index_name=ROW, glob=False), source)
    except pl.exceptions.PolarsError as error:
        raise Mistake(f"{path} can't be read as Parquet: {str(error).splitlines()[0]}") from error


def _item_rows(parts: Sequence[Path]) -> Iterator[ItemRow]:
    for part in parts:
        try:
            yield from item_rows_of(pl.read_parquet(part, glob=False))
        except pl.exceptions.PolarsError as error:
            raise Mistake(f"{part} can't be read as Parquet: {str(error).splitlines()[0]}") from error
