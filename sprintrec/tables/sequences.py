"""Sequence files: a line per user with all items in time order, and an item list beside it.

sequences.tsv.gz   user, TAB, item ids separated by blanks
items.jsonl.gz     one object per item: "item" and its fields
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sprintrec.tables import files, jsonl
from sprintrec.tables.columns import is_known
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import FAULT, RAW, ROW, ItemList, Table

NAME = "sequences.tsv"
ITEMS = "items.jsonl"
NO_TAB = ("has no tab between the user and the items", "write user, tab, items separated by blanks")


def holds_events(path: Path) -> bool:
    if path.is_dir():
        return files.named(path, NAME) is not None
    name = path.name.removesuffix(".gz")
    return name == NAME or (name.endswith((".tsv", ".txt")) and _looks_so(files.head_lines(path)))


def holds_items(path: Path) -> bool:
    return path.is_dir() and files.named(path, ITEMS) is not None


def items_beside(path: Path) -> Path | None:
    return files.named(path if path.is_dir() else path.parent, ITEMS)


def events(path: Path, options: ReadOptions) -> list[Table]:
    file = (files.named(path, NAME) if path.is_dir() else None) or path

    def scan(wanted: Sequence[str]) -> pl.LazyFrame:
        parts = pl.col("line").str.splitn("\t", 2).struct
        listed = parts.field("field_1").str.extract_all(r"\S+")
        # A list that is empty would vanish, and its user with it; one that is missing becomes a blank item.
        item = pl.when(listed.list.len() > 0).then(listed)
        fault = pl.when(~pl.col("line").str.contains("\t", literal=True)).then(pl.lit(0, pl.UInt8))
        return (
            files.scan_lines(file)
            .select(
                ROW,
                parts.field("field_0").alias("user"),
                item.alias("item"),
                fault.alias(FAULT),
                pl.col("line").alias(RAW),
            )
            .explode("item")
        )

    return [Table(source=file.name, columns=("user", "item"), scan=scan, faults=(NO_TAB,))]


def items(path: Path, options: ReadOptions) -> ItemList:
    return jsonl.item_list(items_beside(path) or path)


def _looks_so(lines: Sequence[str]) -> bool:
    """One tab in every line, no name of a column in the first, and mostly several items behind the tab."""
    pairs = [line.split("\t") for line in lines if line.strip()]
    if any(len(pair) != 2 for pair in pairs) or any(is_known(name) for name in pairs[0]):
        return False
    return sum(len(items.split()) > 1 for _, items in pairs) * 2 > len(pairs)
