"""JSON lines: one object per line, packed with gzip or not.

Numbers that serve as ids are taken as they are written, whatever their length. Lines that are Python
literals, as in Amazon's lists of items of 2014, are read as such; nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from sprintrec.errors import Mistake
from sprintrec.tables import files
from sprintrec.tables.options import ReadOptions
from sprintrec.tables.table import FAULT, RAW, ROW, ItemList, ItemRow, Scan, Table

SUFFIXES = (".jsonl", ".json", ".ndjson", ".jsonlines")
Tidy = Callable[[Mapping[str, object]], Mapping[str, object]]
LOOKED_AT = 100  # lines of which the keys are taken
NO_OBJECT = ("is no JSON object", "write one JSON object per line, each value in it a text or a number")


def holds_events(path: Path) -> bool:
    return path.is_file() and path.name.removesuffix(".gz").endswith(SUFFIXES)


holds_items = holds_events


def items_beside(path: Path) -> Path | None:
    return None


def events(path: Path, options: ReadOptions) -> list[Table]:
    return [table(path)]


def items(path: Path, options: ReadOptions) -> ItemList:
    return item_list(path)


def table(path: Path, roles: Mapping[str, str] | None = None) -> Table:
    """A table of events; a file of which every line is good is read several times faster."""
    return Table(
        source=path.name,
        columns=_columns(path),
        scan=_scan(path, check=False),
        careful=_scan(path, check=True),
        faults=(NO_OBJECT,),
        roles=roles or {},
    )


def item_list(path: Path, tidy: Tidy = dict, id_column: str | None = None) -> ItemList:
    """A list of items; where the key of their ids is fixed, others than wanted ones need not be parsed."""
    rows_of = partial(_item_rows, path, tidy, id_column) if id_column else None
    return ItemList(path.name, _item_rows(path, tidy), rows_of, id_column)


def first_keys(path: Path) -> list[str]:
    """The keys of the first lines, in order; none where those are no JSON objects."""
    rows = [_json_object(line) for line in files.head_lines(path)[:LOOKED_AT]]
    return list(dict.fromkeys(name for row in rows for name in row or ()))


def parsed(line: str) -> dict[str, object] | None:
    """The object of a line, in JSON or as a Python literal; None where it is neither."""
    value = _json_object(line)
    if value is None and line.lstrip().startswith("{"):
        try:
            value = ast.literal_eval(line.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _json_object(line: str) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _columns(path: Path) -> list[str]:
    if files.head(path).lstrip().startswith(b"["):
        raise Mistake(f"{path} is one JSON array: write its objects one per line, without brackets and commas")
    names = first_keys(path)
    if not names:
        raise Mistake(f"{path}: none of the first lines is a JSON object")
    return names


def _scan(path: Path, check: bool) -> Scan:
    def scan(wanted: Sequence[str]) -> pl.LazyFrame:
        line = pl.col("line")
        good = _is_object(line, wanted) if check else pl.lit(True)
        kind = pl.Struct(dict.fromkeys(wanted, pl.String))
        # Decoding ends at the first bad line, so bad ones are blanked before.
        decoded = pl.when(good).then(line).str.json_decode(kind).alias("object")
        fault = pl.when(~good).then(pl.lit(0, pl.UInt8)).alias(FAULT)
        return files.scan_lines(path).select(ROW, decoded, line.alias(RAW), fault).unnest("object")

    return scan


def _is_object(line: pl.Expr, wanted: Sequence[str]) -> pl.Expr:
    """Whether a line is a JSON object whose wanted values are neither objects nor arrays."""
    good = line.str.json_path_match("$").str.starts_with("{").fill_null(False)
    for name in wanted:
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        nested = line.str.json_path_match(f"$['{quoted}']").str.contains(r"^[{\[]")
        good = good & ~nested.fill_null(False)
    return good


def _item_rows(
    path: Path, tidy: Tidy, id_column: str | None = None, wanted: Container[str] | None = None
) -> Iterator[ItemRow]:
    # A Python literal takes 0.2 ms to parse, and of a list of all products a log may use a twentieth.
    shown = re.compile(rf"""["']{re.escape(id_column)}["']: ?["']([^"']+)["']""") if id_column else None
    for row, line in files.lines(path):
        found = shown.search(line) if shown else None
        if not line.strip() or (found and wanted is not None and found.group(1) not in wanted):
            continue
        fields = parsed(line)
        if fields is None:
            yield ItemRow(row, line, None, f"the row {NO_OBJECT[0]}")
        else:
            yield ItemRow(row, line, tidy(fields))
