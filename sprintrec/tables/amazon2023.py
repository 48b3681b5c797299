"""Amazon reviews of 2023: raw ``X.jsonl.gz``, or the published benchmark files, items in ``meta_X.jsonl.gz``.

The benchmark's last-out files ``X.train.csv``, ``X.valid.csv`` and ``X.test.csv`` are one log cut in three,
with or without a column of each event's history: all three are read, the history is left aside. Items are
told apart by ``parent_asin``: the ``asin`` of a review may be one colour of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sprintrec.tables import delimited, files, jsonl
from sprintrec.tables.delimited import Layout
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import ItemList, Table

ROLES = {"user": "user_id", "item": "parent_asin", "time": "timestamp", "rating": "rating"}
COLUMNS = ("user_id", "parent_asin", "rating", "timestamp", "history")
FIELDS = ("parent_asin", "title", "store", "categories", "price", "features", "description")


def holds_events(path: Path) -> bool:
    if jsonl.holds_events(path):
        return {"user_id", "parent_asin", "timestamp"} <= set(jsonl.first_keys(path))
    return delimited.holds_events(path) and _benchmark_columns(path) is not None


def holds_items(path: Path) -> bool:
    return jsonl.holds_events(path) and {"parent_asin", "main_category"} <= set(jsonl.first_keys(path))


def items_beside(path: Path) -> Path | None:
    return files.named(path.parent, f"meta_{path.name.split('.')[0]}.jsonl")


def events(path: Path, options: ReadOptions) -> list[Table]:
    if jsonl.holds_events(path):
        return [jsonl.table(path, roles=ROLES)]
    tables = []
    for part in files.split_parts(path):
        columns = _benchmark_columns(part) or COLUMNS
        headed = columns[0] in files.head_lines(part)[0]
        layout = Layout(",", columns, skip_lines=int(headed), quoted=False)
        tables.append(delimited.table(part, layout, roles=ROLES))
    return tables


def items(path: Path, options: ReadOptions) -> ItemList:
    return jsonl.item_list(path, tidy=tidy, id_column="parent_asin")


def tidy(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: fields[name] for name in FIELDS if name in fields}


def _benchmark_columns(path: Path) -> tuple[str, ...] | None:
    """The columns of a benchmark file; the first ones published had no header."""
    first = tuple(files.head_lines(path)[0].split(","))
    if "parent_asin" in first:
        return first
    cut = files.PART.fullmatch(path.name) is not None and len(first) in (4, 5)
    return COLUMNS[: len(first)] if cut and first[3].isdigit() else None
